// The host's side of what kernels/assign_*.cuh declare, and device memory cut into parts.
#pragma once

#include <cstring>
#include <vector>

#include "tallskinny/gemm/assign/rows.hpp"
#include "tallskinny/gemm/backend/cuda/device_matrix.hpp"

namespace ts::assign_device {

struct RowsArgument {
  const void* data;
  index_t count, row_stride, column_stride;
  const double* scale;

  explicit RowsArgument(const Rows& x)
      : data(x.values()),
        count(x.rows()),
        row_stride(x.row_stride()),
        column_stride(x.col_stride()),
        scale(x.scales()) {}
};

struct SelectionArgument {
  const index_t* list = nullptr;
  const std::uint64_t* listed = nullptr;
};

struct CentroidsArgument {
  const double* columns;
  const float* half_norms;
  std::int32_t count, padded, cols;
  double shrink, factor;
};

struct SumsArgument {
  std::uint64_t *upper = nullptr, *lower = nullptr;
  std::uint64_t *weight_upper = nullptr, *weight_lower = nullptr, *counts = nullptr;
  const double *to_units = nullptr, *shift = nullptr, *weights = nullptr;
  double one = 0, weight_to_units = 0;
};

/// Parts of the stream's workspace, one after the other: first all sizes, then the memory.
class Workspace {
 public:
  /// Where the next part of `count` numbers begins, as an offset.
  template <class T>
  std::size_t reserve(index_t count) {
    const std::size_t at = bytes_;
    bytes_ = (bytes_ + static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return at;
  }
  void get(const cuda::Stream& stream) { memory_ = static_cast<char*>(stream.workspace(bytes_)); }
  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(memory_ + offset);
  }

 private:
  std::size_t bytes_ = 0;
  char* memory_ = nullptr;
};

/// Numbers that are sent to the device in one copy; must live until the stream has been synchronised.
class Parcel {
 public:
  void add(HostView<const double> m) {
    numbers_.reserve(numbers_.size() + static_cast<std::size_t>(m.rows() * m.cols()));
    for (index_t i = 0; i < m.rows(); ++i) add({m.data() + i * m.ld(), static_cast<std::size_t>(m.cols())});
  }
  void add(std::span<const double> v) { numbers_.insert(numbers_.end(), v.begin(), v.end()); }
  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(numbers_.size()); }
  void send(const cuda::Stream& stream, double* to) const {
    cuda::copy_bytes(stream, to, numbers_.data(), numbers_.size() * sizeof(double));
  }

 private:
  std::vector<double> numbers_;
};

}  // namespace ts::assign_device
