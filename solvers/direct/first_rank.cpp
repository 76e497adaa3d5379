// Rank 0 factorises and solves for all, by what it would take if it had all rows: the bits are those of one rank.
#include "tallskinny/solvers/ranks/first_rank.hpp"

#include <string>

#include "tallskinny/solvers/direct/backends.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
class OfFirstRank final : public DirectSolver<T> {
 public:
  OfFirstRank(const Context& ctx, CsrView<T> own, FactorKind kind, DirectBackend backend, const std::vector<int>& order)
      : ctx_(ctx), whole_(gathered_matrix<T>(ctx, own)) {
    first_alone(ctx_, [&] {
      solver_ = analyse<T>(whole_.view(), kind, backend, order);
      estimate_ = solver_->estimate();
    });
    const std::string_view by = estimate_.by;
    const std::vector<char> name = gather_lists<char>(ctx_, std::span(by.data(), is_first(ctx_) ? by.size() : 0));
    by_.assign(name.begin(), name.end());
    const double flops = of_first(ctx_, estimate_.flops);
    estimate_ = {by_, flops, estimate_.bytes};
    whole_.values = {};
  }

  [[nodiscard]] FactorEstimate estimate() const noexcept override { return estimate_; }
  [[nodiscard]] std::vector<int> order() const override { return solver_ ? solver_->order() : std::vector<int>(); }

  [[nodiscard]] bool factorise(CsrView<T> own) override {
    struct Outcome {
      bool done = false;
      index_t negative = unknown;
    } outcome;
    whole_.values = gathered_values<T>(ctx_, own);
    first_alone(ctx_, [&] {
      outcome.done = solver_->factorise(whole_.view());
      if (outcome.done) outcome.negative = solver_->negative().value_or(unknown);
    });
    whole_.values = {};
    outcome = of_first(ctx_, outcome);
    negative_ = outcome.negative, moved_ = 0;
    return outcome.done;
  }

  [[nodiscard]] double refine(const Context& ctx, CsrView<T> own, double enough) override {
    struct Outcome {
      double error = inf, moved = 0;
      index_t negative = unknown;
    } outcome;
    whole_.values = gathered_values<T>(ctx_, own);
    first_alone(ctx_, [&] {
      outcome = {solver_->refine(alone(ctx), whole_.view(), enough), solver_->moved_pivots(),
                 solver_->negative().value_or(unknown)};
    });
    whole_.values = {};
    outcome = of_first(ctx_, outcome);
    negative_ = outcome.negative, moved_ = outcome.moved;
    return outcome.error;
  }
  [[nodiscard]] double moved_pivots() const noexcept override { return moved_; }

  using DirectSolver<T>::solve;
  void solve(const Context& ctx, Op op, PlacedView<const T> b, PlacedView<T> x) const override {
    by_first(ctx, b, x,
             [&](const Context& one, HostView<const T> from, HostView<T> to) { solver_->solve(one, op, from, to); });
  }
  void solve_once(const Context& ctx, PlacedView<const T> b, PlacedView<T> x) const override {
    by_first(ctx, b, x,
             [&](const Context& one, HostView<const T> from, HostView<T> to) { solver_->solve_once(one, from, to); });
  }

  [[nodiscard]] std::optional<index_t> negative() const override {
    if (negative_ == unknown) return std::nullopt;
    return negative_;
  }

 private:
  static constexpr index_t unknown = -1;

  template <class Solve>
  void by_first(const Context& ctx, PlacedView<const T> b, PlacedView<T> x, const Solve& solve_all) const {
    on_host(ctx, b, x, [&](HostView<const T> from, HostView<T> to) {
      const Matrix<T> all = gathered_rows<T>(ctx_, from);
      Matrix<T> solved(all.rows(), all.cols());
      first_alone(ctx_, [&] { solve_all(alone(ctx), all.cview(), solved.view()); });
      scatter_rows<T>(ctx_, solved, to);
    });
  }

  Context ctx_;
  CsrMatrix<T> whole_;                       ///< on rank 0; values while they are factorised
  std::unique_ptr<DirectSolver<T>> solver_;  ///< on rank 0
  std::string by_;
  FactorEstimate estimate_;
  index_t negative_ = unknown;
  double moved_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_first_rank(const Context& ctx, CsrView<T> own, FactorKind kind,
                                                       DirectBackend backend, const std::vector<int>& order) {
  return std::make_unique<OfFirstRank<T>>(ctx, own, kind, backend, order);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, analyse_by_first_rank)

}  // namespace ts::inline v0::solvers
