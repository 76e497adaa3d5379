#include "tallskinny/solvers/ortho/wide_gram.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/core/twofold.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

constexpr index_t chunk_rows = 1024;
/// Partial sums that are added in a fixed order: the bits do not depend on the number of threads.
constexpr index_t most_groups = 32;

/// Calls body(group, first row, rows) for every chunk, groups of chunks in parallel.
template <class Body>
void for_each_chunk(const Context& ctx, index_t n, const Body& body) {
  const index_t chunks = (n + chunk_rows - 1) / chunk_rows, groups = std::min(chunks, most_groups);
  parallel_pieces(ctx.thread_count(), groups, [&](index_t group, int) {
    for (index_t c = chunks * group / groups; c < chunks * (group + 1) / groups; ++c)
      body(group, c * chunk_rows, std::min(chunk_rows, n - c * chunk_rows));
  });
}

Context on_one_thread(const Context& ctx) {
  Context one = ctx;
  one.threads = 1;
  return one;
}

/// A chunk of columns as integers below 2^21 that stand side by side: x = 2^e (s0 + s1 2^-21 + s2 2^-42)
/// 2^-21. Sums of 1024 products of two of them stay below 2^53.
class Slices {
 public:
  static constexpr int bits = 21, count = 3;
  explicit Slices(index_t columns)
      : columns_(columns), part_(chunk_rows, count * columns), exponents_(static_cast<std::size_t>(columns)) {}

  /// False if x holds NaN or infinity.
  [[nodiscard]] bool cut(HostView<const double> x) {
    for (index_t j = 0; j < columns_; ++j) {
      double largest = 0;
      for (index_t i = 0; i < x.rows(); ++i) {
        const double a = std::abs(x(i, j));
        if (!std::isfinite(a)) return false;
        largest = std::max(largest, a);
      }
      int e = 0;
      (void)std::frexp(largest, &e);
      e = std::max(e, -900);  // scaling must not overflow
      exponents_[static_cast<std::size_t>(j)] = e;
      for (index_t i = 0; i < x.rows(); ++i) {
        double rest = std::ldexp(x(i, j), bits - e);
        for (index_t s = 0; s < count; ++s) {
          const double slice = std::nearbyint(rest);
          part_(i, s * columns_ + j) = slice;
          rest = (rest - slice) * 0x1p21;
        }
      }
    }
    return true;
  }

  /// sum += the Gram matrix of the rows cut last
  void add_gram(const Context& ctx, index_t rows, std::vector<Twofold>& sum) const {
    Matrix<double> products(count * columns_, count * columns_);
    gram(ctx, Op::transpose, 1.0, part_.view().rows(0, rows), 0.0, products.view());
    for (index_t i = 0; i < columns_; ++i)
      for (index_t j = 0; j < columns_; ++j) {
        Twofold total;
        for (index_t s = count; s-- > 0;)
          for (index_t t = count; t-- > 0;)
            total = total + std::ldexp(products(s * columns_ + i, t * columns_ + j), -bits * static_cast<int>(s + t));
        const int e = exponents_[static_cast<std::size_t>(i)] + exponents_[static_cast<std::size_t>(j)] - 2 * bits;
        auto& to = sum[static_cast<std::size_t>(i * columns_ + j)];
        to = to + Twofold{std::ldexp(total.hi, e), std::ldexp(total.lo, e)};
      }
  }

 private:
  index_t columns_;
  Matrix<double> part_;
  std::vector<int> exponents_;
};

/// The Gram matrix of real columns, c x c; empty if x is not finite.
std::vector<Twofold> wide_gram(const Context& ctx, HostView<const double> x) {
  const index_t c = x.cols();
  const auto size = static_cast<std::size_t>(c * c);
  std::vector<std::vector<Twofold>> partial(static_cast<std::size_t>(most_groups));
  std::atomic<bool> finite = true;
  const Context one = on_one_thread(ctx);
  for_each_chunk(ctx, x.rows(), [&](index_t group, index_t first, index_t rows) {
    auto& sum = partial[static_cast<std::size_t>(group)];
    sum.resize(size);
    Slices slices(c);
    if (slices.cut(x.rows(first, rows)))
      slices.add_gram(one, rows, sum);
    else
      finite = false;
  });
  if (!finite) return {};
  std::vector<Twofold> total(size);
  for (const auto& sum : partial)
    for (std::size_t k = 0; k < sum.size(); ++k) total[k] = total[k] + sum[k];
  return total;
}

std::vector<Twofold> wide_gram(const Context& ctx, HostView<const float> x) {
  const auto g = gram_in_float64<float>(ctx, x);
  std::vector<Twofold> total;
  for (index_t i = 0; i < g.rows(); ++i)
    for (index_t j = 0; j < g.cols(); ++j) total.push_back({g(i, j), 0});
  return total;
}

