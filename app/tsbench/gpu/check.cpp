#include "tallskinny/app/tsbench/gpu/check.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/app/tsbench/check.hpp"
#include "tallskinny/app/tsbench/error_bound.hpp"
#include "tallskinny/app/tsbench/gpu/case.hpp"
#include "tallskinny/app/tsbench/values.hpp"

namespace ts::bench {

namespace {

constexpr std::size_t compared_entries = 32;
constexpr index_t compared_rows = 96, sampled_long_rows = 12;

template <class T>
void append_row(std::vector<T>& to, std::uint64_t first, index_t row, index_t width) {
  for (index_t j = 0; j < width; ++j)
    to.push_back(value_at<T>(first + static_cast<std::uint64_t>(row * width + j)));
}

/// Entries of a p x q result: the corners and others anywhere.
std::vector<std::array<index_t, 2>> entries_of(index_t p, index_t q, bool diagonal) {
  std::vector<std::array<index_t, 2>> entries;
  for (std::size_t e = 0; e < std::min(compared_entries, static_cast<std::size_t>(diagonal ? p : p * q));
       ++e) {
    const auto some = [e](std::uint64_t salt, index_t count) {
      return static_cast<index_t>((uniform_at(2 * e + salt) + 1) / 2 * static_cast<double>(count));
    };
    const index_t i = e == 0 ? 0 : e == 1 ? p - 1 : some(0, p), j = e == 0 ? 0 : e == 1 ? q - 1 : some(1, q);
    entries.push_back({i, diagonal ? i : j});
  }
  return entries;
}

/// Entries of A^H B against `c`; of column norms, which are the roots of a diagonal.
template <class T>
double worst_inner(const Context& ctx, DeviceStrided<const T> a, DeviceStrided<const T> b,
                   DeviceStrided<const result_t<T>> c, bool norms) {
  using R = result_t<T>;
  const auto entries = entries_of(a.cols, b.cols, norms);
  const std::vector<InnerSum> sums = inner_sums<T>(ctx, a, b, entries);
  std::vector<R> computed(static_cast<std::size_t>(c.rows * c.cols));
  cuda::copy_bytes(ctx.stream, computed.data(), c.data, computed.size() * sizeof(R));
  ctx.stream.synchronize();
  double worst = 0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    Sum want;
    const auto terms = static_cast<long double>(a.rows);
    if (norms) {  // reals, packed; sums of float32 squares are taken in float64
      const long double norm = std::sqrt(sums[e].re);
      want.value = {norm, 0}, want.magnitude = norm;
      want.terms = std::is_same_v<real_t<T>, double> ? terms : 1;
      const auto* const reals = reinterpret_cast<const real_t<T>*>(computed.data());
      worst = std::max(worst, relative_error<R>(wide(R(reals[entries[e][0]])), want));
    } else {
      want.value = {sums[e].re, sums[e].im}, want.magnitude = sums[e].size, want.terms = terms;
      const auto at = static_cast<std::size_t>(entries[e][0] * c.cols + entries[e][1]);
      worst = std::max(worst, relative_error<R>(wide(computed[at]), want));
    }
  }
  return worst;
}

/// The sampled rows of a case on the host, as a problem of its own with only these rows.
template <class T>
struct Sample {
  using R = result_t<T>;
  std::vector<T> x, y;
  std::vector<R> out;
  Matrix<R> small;
  CsrMatrix<T> sparse;
  Operands<T> operands;

