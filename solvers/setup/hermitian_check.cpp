#include "tallskinny/solvers/setup/hermitian_check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// What rounding may have done to a pair of entries that should be mirror images: a few units of the type in
/// which they were stored, relative to themselves or to the largest entry of the matrix.
struct Allowance {
  double relative = 0, absolute = 0;
};

Allowance allowance_of(DType type, double largest) {
  const bool single = type != DType::float64 && type != DType::complex128;
  const double eps = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  return {64 * eps, 4 * eps * largest};
}

std::string digits(double value) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

/// With all digits: entries that differ must look different.
template <class T>
std::string entry_text(T x) {
  if constexpr (is_complex<T>) {
    const std::string imaginary = digits(x.imag());
    return digits(x.real()) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "i";
  } else {
    return digits(x);
  }
}

/// Compares entry (i, j) with its partner; returns whether they differ at all.
template <class T>
bool compare(const std::string& where, index_t i, index_t j, T here, T partner, Allowance allowance,
             const char* advice) {
  const double difference = std::abs(here - conjugate(partner));
  if (difference <= allowance.relative * std::max(std::abs(here), std::abs(partner)) + allowance.absolute)
    return difference != 0;
  const char* kind = is_complex<T> ? "Hermitian" : "symmetric";
  if (i == j)
    throw Error(Errc::bad_input, where + " is not " + kind + ": the diagonal entry (" + std::to_string(i) + ", " +
                                     std::to_string(i) + "), counted from 0, is " + entry_text(here));
  throw Error(Errc::bad_input, where + " is not " + kind + ": entry (" + std::to_string(i) + ", " + std::to_string(j) +
                                   ") is " + entry_text(here) + " but entry (" + std::to_string(j) + ", " +
                                   std::to_string(i) + ") is " + entry_text(partner) + " (counted from 0)" + advice);
}

template <class T>
T entry(const AnyView<T>& a, index_t i, index_t j) {
  const CsrView<T>* s = a.sparse();
  if (s == nullptr) return a.dense()(i, j);
  const auto *begin = s->indices + s->pointers[i], *end = s->indices + s->pointers[i + 1];
  const auto* found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? s->values[found - s->indices] : T{};
}

template <class T, class Use>
void each_entry(const AnyView<T>& a, const Use& use) {
  std::visit([&](const auto& kind) { for_each_entry(kind, use); }, static_cast<const typename AnyView<T>::variant&>(a));
}

/// All ranks look at the rows that they have, and throw alike: of several entries the first is told.
/// @param partner partner(i, j): the conjugate of what row i of these must have in column j of the whole.
template <class T, class Partner>
bool differs_from_hermitian(const Context& ctx, const std::string& where, DType type, const AnyView<T>& rows,
                            HermitianAdvice advice, const Partner& partner) {
  const index_t first = first_row(ctx);
  double largest = 0;
  bool below = false, above = false;
  each_entry(rows, [&](index_t i, index_t j, T x) {
    largest = std::max(largest, std::abs(x));
    below = below || (j < first + i && x != T{});
    above = above || (j > first + i && x != T{});
  });
  below = any_rank(ctx, below), above = any_rank(ctx, above);
  if (below != above)
    throw Error(Errc::bad_input, where + " has nothing " + (below ? "above" : "below") +
                                     " its diagonal: of a symmetric matrix store both halves, or declare it "
                                     "symmetric, as Matrix Market and Binsparse can" +
                                     advice.of_triangle);
  const Allowance allowance = allowance_of(type, max_of_ranks(ctx, largest));
  bool differs = false;
  agreed(ctx, [&] {
    each_entry(rows, [&](index_t i, index_t j, T x) {
      if (rows.sparse() == nullptr && j < first + i) return;  // was seen from the other side
      differs = compare(where, first + i, j, x, partner(i, j), allowance, advice.of_entries) || differs;
    });
  });
  return any_rank(ctx, differs);
}

}  // namespace

template <class T>
bool check_hermitian(const Context& ctx, const std::string& name, DType type, const AnyView<T>& a,
                     HermitianAdvice advice) {
  return differs_from_hermitian<T>(alone(ctx), name, type, a, advice,
                                   [&a](index_t i, index_t j) { return entry<T>(a, j, i); });
}

template <class T>
bool check_hermitian_rows(const Context& ctx, const std::string& name, DType type, const AnyView<T>& rows,
                          const AnyView<T>& partners, HermitianAdvice advice) {
  return differs_from_hermitian<T>(ctx, name, type, rows, advice,
                                   [&partners](index_t i, index_t j) { return entry<T>(partners, i, j); });
}

#define TS_INSTANTIATE(T)                                                                                          \
  template bool check_hermitian<T>(const Context&, const std::string&, DType, const AnyView<T>&, HermitianAdvice); \
  template bool check_hermitian_rows<T>(const Context&, const std::string&, DType, const AnyView<T>&,              \
                                        const AnyView<T>&, HermitianAdvice);
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
