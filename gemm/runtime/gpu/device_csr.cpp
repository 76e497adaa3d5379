#include <algorithm>

#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"

namespace ts::cuda {

std::vector<LongRowPart> long_row_parts(const index_t* pointers, index_t rows) {
  std::vector<LongRowPart> parts;
  int ticket = 0;
  for (index_t i = 0; i < rows; ++i) {
    const index_t begin = pointers[i], end = pointers[i + 1];
    if (end - begin <= longest_short_row) continue;
    const index_t count = (end - begin + long_row_part - 1) / long_row_part;
    for (index_t p = 0; p < count; ++p)
      parts.push_back({i, begin + p * long_row_part, std::min(end, begin + (p + 1) * long_row_part),
                       static_cast<int>(p), static_cast<int>(count), ticket});
    ++ticket;
  }
  return parts;
}

}  // namespace ts::cuda
