// A measured result is checked before it is timed.
#pragma once

#include "tallskinny/app/tsbench/operands.hpp"

namespace ts::bench {

/// Up to `count` of n rows: all, or the first, the last and others anywhere.
[[nodiscard]] std::vector<index_t> sampled_rows_of(index_t n, index_t count);

/// The largest error of sampled entries of the result in `o` (just computed) against long double, relative to
/// the a-priori bound of the operation (Higham 2002, eq. 3.5: terms x eps x sum of |terms|): at most 1 when
/// right. `before` are the sampled rows of `out` as they were, for operations in place.
template <class T>
class Check {
 public:
  explicit Check(const Operands<T>& o);  ///< remembers what an operation in place is going to overwrite
  /// `sums`: also of what is summed over all rows.
  [[nodiscard]] double worst_error(bool sums = true) const;

 private:
  const Operands<T>& o_;
  std::vector<index_t> rows_;
  std::vector<result_t<T>> before_;
};

}  // namespace ts::bench
