// Operators: anything square that applies itself to a block of vectors.
#pragma once

#include <algorithm>
#include <complex>
#include <concepts>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "tallskinny/gemm/runtime/placed.hpp"
#include "tallskinny/gemm/runtime/reach.hpp"
#include "tallskinny/gemm/runtime/run_where.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// An operator that solvers accept: it has a number of rows, and computes Y = A X for blocks of any width. X and Y are
/// row-major, n x b, and never overlap. Where the rows of blocks are distributed over the ranks of the Context, rows()
/// is the number of this rank's rows, and facts() are of the whole matrix. Optional members:
///   space()                           memory in which it works, if that is not the host's
///   apply(ctx, x, y)                  for device views, or for PlacedView; without it blocks go through host memory
///   update(ctx, alpha, shift, x, beta, y)  Y = alpha (A - shift I) X + beta Y for device views, or false
///   recurrence(ctx, count, alpha, shift, x, beta, y)  `count` such steps, after each of which x and y change places
///   residual(ctx, x, theta, r)        R = A X - X diag(theta), each element a sum in twofold float64, for host views,
///                                     or for PlacedView, on the host and in space(); if it
///                                     returns bool, false means that the sums are ordinary ones
///   write(a)                         A = the matrix itself, n x n; without it as_dense() takes n products
///   facts()
template <class A, class T>
concept BlockOperator = requires(const A& a, const Context& ctx, HostView<const T> x, HostView<T> y) {
  { a.rows() } -> std::convertible_to<index_t>;
  a.apply(ctx, x, y);
};

/// Known facts of an operator. For a Hermitian one, no eigenvalue lies outside of [low, high].
struct OperatorFacts {
  index_t entries = -1;  ///< multiplications for each column that it is applied to; -1: not known
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Any operator behind one type. Copies share the implementation.
template <class T>
class Operator {
 public:
  using value_type = T;

  template <class Impl>
  requires(BlockOperator<Impl, T> && !std::same_as<Impl, Operator>) Operator(Impl impl)
      : impl_(std::make_shared<const Model<Impl>>(std::move(impl))) {}

  [[nodiscard]] index_t rows() const { return impl_->rows(); }
  /// Where blocks that it is applied to best are.
  [[nodiscard]] Space space() const { return impl_->space(); }
  /// Y = A X, both in one place.
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
    if (y.space() == Space::host)
      impl_->apply(ctx, x.host(), y.host());
    else
      impl_->apply(ctx, x.template in<Space::device>(), y.template in<Space::device>());
  }
  /// Y = alpha (A - shift I) X + beta Y in one pass, on a device. False, with nothing done, where this
  /// operator cannot.
  [[nodiscard]] bool update(const Context& ctx, T alpha, double shift, PlacedView<const T> x, T beta,
                            PlacedView<T> y) const {
    return y.space() == Space::device &&
           impl_->update(ctx, alpha, shift, x.template in<Space::device>(), beta, y.template in<Space::device>());
  }
  /// `count` times update, after each of which X and Y change places. False, with nothing done, where this operator
  /// cannot.
  [[nodiscard]] bool recurrence(const Context& ctx, index_t count, double alpha, double shift, PlacedView<T> x,
                                double beta, PlacedView<T> y) const {
    return y.space() == Space::host ? impl_->recurrence(ctx, count, alpha, shift, x.host(), beta, y.host())
                                    : impl_->recurrence(ctx, count, alpha, shift, x.template in<Space::device>(), beta,
                                                        y.template in<Space::device>());
  }
  /// R = A X - X diag(theta), n x k, both in host memory or where residual_space() says. True where each element comes
  /// from a compensated sum, so that the rounding of long rows does not show; otherwise from a product like any other.
  bool residual(const Context& ctx, PlacedView<const T> x, std::span<const double> theta, PlacedView<T> r) const {
    return impl_->residual(ctx, x, theta, r);
  }
  /// Where residual() best has its operands: space() if the implementation knows it there, else the host.
  [[nodiscard]] Space residual_space() const { return impl_->residual_space(); }
  /// Writes the elements of A where the implementation knows them; otherwise false, with nothing done.
  [[nodiscard]] bool write(HostView<T> a) const { return impl_->write(a); }
  /// Those of an implementation that has a member facts(); otherwise nothing is known.
  [[nodiscard]] OperatorFacts facts() const { return impl_->facts(); }

