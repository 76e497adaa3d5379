#include "tallskinny/solvers/setup/scale.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::inline v0::solvers {

double scaled(double x, int exponent) { return std::ldexp(x, exponent); }
EigenOptions scaled(const EigenOptions& options, int exponent) {
  EigenOptions out = options;
  if (out.convergence == Convergence::abs) out.tol = std::ldexp(out.tol, exponent);
  return out;
}
std::complex<double> scaled(std::complex<double> x, int exponent) {
  return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
}

namespace {

/// Squares, their sums over rows and the margins of tolerances stay far from 2^-1022 and 2^1023, or in
/// float32 from 2^-126 and 2^127, within this.
constexpr int ordinary_exponent = 300, ordinary_in_float32 = 30;

/// max(|re|, |im|): the modulus itself may overflow.
double largest_part(double x) { return std::abs(x); }
double largest_part(std::complex<double> x) { return std::max(std::abs(x.real()), std::abs(x.imag())); }

bool is_finite(double x) { return std::isfinite(x); }
bool is_finite(std::complex<double> z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

/// The numbers times 2^exponent.
template <class Numbers>
void scale_numbers(Numbers& numbers, int exponent, const std::string& where) {
  for (auto& x : numbers) {
    const bool finite = is_finite(x);
    x = scaled(x, exponent);
    if (finite && !is_finite(x))
      throw Error(Errc::out_of_range, where +
                                          " has eigenvalues or singular values larger than 1.8e308, the largest "
                                          "number of float64: divide its entries by a power of two");
  }
}

}  // namespace

template <class T>
int extreme_exponent(const Context& ctx, const AnyView<T>& matrix, bool in_float32) {
  // A sparse matrix is one row of entries after the other.
  const CsrView<T>* s = matrix.sparse();
  const auto entries = s != nullptr ? HostView<const T>(s->values, s->nonzeros(), 1) : matrix.dense();
  const double largest = parallel_reduce(
      default_threads(), entries.rows(), 0.0,
      [&](index_t first, index_t last) {
        double mine = 0;
        for (index_t i = first; i < last; ++i)
          for (index_t j = 0; j < entries.cols(); ++j) mine = std::max(mine, largest_part(entries(i, j)));
        return mine;
      },
      [](double a, double b) { return std::max(a, b); });
  int exponent = 0;
  std::frexp(max_of_ranks(ctx, largest), &exponent);
  return std::abs(exponent) > (in_float32 ? ordinary_in_float32 : ordinary_exponent) ? exponent : 0;
}

template <class T>
void scale(AnyMatrix<T>& matrix, int exponent) {
  for (T& x : entries_of(matrix)) x = scaled(x, exponent);
}

template <class T>
void scale_result(EigenResult<T>& result, int exponent, const std::string& where) {
  for (auto* numbers : {&result.values, &result.residual_norms, &result.error_bounds, &result.value_roundings})
    scale_numbers(*numbers, exponent, where);
  for (double* x : {&result.norm, &result.next_value, &result.gap}) *x = scaled(*x, exponent);
  for (auto* shift : {&result.shift, &result.high_shift})
    if (*shift) **shift = scaled(**shift, exponent);
}

void scale_result(GeneralResult& result, int exponent, const std::string& where) {
  scale_numbers(result.values, exponent, where);
  scale_numbers(result.residual_norms, exponent, where);
  result.next_value = scaled(result.next_value, exponent);
  result.norm = scaled(result.norm, exponent);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, extreme_exponent)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, scale)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, scale_result)

}  // namespace ts::inline v0::solvers
