// How heads of rows are kept on a device. Read by the run-time compiler, too.
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0 {

/// float16; or integers of 8 bits with a scale for each row and centroid.
enum class HeadNumbers { float16, int8 };

/// What plans choose.
struct HeadsForm {
  index_t columns = 0;  ///< along as many axes; 0: none
  HeadNumbers numbers = HeadNumbers::float16;
  int from = 2;  ///< passes over all centroids before them

  [[nodiscard]] constexpr index_t bytes() const noexcept { return columns * (numbers == HeadNumbers::int8 ? 1 : 2); }
};

}  // namespace ts::inline v0
