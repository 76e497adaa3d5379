#include "tallskinny/solvers/setup/hermitian_check.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Shares of a difference that rounding explains.
struct Allowance {
  double of_rows;  ///< of sqrt(r_i r_j)
  double of_long;  ///< of the longer row, or of the largest entry
};

Allowance allowance_of(DType type) {
  const int digits = digits_of(type);
  if (digits < 16) return {std::ldexp(1.0, 2 - digits), std::ldexp(1.0, 2 - digits)};  // half of so few are none
  return {std::ldexp(1.0, -(digits / 2)), std::ldexp(1.0, 3 - digits)};
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

template <class T>
[[noreturn]] void refuse(const std::string& where, index_t i, index_t j, T here, T partner, const char* advice) {
  const char* kind = is_complex<T> ? "Hermitian" : "symmetric";
  if (i == j)
    throw Error(Errc::bad_input, where + " is not " + kind + ": the diagonal entry (" + std::to_string(i) + ", " +
                                     std::to_string(i) + "), counted from 0, is " + entry_text(here) + advice);
  throw Error(Errc::bad_input, where + " is not " + kind + ": entry (" + std::to_string(i) + ", " + std::to_string(j) +
                                   ") is " + entry_text(here) + " but entry (" + std::to_string(j) + ", " +
                                   std::to_string(i) + ") is " + entry_text(partner) + " (counted from 0)" + advice);
}

/// Null where it is not stored.
template <class T>
const T* entry(const AnyView<T>& a, index_t i, index_t j) {
  const CsrView<T>* s = a.sparse();
  if (s == nullptr) return &a.dense()(i, j);
  const auto *begin = s->indices + s->pointers[i], *end = s->indices + s->pointers[i + 1];
  const auto* found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? s->values + (found - s->indices) : nullptr;
}

template <class T, class Use>
void each_entry(const AnyView<T>& a, const Use& use) {
  std::visit([&](const auto& kind) { for_each_entry(kind, use); }, static_cast<const typename AnyView<T>::variant&>(a));
}

template <class T>
bool is_finite(T x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

/// True if entries are finite and equal to their mirror images. One pass: as rows go by in their order, images of
/// entries above the diagonal are met row by row in theirs, so that one place for each row takes the part of a search
/// for each entry. Each of them has an image below the diagonal of its own, so equal numbers of both leave none alone.
/// False for what is stored in another order, too.
template <class T>
bool is_exactly_hermitian(const Context& ctx, const CsrView<T>& a) {
  constexpr index_t entries_of_a_place = 4;  // which each thread makes for every row
  const index_t worth = a.nonzeros() / (entries_of_a_place * std::max<index_t>(a.rows, 1));
  const auto threads = static_cast<int>(std::clamp<index_t>(worth, 1, ctx.thread_count()));
  std::atomic<bool> exact = true;
  // How many more entries these rows have above the diagonal than below.
  const auto compare = [&](index_t first, index_t last) {
    std::vector<index_t> next(at(a.rows));
    for (index_t j = first; j < a.rows; ++j) {
      const auto *begin = a.indices + a.pointers[j], *end = a.indices + a.pointers[j + 1];
      next[at(j)] = a.pointers[j] + (first == 0 ? 0 : std::lower_bound(begin, end, first) - begin);
    }
    index_t more_above = 0;
    for (index_t i = first; i < last && exact; ++i)
      for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) {
        const auto j = static_cast<index_t>(a.indices[e]);
        more_above += j > i ? 1 : j < i ? -1 : 0;
        if (j < i) continue;
        const index_t image = j == i ? e : next[at(j)]++;
        if (image >= a.pointers[j + 1] || a.indices[image] != i || a.values[image] != conjugate(a.values[e]) ||
            !is_finite(a.values[e]))
          exact = false;
      }
    return more_above;
  };
  return parallel_reduce(threads, a.rows, index_t{0}, compare, std::plus<>()) == 0 && exact;
}

template <class T>
bool is_exactly_hermitian(const Context& ctx, HostView<const T> a) {
  constexpr index_t side = 64;  // of tiles, which caches hold with their mirror images
  const index_t tiles = (a.rows() + side - 1) / side;
  std::atomic<bool> exact = true;
  parallel_pieces(ctx.thread_count(), tiles, [&](index_t row, int) {
    for (index_t column = row; column < tiles && exact; ++column)
      for (index_t i = row * side; i < std::min((row + 1) * side, a.rows()); ++i)
        for (index_t j = std::max(i, column * side); j < std::min((column + 1) * side, a.rows()); ++j)
          if (a(i, j) != conjugate(a(j, i)) || !is_finite(a(i, j))) exact = false;
  });
  return exact;
}

/// The largest entry of each row of the whole as a power of two, for 2 bytes a row are few on every rank.
class Magnitudes {
 public:
  template <class T>
  Magnitudes(const Context& ctx, const AnyView<T>& rows) {
    std::vector<double> longest(at(rows.rows()));
    each_entry(rows, [&](index_t i, index_t, T x) { longest[at(i)] = std::max(longest[at(i)], std::abs(x)); });
    std::vector<std::int16_t> here;
    here.reserve(longest.size());
    for (const double x : longest) {
      here.push_back(static_cast<std::int16_t>(x > 0 ? std::ilogb(x) + 1 : zero));
      largest_ = std::max(largest_, x);
    }
    exponents_ = gather_lists<std::int16_t>(ctx, here);
    largest_ = max_of_ranks(ctx, largest_);
  }
  [[nodiscard]] double largest() const { return largest_; }
  /// share * sqrt(r_i r_j), and share of the longer of both rows; r_i itself may overflow.
  [[nodiscard]] double of_mean(double share, index_t i, index_t j) const {
    return 2 * share * std::exp2(0.5 * (exponents_[at(i)] + exponents_[at(j)]) - 1);
  }
  [[nodiscard]] double of_longer(double share, index_t i, index_t j) const {
    return std::ldexp(share, std::max(exponents_[at(i)], exponents_[at(j)]));
  }

 private:
  static constexpr int zero = -4096;  // below all numbers
  std::vector<std::int16_t> exponents_;
  double largest_ = 0;
};

/// A triangle alone is no rounding.
template <class T>
void refuse_triangle(const Context& ctx, const std::string& where, const AnyView<T>& rows, index_t first,
                     const char* advice) {
  bool below = false, above = false;
  each_entry(rows, [&](index_t i, index_t j, T x) {
    below = below || (j < first + i && x != T{});
    above = above || (j > first + i && x != T{});
  });
  below = any_rank(ctx, below), above = any_rank(ctx, above);
  if (below == above) return;
  throw Error(Errc::bad_input, where + " has nothing " + (below ? "above" : "below") +
                                   " its diagonal: of a symmetric matrix store both halves, or declare it "
                                   "symmetric, as Matrix Market and Binsparse can" +
                                   advice);
}

/// All ranks look at the rows that they have, and throw alike: of several entries the first is named.
/// @param partner partner(i, j): where the entry is that row i has in column j of the transposed; null: nowhere
template <class T, class Partner>
SkewPart measured(const Context& ctx, const std::string& where, DType type, const AnyView<T>& rows,
                  HermitianRules rules, const Partner& partner) {
  const index_t first = first_row(ctx);
  agreed(ctx, [&] { expect_finite(where, rows, first); });
  if (!rules.take_any) refuse_triangle(ctx, where, rows, first, rules.of_triangle);
  const Magnitudes magnitudes(ctx, rows);
  const Allowance allowance = allowance_of(type);
  const bool dense = rows.sparse() == nullptr;
  const double largest = magnitudes.largest();
  double difference = 0;
  std::array<double, 1> squares{};
  bool one_sided = false;
  const auto fold = [&] {
    each_entry(rows, [&](index_t i, index_t j, T x) {
      if (dense && j < first + i) return;  // was seen from the other side
      const T* const other = partner(i, j);
      const T image = other != nullptr ? *other : T{};
      if (other == nullptr) one_sided = true;
      const double d = std::abs(x - conjugate(image));
      if (d == 0) return;
      const index_t row = first + i;
      const bool near = d <= allowance.of_rows * std::min(std::abs(x), std::abs(image));  // rows allow no less
      if (!rules.take_any && !near && d > magnitudes.of_mean(allowance.of_rows, row, j) &&
          d > (dense ? allowance.of_long * largest : magnitudes.of_longer(allowance.of_long, row, j)))
        refuse(where, row, j, x, image, rules.of_entries);
      const bool for_both = row != j && (dense || other == nullptr);
      difference = std::max(difference, d);
      squares[0] += (for_both ? 2 : 1) * std::pow(d / largest, 2);
    });
  };
  agreed(ctx, fold);
  if (max_of_ranks(ctx, difference) > 0) {
    squares[0] = 0;
    in_turn(ctx, squares, fold);  // the sum has the bits of one rank
  }
  difference = max_of_ranks(ctx, difference);
  return {difference > 0 ? difference / largest : 0, largest / 2 * std::sqrt(squares[0]), any_rank(ctx, one_sided)};
}

}  // namespace

