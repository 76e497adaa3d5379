// Long copies between ordinary host memory and a device.
#pragma once

#include <cstddef>

#include "tallskinny/gemm/runtime/gpu/stream.hpp"

namespace ts::inline v0::cuda {

/// `bytes` bytes, complete on return. They pass through two pieces of page-locked memory (stream.staging()),
/// one of which travels while threads fill or empty the other: the driver's own way through such memory takes
/// one thread. A rehearsal moves nothing.
void upload(const Stream& stream, void* there, const void* here, std::size_t bytes);
void download(const Stream& stream, void* here, const void* there, std::size_t bytes);

}  // namespace ts::inline v0::cuda
