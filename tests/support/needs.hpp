// Needs of tests on the machine, as tags of that name. cmake/TsTest.cmake lets ctest run such tests where test_needs
// finds what they need, and report how many it left out elsewhere: no test is skipped in silence.
#pragma once

#include <string>
#include <string_view>

#include "tallskinny/gemm/comm/nccl_communicator.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::test {

/// cuda: a build with the CUDA backend; nvrtc: NVIDIA's run-time compiler; gpu: a GPU; large_gpu: one of 40
/// GiB; gpus: two GPUs and NCCL. Beside these needs.cpp knows results: the folder of tests/bench/results.
inline constexpr std::string_view needs[] = {"cuda", "nvrtc", "gpu", "large_gpu", "gpus"};

/// Why a need is not met here; empty where it is.
inline std::string obstacle_to(std::string_view need) {
  if (need == "cuda") return cuda::built() ? "" : "this build is without the CUDA backend";
  if (need == "nvrtc") return cuda::why_no_compiler();
  const cuda::DeviceList list = cuda::list_devices();
  if (list.devices.empty()) return list.reason;
  if (need == "large_gpu")
    return list.devices[0].memory_bytes < std::uint64_t{40} << 30 ? "the GPU has less than 40 GiB" : "";
  if (need != "gpus") return {};
  if (list.devices.size() < 2) return "there is one GPU, and NCCL wants one for each rank";
  try {
    (void)new_nccl_id();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace ts::test