  Sample(const Problem& p, const SparsePattern& pattern, const std::vector<index_t>& rows)
      : small(std::max(p.p, p.q),
              p.operation == Operation::spmm || p.operation == Operation::tsm2r ? 0 : std::max(p.p, p.q)) {
    const Operation op = p.operation;
    operands.problem = p;
    operands.problem.n = static_cast<index_t>(rows.size());
    fill_small(small, p);
    if (op == Operation::spmm) {
      add_sparse(p, pattern, rows);
    } else {
      for (const index_t i : rows) append_row(x, first_key.x, i, p.p);
    }
    if (op == Operation::tsm2r)
      for (index_t k = 0; k < p.p; ++k) append_row(y, first_key.y, k, p.q);
    for (const index_t i : rows) append_row(out, first_key.out, i, out_width(p));
    operands.x = x.data(), operands.y = y.data(), operands.out = out.data();
    operands.small = small.data(), operands.sparse = sparse.view();
  }

 private:
  /// The rows of the matrix, and of X those that they meet, numbered as they come.
  void add_sparse(const Problem& p, const SparsePattern& pattern, const std::vector<index_t>& rows) {
    sparse.rows = operands.problem.n;
    for (const index_t i : rows) {
      auto entry = static_cast<std::uint64_t>(pattern.first_entry(i));
      pattern.row(i, [&](index_t column) {
        sparse.indices.push_back(static_cast<std::int32_t>(sparse.indices.size()));
        sparse.values.push_back(value_at<T>(++entry));
        append_row(x, first_key.x, column, p.q);
      });
      sparse.pointers.push_back(static_cast<index_t>(sparse.indices.size()));
    }
    sparse.cols = static_cast<index_t>(sparse.indices.size());
  }
};

template <class T>
double worst_row(const Context& ctx, const DeviceOperands<T>& o) {
  const auto rows = sampled_rows_of(
      o.problem.n, o.problem.operation == Operation::tsm2r ? sampled_long_rows : compared_rows);
  Sample<T> sample(o.problem, o.pattern, rows);
  const Check<T> check(sample.operands);  // keeps what an operation in place has overwritten
  gather<result_t<T>>(ctx, sample.out, o.out, rows);
  return check.worst_error(false);
}

}  // namespace

template <class T>
double worst_error(const Context& ctx, const DeviceOperands<T>& o) {
  switch (o.problem.operation) {
    case Operation::tsmttsm:
      return worst_inner<T>(ctx, o.x, o.y, o.result, false);
    case Operation::gram:
      return worst_inner<T>(ctx, o.x, o.x, o.result, false);
    case Operation::column_norms:
      return worst_inner<T>(ctx, o.x, o.x, o.result, true);
    case Operation::inner_and_gram:
      return std::max(worst_inner<T>(ctx, o.x, o.y, o.result, false),
                      worst_inner<T>(ctx, o.y, o.y, o.gram, false));
    case Operation::project_out:
      if constexpr (std::is_same_v<T, result_t<T>>)
        return std::max({worst_row(ctx, o), worst_inner<T>(ctx, o.x, o.out, o.result, false),
                         worst_inner<T>(ctx, o.out, o.out, o.gram, false)});
      return HUGE_VAL;
    default:
      return worst_row(ctx, o);
  }
}

template <class T>
std::uint64_t result_hash(const Context& ctx, const DeviceOperands<T>& o) {
  using R = result_t<T>;
  if (o.problem.operation == Operation::inner_and_gram || o.problem.operation == Operation::project_out) {
    const std::uint64_t tall = o.out.empty() ? 0 : hash_of<R>(ctx, o.out);
    return tall + hash_of<R>(ctx, o.result) + 3 * hash_of<R>(ctx, o.gram);
  }
  if (tall_result(o.problem.operation)) return hash_of<R>(ctx, o.out);
  if (o.problem.operation == Operation::column_norms)
    return hash_of<real_t<T>>(ctx,
                              {reinterpret_cast<real_t<T>*>(o.result.data), 1, o.problem.p, o.problem.p, 1});
  return hash_of<R>(ctx, o.result);
}

#define TS_INSTANTIATE(T)                                                   \
  template double worst_error<T>(const Context&, const DeviceOperands<T>&); \
  template std::uint64_t result_hash<T>(const Context&, const DeviceOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
