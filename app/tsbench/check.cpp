#include "tallskinny/app/tsbench/check.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tallskinny/app/tsbench/gpu/device.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::bench {

namespace {

template <Space S>
constexpr std::size_t compared_entries = S == Space::host ? 8 : 32;
constexpr index_t compared_rows = 96,
                  compared_long_rows = 12;  ///< long: with a term for each column of a matrix

template <class T>
Wide wide(T x) {
  if constexpr (is_complex<T>)
    return {x.real(), x.imag()};
  else if constexpr (std::is_same_v<T, result_t<T>>)
    return {x, 0};
  else
    return {to_float(x), 0};
}

/// Relative to terms x eps x sum of |terms| (Higham 2002, eq. 3.5): at most 1 when right.
template <class R>
double relative_error(Wide computed, const Sum& want) {
  const auto eps = static_cast<long double>(std::numeric_limits<real_t<R>>::epsilon());
  const long double bound = (is_complex<R> ? 4 : 2) * (want.terms + 2) * eps * want.magnitude;
  const long double error = (computed - want.value).size();
  if (!(error <= std::numeric_limits<long double>::max())) return HUGE_VAL;
  return static_cast<double>(bound > 0 ? error / bound : (error > 0 ? HUGE_VALL : 0));
}

/// A place in [0, count) that `key` alone decides.
index_t place_by(std::uint64_t key, index_t count) {
  return static_cast<index_t>((uniform_at(key) + 1) / 2 * static_cast<double>(count));
}

/// The s-th of some places in [0, count): the first, the last, then any.
index_t sampled(std::size_t s, std::uint64_t key, index_t count) {
  return s == 0 ? 0 : s == 1 ? count - 1 : place_by(key, count);
}

/// Up to `count` of n rows.
std::vector<index_t> sampled_rows(index_t n, index_t count) {
  std::vector<index_t> rows;
  for (index_t s = 0; s < std::min(count, n); ++s)
    rows.push_back(n <= count ? s : sampled(static_cast<std::size_t>(s), static_cast<std::uint64_t>(s), n));
  return rows;
}

/// Entries of a p x q result.
std::vector<std::array<index_t, 2>> sampled_entries(index_t p, index_t q, bool diagonal, std::size_t count) {
  std::vector<std::array<index_t, 2>> entries;
  for (std::size_t e = 0; e < std::min(count, static_cast<std::size_t>(diagonal ? p : p * q)); ++e) {
    const index_t i = sampled(e, 2 * e, p);
    entries.push_back({i, diagonal ? i : sampled(e, 2 * e + 1, q)});
  }
  return entries;
}

/// Entries of A^H B against `c`; of column norms, which are the roots of a diagonal.
template <class T, Space S>
double worst_inner(const Context& ctx, Strided<const T, S> a, Strided<const T, S> b, Strided<const result_t<T>, S> c,
                   bool norms = false) {
  using R = result_t<T>;
  const auto entries = sampled_entries(a.cols, b.cols, norms, compared_entries<S>);
  const std::vector<Sum> sums = inner_sums<T>(ctx, a, b, entries);
  std::vector<index_t> rows(static_cast<std::size_t>(c.rows));
  std::iota(rows.begin(), rows.end(), index_t{});
  std::vector<R> computed(rows.size() * static_cast<std::size_t>(c.cols));
  gather<R>(ctx, computed, c, rows);
  double worst = 0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    Sum want = sums[e];
    Wide found;
    if (norms) {  // reals, packed; sums of float32 squares are taken in float64
      const long double norm = std::sqrt(want.value.re);
      want = {{norm, 0}, norm, std::is_same_v<real_t<T>, double> ? want.terms : 1};
      found = wide(R(reinterpret_cast<const real_t<T>*>(computed.data())[entries[e][0]]));
    } else {
      found = wide(computed[static_cast<std::size_t>(entries[e][0] * c.cols + entries[e][1])]);
    }
    worst = std::max(worst, relative_error<R>(found, want));
  }
  return worst;
}

template <class T>
void append_row(std::vector<T>& to, std::uint64_t first, index_t row, index_t width) {
  for (index_t j = 0; j < width; ++j) to.push_back(value_at<T>(first + static_cast<std::uint64_t>(row * width + j)));
}

/// The sampled rows of a case, with what they are computed from, as they were before.
template <class T>
struct Sample {
  using R = result_t<T>;
  Problem problem;
  std::vector<T> x, y;     ///< of a sparse product, x has the rows that the matrix meets, one after the other
  std::vector<R> old;      ///< rows of an operation in place
  std::vector<T> entries;  ///< of the sparse matrix
  std::vector<std::size_t> row_ends = {0};
  Matrix<R> small;

  template <Space S>
  Sample(const Operands<T, S>& o, const std::vector<index_t>& rows) : problem(o.problem) {
    const Problem& p = problem;
    const bool sparse = p.operation == Operation::spmm, large = p.operation == Operation::tsm2r;
    if (!sparse && !large) small = Matrix<R>(std::max(p.p, p.q), std::max(p.p, p.q)), fill_small(small, p);
    for (index_t k = 0; large && k < p.p; ++k) append_row(y, first_key.y, k, p.q);
    for (const index_t i : rows) {
      append_row(old, first_key.out, i, out_width(p));
      if (sparse)
        add_sparse_row(o.pattern, i);
      else
        append_row(x, first_key.x, i, p.p);
    }
  }