 private:
  struct Concept {
    Concept() = default;
    Concept(const Concept&) = delete;
    Concept& operator=(const Concept&) = delete;
    virtual ~Concept() = default;
    [[nodiscard]] virtual index_t rows() const = 0;
    [[nodiscard]] virtual Space space() const = 0;
    virtual void apply(const Context&, HostView<const T>, HostView<T>) const = 0;
    virtual void apply(const Context&, DeviceView<const T>, DeviceView<T>) const = 0;
    virtual bool update(const Context&, T, double, DeviceView<const T>, T, DeviceView<T>) const = 0;
    virtual bool recurrence(const Context&, index_t, double, double, HostView<T>, double, HostView<T>) const = 0;
    virtual bool recurrence(const Context&, index_t, double, double, DeviceView<T>, double, DeviceView<T>) const = 0;
    virtual bool residual(const Context&, PlacedView<const T>, std::span<const double>, PlacedView<T>) const = 0;
    [[nodiscard]] virtual Space residual_space() const = 0;
    virtual bool write(HostView<T>) const = 0;
    [[nodiscard]] virtual OperatorFacts facts() const = 0;
  };
  template <class Impl>
  struct Model final : Concept {
    explicit Model(Impl b) : impl(std::move(b)) {}
    [[nodiscard]] index_t rows() const override { return impl.rows(); }
    void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const override { impl.apply(ctx, x, y); }
    [[nodiscard]] Space space() const override {
      if constexpr (requires(const Impl& b) { b.space(); })
        return impl.space();
      else
        return Space::host;
    }
    void apply(const Context& ctx, DeviceView<const T> x, DeviceView<T> y) const override {
      if constexpr (requires(const Impl& b) { b.apply(ctx, x, y); })
        impl.apply(ctx, x, y);
      else
        on_host<T>(ctx, x, y, [&](HostView<const T> from, HostView<T> to) { impl.apply(ctx, from, to); });
    }
    bool update(const Context& ctx, T alpha, double shift, DeviceView<const T> x, T beta,
                DeviceView<T> y) const override {
      if constexpr (requires(const Impl& b) { b.update(ctx, alpha, shift, x, beta, y); })
        return impl.update(ctx, alpha, shift, x, beta, y);
      else
        return false;
    }
    bool recurrence(const Context& ctx, index_t count, double alpha, double shift, HostView<T> x, double beta,
                    HostView<T> y) const override {
      return recurrence_of(ctx, count, alpha, shift, x, beta, y);
    }
    bool recurrence(const Context& ctx, index_t count, double alpha, double shift, DeviceView<T> x, double beta,
                    DeviceView<T> y) const override {
      return recurrence_of(ctx, count, alpha, shift, x, beta, y);
    }
    template <class View>
    bool recurrence_of(const Context& ctx, index_t count, double alpha, double shift, View x, double beta,
                       View y) const {
      if constexpr (requires(const Impl& b) { b.recurrence(ctx, count, alpha, shift, x, beta, y); })
        return impl.recurrence(ctx, count, alpha, shift, x, beta, y);
      else
        return false;
    }
    static constexpr bool residual_anywhere = requires(const Impl& b, const Context& ctx, PlacedView<const T> x,
                                                       std::span<const double> theta, PlacedView<T> r) {
      b.residual(ctx, x, theta, r);
    };
    [[nodiscard]] Space residual_space() const override { return residual_anywhere ? space() : Space::host; }
    bool residual(const Context& ctx, PlacedView<const T> x, std::span<const double> theta,
                  PlacedView<T> r) const override {
      if constexpr (residual_anywhere) {
        if constexpr (std::same_as<decltype(impl.residual(ctx, x, theta, r)), bool>)
          return impl.residual(ctx, x, theta, r);
        else
          return impl.residual(ctx, x, theta, r), true;
      } else if constexpr (requires(const Impl& b) { b.residual(ctx, x.host(), theta, r.host()); }) {
        impl.residual(ctx, x.host(), theta, r.host());
        return true;
      } else {
        const HostView<const T> from = x.host();
        const HostView<T> to = r.host();
        impl.apply(ctx, from, to);
        for (index_t i = 0; i < to.rows(); ++i)
          for (index_t j = 0; j < to.cols(); ++j)
            to(i, j) -= from(i, j) * static_cast<real_t<T>>(theta[static_cast<std::size_t>(j)]);
        return false;
      }
    }
    bool write(HostView<T> a) const override {
      if constexpr (requires(const Impl& b) { b.write(a); }) {
        impl.write(a);
        return true;
      } else {
        return false;
      }
    }
    [[nodiscard]] OperatorFacts facts() const override {
      if constexpr (requires(const Impl& b) { b.facts(); })
        return impl.facts();
      else
        return {};
    }
    Impl impl;
  };
  std::shared_ptr<const Concept> impl_;
};

