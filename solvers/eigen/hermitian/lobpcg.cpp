#include "tallskinny/solvers/eigen/hermitian/lobpcg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/ortho/skeleton.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

constexpr index_t verification_block = 8;
/// Images A S are updated by recurrence; this often they are computed again.
constexpr index_t refresh_steps = 25;

}  // namespace

template <class T>
Lobpcg<T>::Lobpcg(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                  const EigenPlan& plan, HostView<const T> initial)
    : ctx_(ctx),
      problem_(problem),
      options_(options),
      plan_(plan),
      initial_(initial),
      sign_(options.which == Which::SA ? 1 : -1),
      limit_(plan.method == Method::davidson ? plan.max_basis : 0),
      batch_(plan.block_size),
      next_(std::numeric_limits<double>::quiet_NaN()) {
  accept_.tol = options.tol, accept_.convergence = options.convergence, accept_.rows = problem.a.rows();
}

template <class T>
void Lobpcg<T>::reserve(index_t columns) {
  if (s_.cols() >= columns) return;
  Matrix<T> s(accept_.rows, columns), as(accept_.rows, columns);
  const index_t used = l_ + x_ + p_;
  if (used > 0) {
    copy_block<T>(ctx_, s_.cview().cols(0, used), s.view().cols(0, used));
    copy_block<T>(ctx_, as_.cview().cols(0, used), as.view().cols(0, used));
  }
  s_ = std::move(s), as_ = std::move(as);
}

/// X = an orthonormal basis of `block` in the complement of L, with its Ritz pairs.
template <class T>
void Lobpcg<T>::start(HostView<const T> block) {
  x_ = p_ = 0;
  c_ = {};
  const index_t width = std::min(block.cols(), accept_.rows - l_);
  reserve(l_ + 3 * width);
  copy_block<T>(ctx_, block.cols(0, width), s(0, width));
  Matrix<T> c(l_, width), r(width, width);
  const auto e = ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, s_.cview().cols(0, l_), s(0, width),
                                          c.view(), r.view());
  problem_.a.apply(ctx_, HostView<const T>(s(0, e.rank)), as(0, e.rank));
  applications_ += e.rank;
  x_ = e.rank;
  project(e.rank);
}

template <class T>
void Lobpcg<T>::project(index_t width) {
  // `width` columns of X; p_ and what follows were appended by the caller.
  const index_t m = x_ + p_;
  Matrix<T> h(m, m);
  tsmttsm(ctx_, Op::adjoint, T{1}, HostView<const T>(s(0, m)), HostView<const T>(as(0, m)), T{0}, h.view());
  const auto e = ortho::hermitian_eigen<T>(h.cview());
  if (!(std::isfinite(e.values.empty() ? 0 : e.values.front())))
    throw Error(Errc::bad_input, "the operator or the preconditioner gave NaN or Inf for a finite block");
  const index_t old = std::min(x_, m);
  Matrix<T> c(m, width);
  values_.resize(at(width));
  for (index_t j = 0; j < width; ++j) {
    const index_t from = sign_ > 0 ? j : m - 1 - j;
    values_[at(j)] = e.values[at(from)];
    for (index_t i = 0; i < m; ++i) c(i, j) = e.vectors(i, from);
  }
  if (m + batch_ <= limit_) {  // room for another step
    x_ = width, p_ = m - width, c_ = std::move(c);
    current_ = Matrix<T>(accept_.rows, width), image_ = Matrix<T>(accept_.rows, width);
    tsmm(ctx_, Op::none, T{1}, HostView<const T>(s(0, m)), c_.cview(), T{0}, current_.view());
    tsmm(ctx_, Op::none, T{1}, HostView<const T>(as(0, m)), c_.cview(), T{0}, image_.view());
  } else {
    // LOBPCG: what the new X has outside of the old one. A grown basis: the old X.
    Matrix<T> beside = Matrix<T>::copy_of(c.cview());
    for (index_t j = 0; j < width; ++j)
      if (limit_ == 0) {
        for (index_t i = 0; i < old; ++i) beside(i, j) = T{};
      } else {
        for (index_t i = 0; i < m; ++i)
          beside(i, j) = i < c_.rows() && j < c_.cols() ? c_(i, j) : T(c_.cols() == 0 && i == j ? 1 : 0);
      }
    if (p_ == 0) beside = Matrix<T>(m, 0);
    compress(c, std::move(beside));
  }
  Matrix<T> residual(accept_.rows, x_);
  const auto now = x(), image = ax();
  for (index_t i = 0; i < accept_.rows; ++i)
    for (index_t j = 0; j < x_; ++j) residual(i, j) = image(i, j) - values_[at(j)] * now(i, j);
  residuals_.resize(at(x_));
  column_norms(ctx_, residual.cview(), std::span<double>(residuals_));
}

