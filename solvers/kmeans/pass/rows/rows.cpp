#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0 {

namespace {

template <class Use>
auto with_type(DType type, const void* values, Use&& use) {
  return by_real_type(type, [&]<class T>(std::type_identity<T>) { return use(static_cast<const T*>(values)); });
}

}  // namespace

void Rows::load_entries(index_t i, double* out) const noexcept {
  with_type(type_, values_, [&](const auto* x) {
    const index_t count = entries(i);
    if (sparse()) {
      x += pointers_[i];
      for (index_t p = 0; p < count; ++p) out[p] = to_wide(x[p]);
    } else {
      x += i * row_stride_;
      for (index_t j = 0; j < count; ++j) out[j] = to_wide(x[j * col_stride_]);
    }
    if (scale_ != nullptr)
      for (index_t j = 0; j < count; ++j) out[j] *= scale_[i];
  });
}

void Rows::load(index_t i, double* out) const {
  if (on_device()) {
    const auto size = at(size_of(type_));
    std::vector<char> fetched(at(cols_) * size);
    if (cols_ == 0) return;
    const char* from = static_cast<const char*>(values_) + i * row_stride_ * static_cast<index_t>(size);
    cuda::copy_lines(stream_, fetched.data(), size, from, at(col_stride_) * size, size, at(cols_));
    double scale = 1;
    if (scale_ != nullptr) cuda::copy_bytes(stream_, &scale, scale_ + i, sizeof scale);
    stream_.synchronize();
    Rows row = *this;
    row.values_ = fetched.data(), row.rows_ = 1, row.row_stride_ = cols_, row.col_stride_ = 1;
    row.stream_ = {}, row.scale_ = scale_ == nullptr ? nullptr : &scale;
    return row.load_entries(0, out);
  }
  if (!sparse()) return load_entries(i, out);
  std::fill_n(out, cols_, 0.0);
  with_type(type_, values_, [&](const auto* x) {
    const double s = scale(i);
    for (index_t p = pointers_[i]; p < pointers_[i + 1]; ++p) out[indices_[p]] = to_wide(x[p]) * s;
  });
}

std::pair<index_t, index_t> Rows::first_not_finite(index_t row_begin, index_t row_end) const noexcept {
  return with_type(type_, values_, [&](const auto* x) -> std::pair<index_t, index_t> {
    for (index_t i = row_begin; i < row_end; ++i)
      for (index_t j = 0; j < entries(i); ++j) {
        const double value = to_wide(sparse() ? x[pointers_[i] + j] : x[i * row_stride_ + j * col_stride_]);
        if (!std::isfinite(value)) return {i, sparse() ? indices_[pointers_[i] + j] : j};
      }
    return {-1, -1};
  });
}

}  // namespace ts::inline v0

namespace ts::inline v0::cuda {

RowsForm rows_form(const Rows& x) {
  const auto size = static_cast<std::uint64_t>(size_of(x.type()));
  const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(x.values())) |
                    static_cast<std::uint64_t>(x.row_stride()) * size | 16;
  const bool plain = x.col_stride() == 1 && !x.has_scale(), packed = x.row_stride() == x.cols();
  return {x.type(), x.rows(), x.cols(), plain, 1 << std::countr_zero(bits), packed};
}

}  // namespace ts::inline v0::cuda