/// An operator that is at home in another place, where blocks are kept that go to its own for every product.
template <class T>
[[nodiscard]] Operator<T> at_home(Space space, Operator<T> op);

/// Entries, and bounds by Gershgorin's discs, of a square matrix, or of its rows from `first` on.
template <class T, class I>
[[nodiscard]] OperatorFacts gershgorin(const CsrView<T, Space::host, I>& a, index_t first = 0);

/// A^H
template <class T, class I>
[[nodiscard]] CsrMatrix<T, I> adjoint_of(const CsrView<T, Space::host, I>& a) {
  auto adjoint = transposed(a);
  for (T& x : adjoint.values) x = conjugate(x);
  return adjoint;
}

/// R = A X - X diag(theta) with every element a compensated sum (Ogita, Rump and Oishi 2005, Dot2): its error
/// is u |r| + (m u)^2 |A| |x| for rows of m entries. X and R: n x k, theta: k. A dense A, and R, may be the rows from
/// `first` on.
template <class T, class I>
void compensated_residual(const Context&, const CsrView<T, Space::host, I>& a, HostView<const T> x,
                          std::span<const double> theta, HostView<T> r);
template <class T>
void compensated_residual(const Context&, HostView<const T> a, HostView<const T> x, std::span<const double> theta,
                          HostView<T> r, index_t first = 0);