template <class T>
void Lobpcg<T>::compress(const Matrix<T>& c, Matrix<T> beside) {
  // Of m directions no more than m - width lie beside C, whatever rounding makes of it.
  const index_t m = c.rows(), width = c.cols(), most = std::min(beside.cols(), m - width);
  Matrix<T> t(width, most), r(most, most), both(m, width + most);
  const index_t p = most == 0 ? 0
                              : ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, c.cview(),
                                                         beside.view().cols(0, most), t.view(), r.view())
                                    .rank;
  ortho::copy<T>(c.cview(), both.view().cols(0, width));
  ortho::copy<T>(beside.cview().cols(0, p), both.view().cols(width, p));
  const auto coefficients = both.cview().cols(0, width + p);
  Matrix<T> image(accept_.rows, width + p);
  for (const auto& basis : {s(0, m), as(0, m)}) {
    tsmm(ctx_, Op::none, T{1}, HostView<const T>(basis), coefficients, T{0}, image.view());
    copy_block<T>(ctx_, image.cview(), basis.cols(0, width + p));
  }
  x_ = width, p_ = p;
  c_ = {};
}

template <class T>
void Lobpcg<T>::settle() {
  if (c_.cols() == 0) return;
  const Matrix<T> c = std::move(c_);
  compress(c, Matrix<T>(c.rows(), 0));
}

/// Appends W and projects; false when nothing new could be appended.
template <class T>
bool Lobpcg<T>::step() {
  std::vector<index_t> active;
  for (index_t j = 0; j < x_ && (limit_ == 0 || static_cast<index_t>(active.size()) < batch_); ++j)
    if (accept_.ratio(values_[at(j)], residuals_[at(j)]) > 1) active.push_back(j);
  const index_t before = l_ + x_ + p_;
  const index_t width = std::min(static_cast<index_t>(active.size()), accept_.rows - before);
  if (width <= 0) return false;
  ++steps_;
  reserve(l_ + std::max(3 * std::max(x_, plan_.block_size), x_ + p_ + batch_));
  if (steps_ % refresh_steps == 0) {
    problem_.a.apply(ctx_, HostView<const T>(s(0, x_ + p_)), as(0, x_ + p_));
    applications_ += x_ + p_;
  }
  Matrix<T> residual(accept_.rows, width);
  const auto now = x(), image = ax();
  for (index_t i = 0; i < accept_.rows; ++i)
    for (index_t j = 0; j < width; ++j) {
      const index_t from = active[at(j)];
      residual(i, j) = image(i, from) - values_[at(from)] * now(i, from);
    }
  const auto w = s(x_ + p_, width);
  if (problem_.preconditioner) {
    problem_.preconditioner->apply(ctx_, residual.cview(), w);
  } else {
    copy_block<T>(ctx_, residual.cview(), w);
  }
  Matrix<T> c(before, width), r(width, width);
  const auto e =
      ortho::orthonormalise<T>(ctx_, ortho::BcgsiPlusA{}, s_.cview().cols(0, before), w, c.view(), r.view());
  if (e.rung == ortho::Rung::failed)
    throw Error(Errc::bad_input, "the operator or the preconditioner gave NaN or Inf for a finite block");
  dead_ += e.dead;
  if (e.rank == 0) return false;
  problem_.a.apply(ctx_, HostView<const T>(w.cols(0, e.rank)), as(x_ + p_, e.rank));
  applications_ += e.rank;
  p_ += e.rank;
  project(x_);
  return true;
}

