// The tests of k-means once more on a GPU: compiled with TS_TEST_ON_DEVICE, every run is repeated there and
// compared with that in host memory.
#pragma once

#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/tests/support/device.hpp"

namespace ts::test {

/// Dense rows, as they lie, in the device's memory.
class RowsThere {
 public:
  RowsThere(const cuda::Stream& stream, const Rows& x)
      : stream_(stream), memory_(stream, static_cast<std::size_t>(elements(x)) * size_of(x.type())), rows_(view_of(x)) {
    cuda::copy_bytes(stream, memory_.data(), x.values(), memory_.bytes());
    stream.synchronize();
  }
  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }

 private:
  static index_t elements(const Rows& x) {
    return (x.rows() - 1) * x.row_stride() + (x.cols() - 1) * x.col_stride() + 1;
  }
  template <class T>
  [[nodiscard]] Rows as(const Rows& x) const {
    const auto* const data = static_cast<const T*>(memory_.data());
    if (x.col_stride() == 1) return {stream_, DeviceView<const T>::unchecked(data, x.rows(), x.cols(), x.row_stride())};
    return {stream_, DeviceView<const T, Layout::col_major>::unchecked(data, x.rows(), x.cols(), x.col_stride())};
  }
  [[nodiscard]] Rows view_of(const Rows& x) const {
    switch (x.type()) {
      case DType::float64: return as<double>(x);
      case DType::float32: return as<float>(x);
      case DType::float16: return as<float16>(x);
      default: return as<bfloat16>(x);
    }
  }

  cuda::Stream stream_;
  cuda::Memory memory_;
  Rows rows_;
};

/// Checks for equal bits of all but labels, after equal numbers of steps.
inline void expect_same_clusters(const solvers::KMeansResult& a, const solvers::KMeansResult& b) {
  REQUIRE(a.centers.rows() == b.centers.rows());
  CHECK(std::equal(a.centers.data(), a.centers.data() + a.centers.rows() * a.centers.cols(), b.centers.data()));
  CHECK(a.inertia == b.inertia);
  CHECK(a.n_iter == b.n_iter);
  CHECK(a.stop == b.stop);
  CHECK(a.sizes == b.sizes);
  CHECK(a.relocated == b.relocated);
  CHECK(a.run == b.run);
  CHECK(a.notes == b.notes);
}

inline void expect_same(const solvers::KMeansPrediction& a, const solvers::KMeansPrediction& b) {
  CHECK(a.labels == b.labels);
  CHECK(a.inertia == b.inertia);
  CHECK(a.sizes == b.sizes);
  CHECK(a.zero_rows == b.zero_rows);
}

/// Checks for equal bits, after equal numbers of steps.
inline void expect_same(const solvers::KMeansResult& a, const solvers::KMeansResult& b) {
  CHECK(a.labels == b.labels);
  expect_same_clusters(a, b);
}

/// solvers::kmeans, and on a device the same labels, centres and steps from the same first centres; from
/// first centres that are found there, labels of nearest centres. Gives way to solvers::kmeans where both are in sight.
template <class...>
solvers::KMeansResult kmeans(const Context& ctx, const Rows& rows, const solvers::KMeansOptions& o) {
  solvers::KMeansResult here = solvers::kmeans(ctx, rows, o);
#ifdef TS_TEST_ON_DEVICE
  const bool there_too = !rows.sparse() && rows.rows() * rows.cols() > 0 &&
                         o.algorithm != solvers::KMeansAlgorithm::balanced && !o.on_progress && !o.on_state &&
                         o.resume == nullptr;
  if (!there_too) return here;
  Context with_device = ctx;
  with_device.stream = device_stream();
  const RowsThere points(with_device.stream, rows);
  const solvers::KMeansResult there = solvers::kmeans(with_device, points.rows(), o);
  CHECK(solvers::verify(with_device, points.rows(), there.centers.cview(), there.labels, o.metric) == 0);
  CHECK(there.distinct == here.distinct);
  if (o.init != solvers::KMeansInit::given && o.init != solvers::KMeansInit::random) return here;
  expect_same(there, here);
#endif
  return here;
}

/// Rows in memory that pretend to come from elsewhere, a few chunks at a time.
class InBlocks final : public solvers::RowSource {
 public:
  explicit InBlocks(const Rows& rows, index_t chunks = 1) : rows_(rows), size_(chunks * chunk_rows) {}
  [[nodiscard]] index_t rows() const override { return rows_.rows(); }
  [[nodiscard]] index_t cols() const override { return rows_.cols(); }
  [[nodiscard]] DType type() const override { return rows_.type(); }
  [[nodiscard]] Space space() const override { return rows_.space(); }
  [[nodiscard]] bool in_memory() const override { return false; }
  void for_each_block(const Use& use) const override {
    ++passes;
    for (index_t i = 0; i < rows(); i += size_) use(i, rows_.block(i, std::min(size_, rows() - i)));
  }
  void load(index_t i, double* row) const override { rows_.load(i, row); }
  mutable int passes = 0;

 private:
  Rows rows_;
  index_t size_;
};

}  // namespace ts::test
