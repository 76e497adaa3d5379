// Operators: anything square that applies itself to a block of vectors.
#pragma once

#include <algorithm>
#include <complex>
#include <concepts>
#include <limits>
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

/// What an operator may know of itself. For a Hermitian one, no eigenvalue lies outside of [low, high].
struct OperatorFacts {
  index_t entries = -1;  ///< multiplications for each column that it is applied to; -1: not known
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
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
  /// Those of a body that has a member facts(); otherwise nothing is known.
  [[nodiscard]] OperatorFacts facts() const { return body_->facts(); }

 private:
  struct Concept {
    Concept() = default;
    Concept(const Concept&) = delete;
    Concept& operator=(const Concept&) = delete;
    virtual ~Concept() = default;
    [[nodiscard]] virtual index_t rows() const = 0;
    virtual void apply(const Context&, HostView<const T>, HostView<T>) const = 0;
    [[nodiscard]] virtual OperatorFacts facts() const = 0;
  };
  template <class Body>
  struct Model final : Concept {
    explicit Model(Body b) : body(std::move(b)) {}
    [[nodiscard]] index_t rows() const override { return body.rows(); }
    void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const override {
      body.apply(ctx, x, y);
    }
    [[nodiscard]] OperatorFacts facts() const override {
      if constexpr (requires(const Body& b) { b.facts(); })
        return body.facts();
      else
        return {};
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
  /// Bounds by Gershgorin's discs.
  [[nodiscard]] OperatorFacts facts() const {
    OperatorFacts facts{a_.nonzeros(), 0, 0};
    for (index_t i = 0; i < a_.rows; ++i) {
      double centre = 0, radius = 0;
      for (index_t k = a_.pointers[i]; k < a_.pointers[i + 1]; ++k)
        if (a_.indices[k] == i)
          centre += std::real(a_.values[k]);
        else
          radius += std::abs(a_.values[k]);
      facts.low = i == 0 ? centre - radius : std::min(facts.low, centre - radius);
      facts.high = i == 0 ? centre + radius : std::max(facts.high, centre + radius);
    }
    return facts;
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
  [[nodiscard]] OperatorFacts facts() const { return {.entries = a_.rows() * a_.cols()}; }

 private:
  HostView<const T> a_;
};

}  // namespace ts::solvers
