#include "tallskinny/app/tsbench/check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tallskinny/app/tsbench/error_bound.hpp"
#include "tallskinny/app/tsbench/values.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/gemm/runtime/processors.hpp"

namespace ts::bench {

namespace {

constexpr index_t sampled_entries = 8, sampled_rows = 100;

/// sum_k conj(a(k, i)) b(k, j) for some (i, j), against c. All entries in one pass over the rows.
template <class A, class B, class R>
double worst_inner(index_t n, const A* a, index_t p, const B* b, index_t q, const R* c) {
  const index_t count = std::min(sampled_entries, p * q);
  constexpr index_t pieces = 64;
  std::vector<Sum> sums(static_cast<std::size_t>(pieces * count));
  const auto row_of = [&](index_t e) { return (e * 5 + e / 3) % p; };
  const auto column_of = [&](index_t e) { return (e * 3 + 1) % q; };
  parallel_pieces(default_threads(), pieces, [&](index_t piece, int) {
    for (index_t k = n * piece / pieces; k < n * (piece + 1) / pieces; ++k)
      for (index_t e = 0; e < count; ++e)
        sums[static_cast<std::size_t>(piece * count + e)].add(wide(a[k * p + row_of(e)]).conjugate() *
                                                              wide(b[k * q + column_of(e)]));
  });
  double worst = 0;
  for (index_t e = 0; e < count; ++e) {
    Sum total;
    for (index_t piece = 0; piece < pieces; ++piece) {
      const Sum& s = sums[static_cast<std::size_t>(piece * count + e)];
      total.value = total.value + s.value;
      total.magnitude += s.magnitude;
      total.terms += s.terms;
    }
    worst = std::max(worst, relative_error<R>(wide(c[row_of(e) * q + column_of(e)]), total));
  }
  return worst;
}

}  // namespace

std::vector<index_t> sampled_rows_of(index_t n, index_t count) {
  std::vector<index_t> rows;
  for (index_t s = 0; s < std::min(count, n); ++s)
    rows.push_back(n <= count ? s
                   : s == 0   ? 0
                   : s == 1   ? n - 1
                              : static_cast<index_t>((uniform_at(static_cast<std::uint64_t>(s)) + 1) / 2 *
                                                   static_cast<double>(n)));
  return rows;
}

template <class T>
Check<T>::Check(const Operands<T>& o) : o_(o) {
  const Problem& p = o.problem;
  const bool project = p.operation == Operation::project_out;
  const index_t width = project ? p.q : p.p;
  rows_ = sampled_rows_of(p.n, sampled_rows);
  if (project || p.operation == Operation::tsmm_in_place || p.operation == Operation::trsm)
    for (const index_t i : rows_) before_.insert(before_.end(), o.out + i * width, o.out + (i + 1) * width);
}

template <class T>
double Check<T>::worst_error(bool sums) const {
  using R = result_t<T>;
  const Problem& pr = o_.problem;
  const index_t n = pr.n, p = pr.p, q = pr.q;
  double worst = 0;
  /// Each sampled row of out against term(row, its place among the samples, column, sum).
  const auto rows = [&](index_t width, index_t ld, auto&& sum_of) {
    for (std::size_t s = 0; s < rows_.size(); ++s)
      for (index_t j = 0; j < width; ++j) {
        Sum sum;
        sum_of(rows_[s],
               before_.data() + static_cast<index_t>(before_.empty() ? 0 : s) *
                                    (pr.operation == Operation::project_out ? q : p),
               j, sum);
        worst = std::max(worst, relative_error<R>(wide(o_.out[rows_[s] * ld + j]), sum));
      }
  };
  switch (pr.operation) {
    case Operation::tsmttsm:
      return worst_inner(n, o_.x, p, o_.y, q, o_.result);
    case Operation::gram:
      return worst_inner(n, o_.x, p, o_.x, p, o_.result);
    case Operation::inner_and_gram:
      return std::max(worst_inner(n, o_.x, p, o_.y, q, o_.result), worst_inner(n, o_.y, q, o_.y, q, o_.gram));
    case Operation::project_out:
      rows(q, q, [&](index_t i, const R* old, index_t j, Sum& sum) {
        sum.add(wide(old[j]));
        for (index_t k = 0; k < p; ++k) sum.add(Wide{} - wide(o_.x[i * p + k]) * wide(o_.small[k * q + j]));
      });
      if (!sums) return worst;
      return std::max({worst, worst_inner(n, o_.x, p, o_.out, q, o_.result),
                       worst_inner(n, o_.out, q, o_.out, q, o_.gram)});
    case Operation::tsmm:
      rows(q, q, [&](index_t i, const R*, index_t j, Sum& sum) {
        for (index_t k = 0; k < p; ++k) sum.add(wide(o_.x[i * p + k]) * wide(o_.small[k * q + j]));
      });
      return worst;
    case Operation::tsmm_in_place:
      rows(q, p, [&](index_t, const R* old, index_t j, Sum& sum) {
        for (index_t k = 0; k < p; ++k) sum.add(wide(old[k]) * wide(o_.small[k * q + j]));
      });
      return worst;
    case Operation::tsm2r:
      rows(q, q, [&](index_t i, const R*, index_t j, Sum& sum) {
        for (index_t k = 0; k < p; ++k) sum.add(wide(o_.x[i * p + k]) * wide(o_.y[k * q + j]));
      });
      return worst;
    case Operation::spmm:
      rows(q, q, [&](index_t i, const R*, index_t j, Sum& sum) {
        for (index_t e = o_.sparse.pointers[i]; e < o_.sparse.pointers[i + 1]; ++e)
          sum.add(wide(o_.sparse.values[e]) * wide(o_.x[o_.sparse.indices[e] * q + j]));
      });
      return worst;
    case Operation::trsm:  // the residual old - x R, bounded by the terms of x R
      for (std::size_t s = 0; s < rows_.size(); ++s)
        for (index_t j = 0; j < p; ++j) {
          Sum sum;
          for (index_t k = 0; k <= j; ++k)
            sum.add(wide(o_.out[rows_[s] * p + k]) * wide(o_.small[k * p + j]));
          worst = std::max(
              worst, relative_error<R>(
                         wide(before_[s * static_cast<std::size_t>(p) + static_cast<std::size_t>(j)]), sum));
        }
      return worst;
    case Operation::column_norms:
      for (index_t j = 0; j < std::min(p, sampled_entries); ++j) {
        const auto sum = parallel_reduce(
            default_threads(), n, 0.0L,
            [&](index_t first, index_t last) {
              long double mine = 0;
              for (index_t k = first; k < last; ++k) {
                const Wide v = wide(o_.x[k * p + j]);
                mine += v.re * v.re + v.im * v.im;
              }
              return mine;
            },
            std::plus<>{});
        Sum norm;
        norm.add({std::sqrt(sum), 0});
        norm.terms = is_complex<T> || std::is_same_v<T, double> ? static_cast<long double>(n) : 1;
        worst =
            std::max(worst, relative_error<R>({static_cast<long double>(std::real(o_.result[j])), 0}, norm));
      }
      return worst;
  }
  return HUGE_VAL;
}

#define TS_INSTANTIATE(T) template class Check<T>;
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
