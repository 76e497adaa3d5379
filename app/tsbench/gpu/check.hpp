// A result on the device is checked before it is timed: samples of it come to the host.
#pragma once

#include "tallskinny/app/tsbench/gpu/pool.hpp"

namespace ts::bench {

/// The largest error of sampled entries of the result in `o` (just computed from operands as GpuPool makes
/// them), relative to its a-priori bound: at most 1 when right. Rows of tall results are computed again in
/// long double; entries of sums over all rows are compared with sums in twice float64's precision on the
/// device.
template <class T>
[[nodiscard]] double worst_error(const Context& ctx, const DeviceOperands<T>& o);

/// A number that tells two results apart.
template <class T>
[[nodiscard]] std::uint64_t result_hash(const Context& ctx, const DeviceOperands<T>& o);

}  // namespace ts::bench
