#include "tallskinny/app/generators/features.hpp"

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::generators {

namespace {

using solvers::Random;

/// Uses of the random numbers of one seed; each has its own stream.
enum Stream : std::uint64_t { centers_stream, labels_stream, values_stream };

std::uint64_t counter(index_t i) { return static_cast<std::uint64_t>(i); }

std::int32_t pick(index_t row, index_t groups, std::uint64_t seed) {
  if (row < groups) return static_cast<std::int32_t>(row);
  return static_cast<std::int32_t>(Random(seed, labels_stream).below(counter(groups), counter(row)));
}

void check_groups(index_t groups) {
  expects(groups >= 1, "a feature set needs at least one group");
  expects(groups <= INT32_MAX, "a feature set may have at most 2^31 - 1 groups");
}

}  // namespace

Blobs::Blobs(index_t rows, index_t cols, index_t k, double spread, double box, double offset, std::uint64_t seed)
    : rows_(rows), spread_(spread), seed_(seed), centers_(k, cols) {
  expects(rows >= 0, "a feature set has a negative number of rows");
  check_groups(k);
  const Random random(seed, centers_stream);
  for (index_t c = 0; c < k; ++c)
    for (index_t j = 0; j < cols; ++j) centers_(c, j) = offset + box * (2 * random.uniform(counter(c * cols + j)) - 1);
}

std::int32_t Blobs::label(index_t row) const { return pick(row, centers_.rows(), seed_); }

std::vector<std::int32_t> Blobs::labels() const {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows_));
  for (index_t i = 0; i < rows_; ++i) labels[static_cast<std::size_t>(i)] = label(i);
  return labels;
}

template <class T>
void Blobs::fill(index_t first_row, HostView<T> out) const {
  expects(out.cols() == cols(), "the view to fill and the blobs differ in columns");
  const Random random(seed_, values_stream);
  const index_t pairs = (cols() + 1) / 2;  // normals come in twos
  for (index_t i = 0; i < out.rows(); ++i) {
    const index_t row = first_row + i, center = label(row);
    for (index_t p = 0; p < pairs; ++p) {
      const auto normals = random.normal2(counter(row * pairs + p));
      for (index_t j = 2 * p; j < std::min(2 * p + 2, cols()); ++j)
        out(i, j) = narrowed<T>(centers_(center, j) + spread_ * normals[static_cast<std::size_t>(j - 2 * p)]);
    }
  }
}

template <class T>
void fill_uniform(index_t first_row, std::uint64_t seed, HostView<T> out) {
  const Random random(seed, values_stream);
  for (index_t i = 0; i < out.rows(); ++i)
    for (index_t j = 0; j < out.cols(); ++j)
      out(i, j) = narrowed<T>(random.uniform(counter((first_row + i) * out.cols() + j)));
}

std::int32_t duplicate_label(index_t row, index_t distinct, std::uint64_t seed) {
  check_groups(distinct);
  return pick(row, distinct, seed);
}

template <class T>
void fill_duplicates(index_t first_row, index_t distinct, std::uint64_t seed, HostView<T> out) {
  for (index_t i = 0; i < out.rows(); ++i)
    fill_uniform<T>(duplicate_label(first_row + i, distinct, seed), seed, out.rows(i, 1));
}

template <class T>
Matrix<T> blobs(const Blobs& set) {
  Matrix<T> values(set.rows(), set.cols());
  set.fill<T>(0, values.view());
  return values;
}

template <class T>
Matrix<T> uniform(index_t rows, index_t cols, std::uint64_t seed) {
  Matrix<T> values(rows, cols);
  fill_uniform<T>(0, seed, values.view());
  return values;
}

template <class T>
Matrix<T> duplicates(index_t rows, index_t cols, index_t distinct, std::uint64_t seed) {
  Matrix<T> values(rows, cols);
  fill_duplicates<T>(0, distinct, seed, values.view());
  return values;
}

#define TS_INSTANTIATE(T)                                                         \
  template void Blobs::fill<T>(index_t, HostView<T>) const;                       \
  template void fill_uniform<T>(index_t, std::uint64_t, HostView<T>);             \
  template void fill_duplicates<T>(index_t, index_t, std::uint64_t, HostView<T>); \
  template Matrix<T> blobs<T>(const Blobs&);                                      \
  template Matrix<T> uniform<T>(index_t, index_t, std::uint64_t);                 \
  template Matrix<T> duplicates<T>(index_t, index_t, index_t, std::uint64_t);
TS_FOR_EACH_REAL_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::generators
