#include "tallskinny/app/tsdata/scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/hermitian.hpp"

namespace ts::tsdata {

namespace {

template <class T>
double ordered(T x) {
  if constexpr (is_complex<T>)
    return std::isfinite(x.real()) && std::isfinite(x.imag()) ? static_cast<double>(std::abs(x))
                                                              : std::numeric_limits<double>::quiet_NaN();
  else
    return to_wide(x);
}

class Range {
 public:
  template <class T>
  void add_row(const T* values, index_t count) {
    bool empty = true;
    scan_.entries += count;
    for (index_t j = 0; j < count; ++j) {
      const double x = ordered(values[j]), magnitude = std::fabs(x);
      if (!std::isfinite(x)) {
        ++scan_.not_finite;
        empty = false;
        continue;
      }
      low_ = std::min(low_, x);
      high_ = std::max(high_, x);
      if (x == 0)
        ++scan_.zeros;
      else
        least_ = std::min(least_, magnitude), empty = false;
    }
    if (empty) ++scan_.empty_rows;
  }
  void add_empty_rows(index_t count) { scan_.empty_rows += count; }
  [[nodiscard]] Scan result(io::Structure actual) const {
    Scan scan = scan_;
    if (low_ <= high_) scan.smallest = low_, scan.largest = high_;
    if (std::isfinite(least_)) scan.smallest_magnitude = least_;
    scan.actual = actual;
    return scan;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  double low_ = infinity, high_ = -infinity, least_ = infinity;
  Scan scan_;
};

template <class View>
io::Structure actual_structure(const View& a, index_t rows, index_t cols) {
  if (rows == cols)
    for (const auto structure : {io::Structure::symmetric, io::Structure::hermitian, io::Structure::skew_symmetric})
      if (!io::first_asymmetry(a, structure)) return structure;
  return io::Structure::general;
}

}  // namespace

Scan scan(const io::SparseMatrix& matrix) {
  return std::visit(
      [](const auto& a) {
        Range range;
        for (index_t i = 0; i < a.rows; ++i) {
          const index_t begin = a.pointers[static_cast<std::size_t>(i)];
          range.add_row(a.values.data() + begin, a.pointers[static_cast<std::size_t>(i) + 1] - begin);
        }
        return range.result(actual_structure(a.view(), a.rows, a.cols));
      },
      matrix);
}

Scan scan(const io::DenseMatrix& matrix) {
  return std::visit(
      [](const auto& a) {
        Range range;
        if (a.cols() == 0 && a.rows() > 0) {  // nothing to look at, however many rows
          range.add_empty_rows(a.rows());
          return range.result(io::Structure::general);
        }
        for (index_t i = 0; i < a.rows(); ++i) range.add_row(a.data() + i * a.cols(), a.cols());
        return range.result(actual_structure(a.cview(), a.rows(), a.cols()));
      },
      matrix);
}

}  // namespace ts::tsdata