template <class T>
typename Lobpcg<T>::Stage Lobpcg<T>::may_go_on() const {
  if (options_.stop && options_.stop()) return Stage::interrupted;
  return steps_ >= plan_.max_iterations ? Stage::budget : Stage::reached;
}

template <class T>
void Lobpcg<T>::look(EigenResult<T>& record, bool verifying) const {
  HistoryEntry entry{steps_, applications_, 0, 0, verifying};
  bool prefix = true;
  for (index_t j = 0; j < std::min(plan_.nev, x_) && !verifying; ++j) {
    entry.ratios.push_back(accept_.ratio(values_[at(j)], residuals_[at(j)]));
    entry.worst = std::max(entry.worst, entry.ratios.back());
    prefix = prefix && entry.ratios.back() <= 1;
    entry.converged += prefix ? 1 : 0;
  }
  if (verifying) entry.converged = plan_.nev;
  record.history.push_back(entry);
  if (!options_.progress) return;
  Progress p;
  p.phase = verifying ? "verify" : "search";
  p.iteration = steps_, p.max_iterations = plan_.max_iterations, p.operator_applications = applications_;
  p.converged = entry.converged, p.wanted = plan_.nev, p.worst = entry.worst;
  p.fraction = static_cast<double>(entry.converged) / static_cast<double>(plan_.nev);
  options_.progress(p);
}

template <class T>
typename Lobpcg<T>::Stage Lobpcg<T>::search(EigenResult<T>& record) {
  for (;;) {
    look(record, false);
    if (record.history.back().converged >= plan_.nev) return Stage::reached;
    const Stage stage = may_go_on();
    if (stage != Stage::reached) return stage;
    if (!step()) return Stage::stagnated;
  }
}

template <class T>
bool Lobpcg<T>::count_settles() const {
  if (!problem_.count_below) return false;
  FoundSet found;
  found.n = accept_.rows, found.norm = accept_.norm;
  found.values.assign(values_.begin(), values_.begin() + plan_.nev);
  found.errors.assign(residuals_.begin(), residuals_.begin() + plan_.nev);
  for (const double v : found.values) found.tolerance = std::max(found.tolerance, accept_.bound(v));
  const double next = plan_.nev < x_ ? values_[at(plan_.nev)] : std::numeric_limits<double>::quiet_NaN();
  Ends ends{plan_.nev, 0};
  if (sign_ < 0) {
    std::reverse(found.values.begin(), found.values.end());
    std::reverse(found.errors.begin(), found.errors.end());
    found.next_high = next, ends = {0, plan_.nev};
  } else {
    found.next_low = next;
  }
  return count_ends(found, options_.which, ends, problem_.count_below);
}

