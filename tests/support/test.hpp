// The only file that includes Catch2, so that 2.13 and 3.x both serve.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as 2.13 has it
#else
#include <catch2/catch.hpp>
#endif