/// A square sparse matrix in somebody else's memory, perhaps on a device as well.
template <class T, class I = std::int32_t>
class CsrOperator {
 public:
  /// @throws Error(invalid_argument) unless the matrix is square.
  explicit CsrOperator(CsrView<T, Space::host, I> a) : a_(square(a)) {
    if (a.facts.reach < 0) a_.facts.reach = reach_of(a);
  }
  /// @param there the same matrix on the device of the Context's stream.
  CsrOperator(CsrView<T, Space::host, I> a, CsrView<T, Space::device, I> there) : a_(square(a)), there_(there) {
    expects(there.rows == a.rows && there.cols == a.cols && there.stored == a.nonzeros(),
            "the matrix on the device is another than that on the host");
  }
  [[nodiscard]] index_t rows() const noexcept { return a_.rows; }
  [[nodiscard]] Space space() const noexcept { return there_.pointers != nullptr ? Space::device : Space::host; }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    spmm(ctx, Op::none, T{1}, a_, x, T{0}, y);
  }
  void apply(const Context& ctx, DeviceView<const T> x, DeviceView<T> y) const {
    spmm(ctx, Op::none, T{1}, there_, x, T{0}, y);
  }
  bool update(const Context& ctx, T alpha, double shift, DeviceView<const T> x, T beta, DeviceView<T> y) const {
    spmm_shifted(ctx, alpha, there_, T{static_cast<real_t<T>>(shift)}, x, beta, y);
    return true;
  }
  template <Space S>
  bool recurrence(const Context& ctx, index_t count, double alpha, double shift, MatrixView<T, S> x, double beta,
                  MatrixView<T, S> y) const {
    using R = real_t<T>;
    const auto steps = [&](const CsrView<T, S, I>& a) {
      spmm_recurrence(ctx, count, static_cast<R>(alpha), a, static_cast<R>(shift), x, static_cast<R>(beta), y);
    };
    if constexpr (S == Space::host)
      steps(a_);
    else
      steps(there_);
    return true;
  }
  void residual(const Context& ctx, PlacedView<const T> x, std::span<const double> theta, PlacedView<T> r) const {
    run_where(
        ctx, r.space(),
        [&](auto at, auto values) {
          if constexpr (decltype(at)::space == Space::host)
            compensated_residual(ctx, a_, at(x), theta, at(r));
          else
            spmm_residual(ctx, there_, at(x), values, at(r));
        },
        In<double>{HostView<const double>(theta.data(), 1, static_cast<index_t>(theta.size()))});
  }
  void write(HostView<T> a) const {
    for (index_t i = 0; i < a.rows(); ++i) {
      for (index_t j = 0; j < a.cols(); ++j) a(i, j) = T{};
      for (index_t k = a_.pointers[i]; k < a_.pointers[i + 1]; ++k) a(i, index_t{a_.indices[k]}) += a_.values[k];
    }
  }
  [[nodiscard]] OperatorFacts facts() const { return gershgorin(a_); }

 private:
  static const CsrView<T, Space::host, I>& square(const CsrView<T, Space::host, I>& a) {
    expects(a.rows == a.cols, "an operator needs a square matrix");
    return a;
  }
  CsrView<T, Space::host, I> a_;
  CsrView<T, Space::device, I> there_;
};

/// A square dense matrix, row-major, in somebody else's memory, perhaps on a device as well.
template <class T>
class DenseOperator {
 public:
  /// @throws Error(invalid_argument) unless the matrix is square.
  explicit DenseOperator(HostView<const T> a) : a_(a) {
    expects(a.rows() == a.cols(), "an operator needs a square matrix");
  }
  /// @param there the same matrix on the device of the Context's stream.
  DenseOperator(HostView<const T> a, DeviceView<const T> there) : DenseOperator(a) {
    expects(there.rows() == a.rows() && there.cols() == a.cols(),
            "the matrix on the device has another shape than that on the host");
    there_ = there;
  }
  [[nodiscard]] index_t rows() const noexcept { return a_.rows(); }
  [[nodiscard]] Space space() const noexcept { return there_.empty() ? Space::host : Space::device; }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    tsm2r(ctx, Op::none, T{1}, a_, x, T{0}, y);
  }
  void apply(const Context& ctx, DeviceView<const T> x, DeviceView<T> y) const {
    tsm2r(ctx, Op::none, T{1}, there_, x, T{0}, y);
  }
  void residual(const Context& ctx, HostView<const T> x, std::span<const double> theta, HostView<T> r) const {
    compensated_residual(ctx, a_, x, theta, r);
  }
  void write(HostView<T> a) const {
    for (index_t i = 0; i < a.rows(); ++i)
      for (index_t j = 0; j < a.cols(); ++j) a(i, j) = a_(i, j);
  }
  [[nodiscard]] OperatorFacts facts() const { return {.entries = a_.rows() * a_.cols()}; }

 private:
  HostView<const T> a_;
  DeviceView<const T> there_;
};

/// The matrix of an operator, n x n: as it is stored, or from n products with unit vectors.
template <class T>
[[nodiscard]] Matrix<T> as_dense(const Context& ctx, const Operator<T>& a);

}  // namespace ts::inline v0::solvers
