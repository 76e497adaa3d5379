// Eigenvalues known in closed form, without an n-sized table where the matrix is a Kronecker sum.
#pragma once

#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::generators {

/// A multiset of real numbers: all sums that take one number from each of a few lists. One list is any
/// spectrum; several are that of a Kronecker sum A (x) I + I (x) B + ...
class Spectrum {
 public:
  /// The numbers of one list.
  explicit Spectrum(std::vector<double> values);
  /// The Kronecker sum of several spectra.
  static Spectrum sum(std::vector<std::vector<double>> lists);

  [[nodiscard]] index_t count() const noexcept { return count_; }

  // Each of these returns its numbers in ascending order, repeated as often as they occur; k is cut to
  // count().

  [[nodiscard]] std::vector<double> smallest(index_t k) const;
  [[nodiscard]] std::vector<double> largest(index_t k) const;
  [[nodiscard]] std::vector<double> largest_magnitude(index_t k) const;
  /// The k nearest to `sigma`; of two at the same distance the smaller one. Needs memory for all.
  [[nodiscard]] std::vector<double> nearest(double sigma, index_t k) const;
  [[nodiscard]] std::vector<double> all() const;

 private:
  Spectrum() = default;

  std::vector<std::vector<double>> lists_;  // each ascending
  index_t count_ = 0;
};

}  // namespace ts::generators