  /// Entry (s, j) of the result, and of a solve what X R must be.
  [[nodiscard]] Sum expected(index_t s, index_t j, const R* computed) const {
    const index_t p = problem.p, q = problem.q;
    Sum sum;
    const auto products = [&](index_t terms, auto&& left, auto&& right) {
      for (index_t k = 0; k < terms; ++k) sum.add(wide(left[k]) * wide(right[k * q + j]));
    };
    switch (problem.operation) {
      case Operation::project_out:
        sum.add(wide(old[static_cast<std::size_t>(s * q + j)]));
        for (index_t k = 0; k < p; ++k)
          sum.add(Wide{} - wide(x[static_cast<std::size_t>(s * p + k)]) * wide(small.data()[k * q + j]));
        break;
      case Operation::tsmm_in_place: products(p, old.data() + s * p, small.data()); break;
      case Operation::tsm2r: products(p, x.data() + s * p, y.data()); break;
      case Operation::spmm:
        for (std::size_t e = row_ends[static_cast<std::size_t>(s)]; e < row_ends[static_cast<std::size_t>(s) + 1]; ++e)
          sum.add(wide(entries[e]) * wide(x[e * static_cast<std::size_t>(q) + static_cast<std::size_t>(j)]));
        break;
      case Operation::trsm:
        for (index_t k = 0; k <= j; ++k) sum.add(wide(computed[s * p + k]) * wide(small.data()[k * p + j]));
        break;
      default: products(p, x.data() + s * p, small.data());
    }
    return sum;
  }

 private:
  void add_sparse_row(const SparsePattern& pattern, index_t i) {
    auto entry = static_cast<std::uint64_t>(pattern.first_entry(i));
    pattern.row(i, [&](index_t column) {
      entries.push_back(value_at<T>(++entry));
      append_row(x, first_key.x, column, problem.q);
    });
    row_ends.push_back(entries.size());
  }
};

template <class T, Space S>
double worst_row(const Context& ctx, const Operands<T, S>& o) {
  using R = result_t<T>;
  const bool is_long = o.problem.operation == Operation::tsm2r, solves = o.problem.operation == Operation::trsm;
  const auto rows = sampled_rows(o.problem.n, is_long ? compared_long_rows : compared_rows);
  const Sample<T> sample(o, rows);
  const index_t width = out_width(o.problem);
  std::vector<R> computed(rows.size() * static_cast<std::size_t>(width));
  gather<R>(ctx, computed, o.out, rows);
  double worst = 0;
  // Only the first q columns of a product in place are results.
  const index_t columns = o.problem.operation == Operation::tsmm_in_place ? o.problem.q : width;
  for (index_t s = 0; s < static_cast<index_t>(rows.size()); ++s)
    for (index_t j = 0; j < columns; ++j) {
      const Sum want = sample.expected(s, j, computed.data());
      const R& found = (solves ? sample.old : computed)[static_cast<std::size_t>(s * width + j)];
      worst = std::max(worst, relative_error<R>(wide(found), want));
    }
  return worst;
}

}  // namespace

template <class T, Space S>
double worst_error(const Context& ctx, const Operands<T, S>& o) {
  switch (o.problem.operation) {
    case Operation::tsmttsm: return worst_inner<T, S>(ctx, o.x, o.y, o.result);
    case Operation::gram: return worst_inner<T, S>(ctx, o.x, o.x, o.result);
    case Operation::column_norms: return worst_inner<T, S>(ctx, o.x, o.x, o.result, true);
    case Operation::inner_and_gram:
      return std::max(worst_inner<T, S>(ctx, o.x, o.y, o.result), worst_inner<T, S>(ctx, o.y, o.y, o.gram));
    case Operation::project_out:
      if constexpr (std::is_same_v<T, result_t<T>>)
        return std::max({worst_row(ctx, o), worst_inner<T, S>(ctx, o.x, o.out, o.result),
                         worst_inner<T, S>(ctx, o.out, o.out, o.gram)});
      return HUGE_VAL;
    default: return worst_row(ctx, o);
  }
}

template <class T>
std::vector<Sum> inner_sums(const Context& ctx, Strided<const T> a, Strided<const T> b,
                            std::span<const std::array<index_t, 2>> entries) {
  constexpr index_t pieces = 64;
  std::vector<Sum> partial(pieces * entries.size()), all(entries.size());
  parallel_pieces(ctx.thread_count(), pieces, [&](index_t piece, int) {
    Sum* const sums = partial.data() + static_cast<std::size_t>(piece) * entries.size();
    for (index_t k = a.rows * piece / pieces; k < a.rows * (piece + 1) / pieces; ++k)
      for (std::size_t e = 0; e < entries.size(); ++e)
        sums[e].add(wide(a(k, entries[e][0])).conjugate() * wide(b(k, entries[e][1])));
  });
  for (std::size_t i = 0; i < partial.size(); ++i) all[i % entries.size()] += partial[i];
  return all;
}

template <class T>
void gather(const Context&, std::span<T> to, Strided<const T> a, std::span<const index_t> rows) {
  std::size_t next = 0;
  for (const index_t i : rows)
    for (index_t j = 0; j < a.cols; ++j) to[next++] = a(i, j);
}

#define TS_INSTANTIATE(T)                                                 \
  template double worst_error<T>(const Context&, const HostOperands<T>&); \
  template double worst_error<T>(const Context&, const DeviceOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
