// What the copy engine is told of a matrix, as a kernel's argument.
#pragma once

namespace ts::inline v0::cuda {

/// CUtensorMap, as cuda.h calls it: made by tensor_map_of.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

}  // namespace ts::inline v0::cuda
