#include "tallskinny/solvers/operator.hpp"

#include <array>
#include <cmath>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// A sum of products whose rounding errors are summed beside it (Ogita, Rump and Oishi 2005, algorithm 5.3).
struct Dot2 {
  double sum = 0, error = 0;

  void add(double a, double b) noexcept {
    const double product = a * b, next = sum + product, part = next - sum;
    error += std::fma(a, b, -product) + ((sum - (next - part)) + (product - part));
    sum = next;
  }
  [[nodiscard]] double value() const noexcept { return sum + error; }
};

/// A sum of exact products of real or complex numbers.
template <class T>
struct ExactProduct {
  std::array<Dot2, is_complex<T> ? 2 : 1> parts{};

  void add(T a, T b) noexcept {
    parts[0].add(std::real(a), std::real(b));
    if constexpr (is_complex<T>) {
      parts[0].add(-std::imag(a), std::imag(b));
      parts[1].add(std::real(a), std::imag(b)), parts[1].add(std::imag(a), std::real(b));
    }
  }
  [[nodiscard]] T value() const noexcept {
    using R = real_t<T>;
    if constexpr (is_complex<T>)
      return {static_cast<R>(parts[0].value()), static_cast<R>(parts[1].value())};
    else
      return static_cast<R>(parts[0].value());
  }
};

/// Columns that are summed side by side.
constexpr index_t group = 8;

/// `visit(i, add)` calls add(a_ij, j) for the entries of row i.
template <class T, class Visit>
void residual_by_rows(const Context& ctx, HostView<const T> x, std::span<const double> theta, HostView<T> r,
                      index_t first_row, const Visit& visit) {
  constexpr index_t piece = 64;  // rows
  const auto residual_of = [&](index_t i) {
    for (index_t first = 0; first < x.cols(); first += group) {
      const index_t width = std::min(group, x.cols() - first);
      std::array<ExactProduct<T>, group> sums{};
      visit(i, [&](T value, index_t row) {
        for (index_t c = 0; c < width; ++c) sums[static_cast<std::size_t>(c)].add(value, x(row, first + c));
      });
      for (index_t c = 0; c < width; ++c) {
        auto& sum = sums[static_cast<std::size_t>(c)];
        sum.add(T(static_cast<real_t<T>>(-theta[static_cast<std::size_t>(first + c)])), x(first_row + i, first + c));
        r(i, first + c) = sum.value();
      }
    }
  };
  parallel_pieces(ctx.thread_count(), (r.rows() + piece - 1) / piece, [&](index_t p, int) {
    for (index_t i = p * piece; i < std::min(r.rows(), (p + 1) * piece); ++i) residual_of(i);
  });
}

}  // namespace

template <class T>
Operator<T> at_home(Space space, Operator<T> op) {
  struct Homed {
    Operator<T> op;
    Space home;
    [[nodiscard]] index_t rows() const { return op.rows(); }
    [[nodiscard]] Space space() const { return home; }
    void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const { op.apply(ctx, x, y); }
    [[nodiscard]] OperatorFacts facts() const { return op.facts(); }
  };
  if (op.space() == space) return op;
  return Homed{std::move(op), space};
}

template <class T, class I>
void compensated_residual(const Context& ctx, const CsrView<T, Space::host, I>& a, HostView<const T> x,
                          std::span<const double> theta, HostView<T> r) {
  residual_by_rows<T>(ctx, x, theta, r, 0, [&a](index_t i, const auto& add) {
    for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k) add(a.values[k], index_t{a.indices[k]});
  });
}

template <class T>
void compensated_residual(const Context& ctx, HostView<const T> a, HostView<const T> x, std::span<const double> theta,
                          HostView<T> r, index_t first) {
  residual_by_rows<T>(ctx, x, theta, r, first, [&a](index_t i, const auto& add) {
    for (index_t j = 0; j < a.cols(); ++j) add(a(i, j), j);
  });
}

template <class T, class I>
OperatorFacts gershgorin(const CsrView<T, Space::host, I>& a, index_t first) {
  if (a.rows == 0) return {0, 0, 0};
  const auto both = [](const OperatorFacts& x, const OperatorFacts& y) {
    return OperatorFacts{x.entries, std::min(x.low, y.low), std::max(x.high, y.high)};
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const OperatorFacts none{a.nonzeros(), infinity, -infinity};
  const auto of_rows = [&](index_t begin, index_t end) {
    OperatorFacts facts = none;
    for (index_t i = begin; i < end; ++i) {
      double centre = 0, radius = 0;
      for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k)
        if (a.indices[k] == first + i)
          centre += std::real(a.values[k]);
        else
          radius += std::abs(a.values[k]);
      facts = both(facts, {facts.entries, centre - radius, centre + radius});
    }
    return facts;
  };
  return parallel_reduce(default_threads(), a.rows, none, of_rows, both);
}

template <class T>
Matrix<T> as_dense(const Context& ctx, const Operator<T>& a) {
  const index_t n = a.rows(), width = std::min<index_t>(n, 64);
  Matrix<T> dense(n, n);
  if (a.write(dense.view())) return dense;
  Matrix<T> x(n, width), y(n, width);
  for (index_t j = 0; j < n; j += width) {
    const index_t w = std::min(width, n - j);
    for (index_t i = 0; i < n; ++i)
      for (index_t c = 0; c < width; ++c) x(i, c) = i == j + c ? T{1} : T{};
    a.apply(ctx, x.cview(), y.view());
    for (index_t i = 0; i < n; ++i)
      for (index_t c = 0; c < w; ++c) dense(i, j + c) = y(i, c);
  }
  return dense;
}

#define TS_INSTANTIATE_INDEX(T, I)                                                                               \
  template OperatorFacts gershgorin<T, I>(const CsrView<T, Space::host, I>&, index_t);                           \
  template void compensated_residual<T, I>(const Context&, const CsrView<T, Space::host, I>&, HostView<const T>, \
                                           std::span<const double>, HostView<T>);
#define TS_INSTANTIATE_DENSE(T)                                                                                        \
  template void compensated_residual<T>(const Context&, HostView<const T>, HostView<const T>, std::span<const double>, \
                                        HostView<T>, index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE_DENSE)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, at_home)
#undef TS_INSTANTIATE_DENSE
#define TS_INSTANTIATE(T) TS_INSTANTIATE_INDEX(T, std::int32_t) TS_INSTANTIATE_INDEX(T, std::int64_t)
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#undef TS_INSTANTIATE_INDEX
template Matrix<double> as_dense<double>(const Context&, const Operator<double>&);
template Matrix<std::complex<double>> as_dense<std::complex<double>>(const Context&,
                                                                     const Operator<std::complex<double>>&);

}  // namespace ts::inline v0::solvers