/// A fresh random block in the complement of what is found.
template <class T>
typename Lobpcg<T>::Stage Lobpcg<T>::verify(EigenResult<T>& record) {
  settle();
  const double threshold = values_[at(plan_.nev - 1)];
  const double slack = std::max(100 * unit_roundoff * accept_.norm, residuals_[at(plan_.nev - 1)]);
  // Guards whose residual r is small against their distance d are locked as well: they hide at most r^2 / d.
  index_t locked = plan_.nev;
  double hidden = 0;
  for (; locked < x_; ++locked) {
    const double d = inwards(values_[at(locked)], threshold), r = residuals_[at(locked)];
    if (!(accept_.ratio(values_[at(locked)], r) <= 1 || r <= 0.1 * d)) break;
    if (d > slack) hidden += r * r / d;
  }
  const auto values = values_, residuals = residuals_;
  const index_t found = x_;
  const Matrix<T> rest = Matrix<T>::copy_of(HostView<const T>(s(locked, found - locked)));
  l_ += locked, x_ = p_ = 0;
  const index_t width = std::min(verification_block, accept_.rows - l_);
  const double trust = std::pow(1e-10, 1.0 / static_cast<double>(width));
  Matrix<T> block(accept_.rows, width);
  fill_random<T>(ctx_, options_.seed, ++stream_, block.view());
  start(block.cview());
  ++record.verification_rounds;

  Stage stage = Stage::reached;
  for (;;) {
    look(record, true);
    if (x_ == 0) break;  // nothing is left outside
    const double leading = values_.front(), r = residuals_.front(), distance = inwards(leading, threshold);
    if (distance < -slack) {
      stage = Stage::entered;
      break;
    }
    if ((r <= trust * distance && hidden <= 0.5 * distance) || accept_.ratio(leading, r) <= 1) break;
    stage = may_go_on();
    if (stage != Stage::reached) break;
    if (!step()) break;
  }
  const double outside = x_ > 0 ? values_.front() : std::numeric_limits<double>::quiet_NaN();
  settle();
  // X and what was locked side by side again. When something entered, the block stays this much wider.
  l_ -= locked;
  p_ = 0;
  if (stage == Stage::entered) {
    x_ += locked;
    project(x_);
    Matrix<T> wider(accept_.rows, x_ + rest.cols());
    copy_block<T>(ctx_, HostView<const T>(s(0, x_)), wider.view().cols(0, x_));
    copy_block<T>(ctx_, rest.cview(), wider.view().cols(x_, rest.cols()));
    start(wider.cview());
    return stage;
  }
  x_ = locked;
  values_.assign(values.begin(), values.begin() + locked);
  residuals_.assign(residuals.begin(), residuals.begin() + locked);
  next_ =
      locked > plan_.nev && inwards(values_[at(plan_.nev)], outside) < 0 ? values_[at(plan_.nev)] : outside;
  return stage;
}

template <class T>
LanczosOutcome<T> Lobpcg<T>::run(EigenResult<T>& record) {
  if (x_ == 0) {
    accept_.norm = estimate_norm(ctx_, problem_.a, options_.seed, applications_);
    const index_t width = std::max(limit_ > 0 ? with_guards(plan_.nev) : plan_.block_size, initial_.cols());
    Matrix<T> block(accept_.rows, width);
    fill_random<T>(ctx_, options_.seed, stream_, block.view());
    if (initial_.cols() > 0) copy_block<T>(ctx_, initial_, block.view().cols(0, initial_.cols()));
    start(block.cview());
  }
  LanczosOutcome<T> out;
  out.next_value = std::numeric_limits<double>::quiet_NaN();
  for (;;) {
    Stage stage = search(record);
    if (stage == Stage::reached) {
      out.stop = StopReason::converged;
      found_at_ = applications_;
      if (plan_.nev < x_) next_ = values_[at(plan_.nev)];
      if (!options_.verify) break;
      if (count_settles()) {
        out.verification = Verification::inertia;
        break;
      }
      stage = verify(record);
      if (stage == Stage::entered) continue;
      if (stage == Stage::reached)
        out.verification = Verification::random_block;
      else
        out.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::not_verified;
      break;
    }
    out.stop = stage == Stage::interrupted ? StopReason::interrupted
               : stage == Stage::stagnated ? StopReason::rounding
                                           : StopReason::max_iterations;
    break;
  }
  settle();
  record.iterations = steps_, record.dead_directions = dead_, record.norm = accept_.norm;
  record.operator_applications = applications_;
  if (found_at_ > 0) record.verification_applications = applications_ - found_at_;
  out.vectors = Matrix<T>::copy_of(HostView<const T>(s(0, std::min(plan_.nev, x_))));
  out.next_value = next_;
  return out;
}

#define TS_INSTANTIATE(T) template class Lobpcg<T>;
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
