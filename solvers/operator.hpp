// Operators: anything square that applies itself to a block of vectors.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"

namespace ts::solvers {

/// What a solver asks of an operator: a number of rows, and Y = A X for blocks of any width. X and Y are
/// row-major, n x b, and never overlap.
template <class A, class T>
concept BlockOperator = requires(const A& a, const Context& ctx, HostView<const T> x, HostView<T> y) {
  { a.rows() } -> std::convertible_to<index_t>;
  a.apply(ctx, x, y);
};

/// Any operator behind one type. Copies share the body.
template <class T>
class Operator {
 public:
  using value_type = T;

  template <class Body>
  requires(BlockOperator<Body, T> && !std::same_as<Body, Operator>) Operator(Body body)
      : body_(std::make_shared<const Model<Body>>(std::move(body))) {}

  [[nodiscard]] index_t rows() const { return body_->rows(); }
  /// Y = A X.
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const { body_->apply(ctx, x, y); }

 private:
  struct Concept {
    Concept() = default;
    Concept(const Concept&) = delete;
    Concept& operator=(const Concept&) = delete;
    virtual ~Concept() = default;
    [[nodiscard]] virtual index_t rows() const = 0;
    virtual void apply(const Context&, HostView<const T>, HostView<T>) const = 0;
  };
  template <class Body>
  struct Model final : Concept {
    explicit Model(Body b) : body(std::move(b)) {}
    [[nodiscard]] index_t rows() const override { return body.rows(); }
    void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const override {
      body.apply(ctx, x, y);
    }
    Body body;
  };
  std::shared_ptr<const Concept> body_;
};

/// A square sparse matrix in somebody else's memory.
template <class T, class I = std::int32_t>
class CsrOperator {
 public:
  /// @throws Error(invalid_argument) unless the matrix is square.
  explicit CsrOperator(CsrView<T, Space::host, I> a) : a_(a) {
    expects(a.rows == a.cols, "an operator needs a square matrix");
  }
  [[nodiscard]] index_t rows() const noexcept { return a_.rows; }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    spmm(ctx, Op::none, T{1}, a_, x, T{0}, y);
  }

 private:
  CsrView<T, Space::host, I> a_;
};

/// A square dense matrix, row-major, in somebody else's memory.
template <class T>
class DenseOperator {
 public:
  /// @throws Error(invalid_argument) unless the matrix is square.
  explicit DenseOperator(HostView<const T> a) : a_(a) {
    expects(a.rows() == a.cols(), "an operator needs a square matrix");
  }
  [[nodiscard]] index_t rows() const noexcept { return a_.rows(); }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    tsm2r(ctx, Op::none, T{1}, a_, x, T{0}, y);
  }

 private:
  HostView<const T> a_;
};

}  // namespace ts::solvers
