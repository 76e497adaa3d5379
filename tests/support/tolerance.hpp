// Every tolerance of the tests comes from the unit roundoff, here.
#pragma once

#include <cmath>
#include <limits>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::test {

template <class T>
inline constexpr double eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());

/// Bound of |computed - exact| for an inner product of `terms` products whose absolute values sum to
/// `magnitude` (Higham, Accuracy and Stability of Numerical Algorithms, eq. 3.5); twice that for complex
/// products.
template <class T>
double product_bound(double terms, double magnitude) {
  return (is_complex<T> ? 2.0 : 1.0) * (terms + 2) * eps<T> * magnitude;
}

/// Bound of the relative error of a squared distance of rows of d columns in a sum of at most a chunk of them.
template <class T>
double distance_bound(index_t d) {
  return 8 * static_cast<double>(d + 8) * eps<T>;
}

/// Errors allowed in results of float64 where no closer bound is known: absolute for numbers about 1, else relative.
/// From the least to the most.
namespace allowed {

inline constexpr long double twofold = 1e-17L;  ///< sums in two float64 numbers, of which the second is rounded

// Rounding alone.
inline constexpr double last_place = 1e-15;   ///< a few operations
inline constexpr double short_sum = 1e-14;    ///< tens of terms; columns after one pass of a stable method
inline constexpr double long_sum = 1e-13;     ///< hundreds of terms; the basis of a whole run
inline constexpr double many_steps = 1e-12;   ///< thousands of terms; a factorisation, a run that ends exactly
inline constexpr double conditioned = 1e-11;  ///< the same where the condition is about ten

// Runs that end at a tolerance: eigenvalues, singular values, residuals.
inline constexpr double tight_run = 1e-10;       ///< to a tolerance of 1e-10 or less
inline constexpr double fine_run = 1e-9;         ///< to one of 1e-9
inline constexpr double default_run = 1e-8;      ///< to the default, where the norm is about 1
inline constexpr double run_of_norm_10 = 1e-7;   ///< the same where it is at most 10,
inline constexpr double run_of_norm_100 = 1e-6;  ///< and at most 100
inline constexpr double single = 1e-5;           ///< of float32

// Numbers that are known, or printed, to so many digits.
inline constexpr double ten_digits = 1e-10, nine_digits = 1e-9, seven_digits = 1e-7, six_digits = 1e-6;
inline constexpr double five_digits = 1e-5, four_digits = 1e-4, three_digits = 1e-3, two_digits = 1e-2;

// Clusterings that need not be the best one.
inline constexpr double other_optimum = 0.02;  ///< inertia of one local optimum and of another
inline constexpr double sample = 0.05;         ///< inertia of points drawn at random, and its mean
inline constexpr double worse_seeding = 1.25;  ///< times the inertia that another seeding ends at
inline constexpr double half = 0.5;            ///< of a number that is only aimed at

}  // namespace allowed

/// Bounds of |Re| and |Im| of the error of a complex inner product of `terms` float64 products by three real
/// ones (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 23.2.4). `apart` is
/// the sum of |Re a||Re b| + |Im a||Im b|, `together` that of (|Re a| + |Im a|)(|Re b| + |Im b|): the
/// imaginary part is the difference of numbers that may be larger than it and all of its terms.
struct BoundOfParts {
  double re, im;
};
inline BoundOfParts three_products_bound(double terms, double apart, double together) {
  const double unit = eps<double> / 2;
  return {(terms + 1) * unit * apart, (terms + 4) * unit * (together + apart)};
}

}  // namespace ts::test