template <class T>
SkewPart skew_part(const Context& ctx, const std::string& name, DType type, const AnyView<T>& a, HermitianRules rules) {
  const CsrView<T>* const sparse = a.sparse();
  if (sparse != nullptr ? is_exactly_hermitian(ctx, *sparse) : is_exactly_hermitian(ctx, a.dense())) return {};
  return measured<T>(alone(ctx), name, type, a, rules, [&a](index_t i, index_t j) { return entry<T>(a, j, i); });
}

template <class T>
SkewPart skew_part_of_rows(const Context& ctx, const std::string& name, DType type, const AnyView<T>& rows,
                           const AnyView<T>& partners, HermitianRules rules) {
  return measured<T>(ctx, name, type, rows, rules,
                     [&partners](index_t i, index_t j) { return entry<T>(partners, i, j); });
}

template <class T>
void expect_finite(const std::string& name, const AnyView<T>& a, index_t first) {
  each_entry(a, [&](index_t i, index_t j, T x) {
    if (is_finite(x)) return;
    const bool is_nan = std::isnan(std::real(x)) || std::isnan(std::imag(x));
    throw Error(Errc::bad_input, name + " has " + (is_nan ? "NaN" : "Inf") + " at row " + std::to_string(first + i) +
                                     ", column " + std::to_string(j) + " (counted from 0)");
  });
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, skew_part)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, skew_part_of_rows)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, expect_finite)

}  // namespace ts::inline v0::solvers