/// G = R^T R in place, c x c.
bool cholesky(std::vector<Twofold>& g, index_t c) {
  const auto at = [&](index_t i, index_t j) -> Twofold& { return g[static_cast<std::size_t>(i * c + j)]; };
  for (index_t j = 0; j < c; ++j) {
    for (index_t k = 0; k < j; ++k) at(j, j) = at(j, j) - at(k, j) * at(k, j);
    if (!(at(j, j).hi > 0) || !std::isfinite(at(j, j).hi)) return false;
    at(j, j) = sqrt(at(j, j));
    for (index_t l = j + 1; l < c; ++l) {
      for (index_t k = 0; k < j; ++k) at(j, l) = at(j, l) - at(k, j) * at(k, l);
      at(j, l) = at(j, l) / at(j, j);
    }
  }
  return true;
}

/// The real form of G = X^H X for X = A + i B, from the Gram matrix of [a_1 b_1 a_2 b_2 ..]: each element
/// becomes [Re -Im; Im Re], and its Cholesky factor has the same form.
std::vector<Twofold> real_form(const std::vector<Twofold>& parts, index_t b) {
  const index_t c = 2 * b;
  std::vector<Twofold> g(parts.size());
  const auto in = [&](index_t i, index_t j) { return parts[static_cast<std::size_t>(i * c + j)]; };
  const auto out = [&](index_t i, index_t j) -> Twofold& { return g[static_cast<std::size_t>(i * c + j)]; };
  for (index_t i = 0; i < c; i += 2)
    for (index_t j = 0; j < c; j += 2) {
      const Twofold re = in(i, j) + in(i + 1, j + 1), im = in(i, j + 1) - in(i + 1, j);
      out(i, j) = re, out(i, j + 1) = -im;
      out(i + 1, j) = im, out(i + 1, j + 1) = re;
    }
  return g;
}

}  // namespace

template <class T>
Matrix<wide_t<T>> gram_in_float64(const Context& ctx, PlacedView<const T> placed) {
  using W = wide_t<T>;
  const index_t b = placed.cols();
  auto g = Matrix<W>::zeros(b, b);
  if constexpr (std::is_same_v<W, T>) {
    Tall<T>(ctx).gram(placed, g.view());
  } else {
    const HostView<const T> x = placed.host();
    if (ctx.determinism == Determinism::gpu_to_gpu || distributed(ctx)) {  // the engine knows units and ranks
      Matrix<W> wide(x.rows(), b);
      for (index_t i = 0; i < x.rows(); ++i)
        for (index_t j = 0; j < b; ++j) wide(i, j) = x(i, j);
      gram(ctx, Op::adjoint, W{1}, wide.cview(), W{}, g.view());
      return g;
    }
    std::vector<Matrix<W>> partial(static_cast<std::size_t>(most_groups));
    const Context one = on_one_thread(ctx);
    for_each_chunk(ctx, x.rows(), [&](index_t group, index_t first, index_t rows) {
      Matrix<W> wide(rows, b);
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < b; ++j) wide(i, j) = x(first + i, j);
      auto& sum = partial[static_cast<std::size_t>(group)];
      if (sum.empty()) sum = Matrix<W>::zeros(b, b);
      gram(one, Op::adjoint, W{1}, wide.cview(), W{1}, sum.view());
    });
    for (const auto& sum : partial)
      for (index_t i = 0; i < sum.rows(); ++i)
        for (index_t j = 0; j < b; ++j) g(i, j) += sum(i, j);
  }
  return g;
}

template <class T>
bool wide_cholesky_factor(const Context& ctx, HostView<const T> x, HostView<T> r) {
  solvers::expects_one_rank(ctx, "a Cholesky factor of twice the digits");
  const index_t b = x.cols();
  if (x.rows() == 0 || b == 0) return b == 0;
  auto g = wide_gram(ctx, as_reals(x));
  if (g.empty()) return false;
  if constexpr (is_complex<T>) g = real_form(g, b);
  const index_t parts = is_complex<T> ? 2 : 1, c = parts * b;
  if (!cholesky(g, c)) return false;
  const auto at = [&](index_t i, index_t j) {
    return static_cast<real_t<T>>(g[static_cast<std::size_t>(i * c + j)].hi);
  };
  for (index_t i = 0; i < b; ++i)
    for (index_t j = 0; j < b; ++j) {
      if (j < i)
        r(i, j) = T{};
      else if constexpr (is_complex<T>)
        r(i, j) = {at(2 * i, 2 * j), at(2 * i + 1, 2 * j)};
      else
        r(i, j) = at(i, j);
    }
  return true;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, gram_in_float64)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, wide_cholesky_factor)

}  // namespace ts::inline v0::ortho
