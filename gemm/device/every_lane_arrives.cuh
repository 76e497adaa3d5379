// For racecheck (pipeline.cuh): TALLSKINNY_NVRTC_OPTIONS=--pre-include=tallskinny/gemm/device/every_lane_arrives.cuh
#pragma once

struct EveryLaneArrives {};
