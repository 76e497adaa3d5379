// The operands of one case in device memory.
#pragma once

#include "tallskinny/app/tsbench/operands.hpp"
#include "tallskinny/gemm/backend/cuda/device_csr.hpp"

namespace ts::bench {

/// A tall operand on the device repeats, 2^fold times, the rows of its part on the host: what the whole must
/// give follows from the part exactly, and the part can be checked in long double.
template <class T>
struct GpuOperands {
  using R = result_t<T>;
  Operands<T> part;               ///< on the host, n / 2^fold rows
  int fold = 0;                   ///< even
  std::vector<Operands<T>> sets;  ///< on the device, n rows; several where one would stay in the L2 cache
  CsrView<T, Space::device> sparse;
};

/// Memory for all cases of one type, on the host and on the device.
template <class T>
class GpuPool {
 public:
  using R = result_t<T>;
  /// Room for `bytes` in each tall operand on the device, at least `host_bytes` on the host, and for widths
  /// up to `width`.
  GpuPool(const cuda::Stream& stream, std::int64_t bytes, std::int64_t host_bytes, index_t width);

  /// The operands of a case whose row count is rounded down to a multiple of 2^fold.
  [[nodiscard]] GpuOperands<T> operands(Problem problem);
  /// What an operation in place overwrote, in every set.
  void refill(const GpuOperands<T>& o);
  /// The results of set 0 into o.part, as that part alone would have given them.
  void download(const GpuOperands<T>& o);
  /// The bits of what set 0 holds as result: small results whole, tall ones their first and last rows.
  [[nodiscard]] std::vector<unsigned char> result_bits(const GpuOperands<T>& o);
  /// Whether the last rows of a tall result equal those 2^fold - 1 parts before.
  [[nodiscard]] bool repeats(const GpuOperands<T>& o);

  [[nodiscard]] const cuda::Memory& source() const noexcept { return x_; }
  [[nodiscard]] const cuda::Memory& target() const noexcept { return out_; }

 private:
  [[nodiscard]] index_t out_width(const Problem& problem) const noexcept;
  void spread(void* to, const void* part, std::size_t part_bytes, int fold);

  const cuda::Stream& stream_;
  std::int64_t bytes_;
  Pool<T> host_;
  cuda::Memory x_, y_, out_, small_, result_, gram_;
  DeviceCsrMatrix<T> sparse_;
};

}  // namespace ts::bench
