#include "tallskinny/solvers/eigen/krylov_schur.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tallskinny/gemm/backend/profile.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/eigen/schur.hpp"
#include "tallskinny/solvers/eigen/transform.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Up to this many rows the basis may hold the whole space: then everything is computed.
constexpr index_t whole_rows = 200;

/// Rises from the first wanted to the last.
double key_of(Part part, Complex z) {
  switch (part) {
    case Part::LM:
      return -std::abs(z);
    case Part::LR:
      return -z.real();
    case Part::SR:
      return z.real();
    case Part::LI:
      return -std::abs(z.imag());
    case Part::SI:
      return std::abs(z.imag());
  }
  return 0;
}

template <class T>
class KrylovSchur {
 public:
  KrylovSchur(const Context& ctx, const Operator<T>& a, const GeneralOptions& options,
              HostView<const T> initial)
      : ctx_(ctx),
        a_(a),
        options_(options),
        n_(a.rows()),
        nev_(std::min(options.common.nev, n_)),
        block_(std::clamp<index_t>(options.common.block_size > 0 ? options.common.block_size : 4, 1,
                                   std::max<index_t>(n_, 1))),
        width_(std::max(block_, std::min(initial.cols(), n_))),
        most_(most_columns()),
        basis_(ctx, a, most_ + width_, options.common.seed, false),
        initial_(initial) {
    accept_.tol = options.common.tol, accept_.convergence = options.common.convergence, accept_.rows = n_;
    steps_allowed_ = options.common.max_iterations > 0 ? options.common.max_iterations : 20000;
  }

  GeneralResult run() {
    out_.block_size = block_, out_.max_basis = most_;
    basis_.start(initial_, block_);
    for (int attempt = 0; attempt < 4; ++attempt) {
      iterate();
      finish();
      if (out_.stop != StopReason::converged || out_.converged_count == wanted_) break;
      accept_.tol *= 0.1;  // estimates were met but the residuals from A are not
      out_.stop = StopReason::rounding;
    }
    conclude();
    return std::move(out_);
  }

 private:
  enum class Stage { reached, entered, budget, interrupted };

  [[nodiscard]] index_t most_columns() const {
    if (n_ <= whole_rows) return n_;
    const index_t chosen = std::max(2 * nev_ + 8 * width_, nev_ + 20 * width_), least = nev_ + 1 + 4 * width_;
    const index_t asked = options_.common.max_basis;
    if (asked > 0)
      expects(asked >= std::min(least, n_), "--max-basis must be at least nev + 1 + 4 blocks (--block-size)");
    return std::min(n_, asked > 0 ? asked : chosen);
  }

  [[nodiscard]] Stage may_go_on() const {
    if (options_.common.stop && options_.common.stop()) return Stage::interrupted;
    return basis_.steps() >= steps_allowed_ ? Stage::budget : Stage::reached;
  }

  /// The Schur form of what V holds, wanted first, with the residuals of its eigenvectors.
  void decompose() {
    const Profile::Piece piece(ctx_, "projected problems", {}, std::nullopt);
    const auto& h = basis_.projected();
    if (!ortho::all_finite(h.cview()))
      throw Error(Errc::bad_input, "the operator gave NaN or Inf for a finite block");
    schur_ = schur_of<T>(h.cview());
    sort_schur(schur_, [this](Complex z) { return key_of(options_.part, z); });
    wanted_ = whole_units(std::min(nev_, schur_.size()));
    for (index_t i = 0; i < schur_.size(); ++i) basis_.note_norm(std::abs(schur_.value(i)));
    accept_.norm = accept_.largest = basis_.norm();
    const index_t looked_at = whole_units(std::min(wanted_ + 1, schur_.size()));
    pairs_ = eigenvectors_of(schur_, looked_at);
    residuals_.assign(at(looked_at), 0.0);
    const auto& b = basis_.coupling();
    for (index_t j = 0; j < looked_at; ++j) {
      double sum = 0;
      for (index_t i = 0; i < b.rows(); ++i) {
        Complex c = 0;
        for (index_t l = 0; l < b.cols(); ++l) c += b(i, l) * pairs_.vectors(l, j);
        sum += std::norm(c);
      }
      residuals_[at(j)] = std::sqrt(sum);
    }
  }

  /// k, or k + 1 where k would separate a pair.
  [[nodiscard]] index_t whole_units(index_t k) const {
    index_t end = 0;
    for (const index_t size : schur_.units) {
      if (end >= k) break;
      end += size;
    }
    return end;
  }

  void look(bool verifying) {
    HistoryEntry entry{basis_.steps(), basis_.applications(), 0, 0, verifying};
    bool prefix = true;
    for (index_t j = 0; j < wanted_ && !verifying; ++j) {
      entry.ratios.push_back(accept_.ratio(std::abs(schur_.value(j)), residuals_[at(j)]));
      entry.worst = std::max(entry.worst, entry.ratios.back());
      prefix = prefix && entry.ratios.back() <= 1;
      entry.converged += prefix ? 1 : 0;
    }
    if (verifying) entry.converged = nev_;
    out_.history.push_back(entry);
    if (!options_.common.progress) return;
    Progress p;
    p.phase = verifying ? "verify" : "search";
    p.iteration = entry.iteration, p.max_iterations = steps_allowed_;
    p.operator_applications = entry.operator_applications, p.converged = entry.converged, p.wanted = nev_;
    p.worst = entry.worst, p.fraction = static_cast<double>(entry.converged) / static_cast<double>(nev_);
    options_.common.progress(p);
  }

  void keep(index_t k) {
    const auto s = leading_basis<T>(schur_, k);
    basis_.compress(s.cview());
  }

  Stage search() {
    for (;;) {
      const Stage stage = may_go_on();
      const bool last = stage != Stage::reached || basis_.exhausted();
      if (!last && basis_.can_expand()) {
        basis_.expand();
        continue;
      }
      decompose();
      look(false);
      if (basis_.exhausted() || (schur_.size() >= nev_ && out_.history.back().converged >= wanted_))
        return Stage::reached;
      if (last) return stage;
      const index_t extra = (schur_.size() - wanted_) * 2 / 5;
      keep(whole_units(std::min(wanted_ + extra, schur_.size() - 2 * basis_.width())));
      ++out_.restarts;
    }
  }

  /// A fresh random block in the complement of the wanted, which are locked.
  Stage verify() {
    const double last = key_of(options_.part, schur_.value(wanted_ - 1));
    const double slack = std::max(100 * unit_roundoff * accept_.norm, residuals_[at(wanted_ - 1)]);
    // All columns of the random block miss what leads the complement with a probability of about this to
    // their number.
    const double trust = std::pow(1e-10, 1 / static_cast<double>(block_));
    keep(wanted_);
    const auto saved = basis_.save();
    basis_.lock_and_refresh(block_);
    const index_t wanted = wanted_;
    ++out_.verification_rounds;
    Stage stage = Stage::reached;
    Matrix<T> missing(n_, 0);
    while (!basis_.exhausted()) {
      stage = may_go_on();
      if (stage != Stage::reached) break;
      if (!basis_.can_expand()) {
        keep(whole_units(schur_.size() / 2));
        ++out_.restarts;
      }
      basis_.expand();
      if (basis_.can_expand() && !basis_.exhausted() && basis_.size() % (2 * block_) != 0) continue;
      decompose();
      look(true);
      const double ahead =
          last - key_of(options_.part, schur_.value(0));  // positive: comes before the last wanted
      const bool settled = accept_.ratio(std::abs(schur_.value(0)), residuals_[0]) <= 1;
      if (ahead > slack && (settled || residuals_[0] <= trust * ahead / pairs_.conditions[0])) {
        stage = Stage::entered;
        const index_t take = whole_units(1);
        const auto s = leading_basis<T>(schur_, take);
        missing = basis_.combine(s.cview()).to_host(ctx_);
        break;
      }
      if (settled || (ahead < 0 && residuals_[0] <= trust * -ahead / pairs_.conditions[0])) break;
    }
    basis_.unlock(saved);
    if (stage == Stage::entered) {
      // The new direction joins F while there is room for restarts; otherwise F, which is as small as the
      // tolerance, makes place.
      if (basis_.size() + 4 * (basis_.width() + missing.cols()) > most_) {
        typename KrylovBasis<T>::Saved bare{Matrix<T>(n_, 0), Matrix<T>::copy_of(saved.h.cview()),
                                            Matrix<T>(0, saved.h.cols()), block_};
        basis_.lock_and_refresh(0);
        basis_.unlock(bare);
      }
      basis_.widen(missing.cview());
    }
    decompose();
    wanted_ = stage == Stage::entered ? wanted_ : wanted;
    return stage;
  }

  void iterate() {
    for (;;) {
      Stage stage = search();
      if (stage == Stage::reached) {
        out_.stop = StopReason::converged;
        found_applications_ = basis_.applications();
        if (basis_.exhausted()) {
          out_.verification = Verification::all_computed;
          return;
        }
        if (!options_.common.verify) return;
        stage = verify();
        if (stage == Stage::entered) continue;
        if (stage == Stage::reached) {
          out_.verification = Verification::random_block;
          return;
        }
        out_.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::not_verified;
        return;
      }
      out_.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::max_iterations;
      return;
    }
  }

  /// X = V Y and its residuals, from A.
  void finish() {
    const index_t k = std::min(wanted_, schur_.size());
    out_.values.clear(), out_.residual_norms.assign(at(k), 0.0), out_.converged_pairs.assign(at(k), false);
    out_.conditions.assign(pairs_.conditions.begin(), pairs_.conditions.begin() + k);
    out_.vectors = Matrix<Complex>(n_, k);
    // Parts of the coefficients in the arithmetic of the operator: [Re Y, Im Y], or Y itself.
    const index_t m = schur_.size(), parts = is_complex<T> ? k : 2 * k;
    Matrix<T> y(m, parts), ax(n_, parts);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < k; ++j)
        if constexpr (is_complex<T>)
          y(i, j) = pairs_.vectors(i, j);
        else
          y(i, j) = pairs_.vectors(i, j).real(), y(i, k + j) = pairs_.vectors(i, j).imag();
    const auto x = basis_.combine(y.cview()).to_host(ctx_);
    a_.apply(ctx_, x.cview(), ax.view());
    extra_applications_ += parts;
    const auto entry = [&](const Matrix<T>& z, index_t i, index_t j) -> Complex {
      if constexpr (is_complex<T>)
        return z(i, j);
      else
        return {z(i, j), z(i, k + j)};
    };
    out_.converged_count = 0;
    for (index_t j = 0; j < k; ++j) {
      double squares = 0, off = 0;
      for (index_t i = 0; i < n_; ++i) squares += std::norm(entry(x, i, j));
      const double length = std::sqrt(squares);
      const Complex theta = schur_.value(j);
      for (index_t i = 0; i < n_; ++i) {
        out_.vectors(i, j) = entry(x, i, j) / length;
        off += std::norm((entry(ax, i, j) - theta * entry(x, i, j)) / length);
      }
      out_.values.push_back(theta);
      out_.residual_norms[at(j)] = std::sqrt(off);
      Acceptance asked = accept_;
      asked.tol = options_.common.tol;
      out_.converged_pairs[at(j)] = out_.residual_norms[at(j)] <= asked.bound(std::abs(theta));
      out_.converged_count += out_.converged_pairs[at(j)] ? 1 : 0;
    }
  }

  void conclude() {
    auto& r = out_;
    r.iterations = basis_.steps(), r.norm = accept_.norm;
    r.operator_applications = basis_.applications() + extra_applications_;
    if (found_applications_ > 0) r.verification_applications = basis_.applications() - found_applications_;
    r.converged = r.converged_count == wanted_ && wanted_ >= nev_;
    if (r.converged && r.stop == StopReason::rounding) r.stop = StopReason::converged;
    if (!r.converged && r.stop == StopReason::converged) r.stop = StopReason::rounding;
    // An eigenvalue that rounding of A alone moves, to first order, by a thousandth of ||A|| is not known,
    // however small its residual.
    constexpr double hopeless = 1e-3 / unit_roundoff;
    const double worst =
        r.conditions.empty() ? 1 : *std::max_element(r.conditions.begin(), r.conditions.end());
    r.verified = r.converged && r.verification != Verification::none && worst < hopeless;
    r.reason = std::to_string(r.converged_count) + " of " + std::to_string(wanted_) + " pairs converged";
    if (wanted_ > nev_) r.reason += " (one more than asked for, so as not to separate a conjugate pair)";
    if (r.stop == StopReason::max_iterations)
      r.reason += " within the block steps allowed: raise --max-iter or --max-basis";
    if (r.stop == StopReason::interrupted) r.reason += "; stopped on request";
    if (r.stop == StopReason::rounding) r.reason += "; residuals do not get smaller: ask for a larger --tol";
    if (r.stop == StopReason::not_verified)
      r.reason +=
          ", but the block steps allowed ended before a search for missing values did: raise --max-iter";
    if (r.verified && r.verification == Verification::all_computed)
      r.reason += "; complete, for the whole spectrum was computed";
    else if (r.verified)
      r.reason +=
          "; complete as far as a search from fresh random blocks can tell, which for a matrix far from "
          "normal is "
          "less than for a Hermitian one";
    if (!(worst < hopeless))
      r.reason +=
          "; the matrix is so far from normal that rounding decides where these eigenvalues are: none can be "
          "vouched for";
    else if (worst > 1e4)
      r.reason +=
          "; eigenvalues are ill-conditioned: errors may be larger than the residuals by the numbers given "
          "as conditions";
  }

  const Context& ctx_;
  const Operator<T>& a_;
  const GeneralOptions& options_;
  index_t n_, nev_, block_, width_, most_;
  KrylovBasis<T> basis_;
  HostView<const T> initial_;
  Acceptance accept_;
  Schur schur_;
  SchurVectors pairs_;
  std::vector<double> residuals_;
  index_t wanted_ = 0, steps_allowed_ = 0, found_applications_ = 0, extra_applications_ = 0;
  GeneralResult out_;
};

}  // namespace

template <class T>
GeneralResult solve_general(const Context& ctx, const Operator<T>& a, const GeneralOptions& options,
                            HostView<const T> initial) {
  expects(options.common.nev >= 1, "--nev must be at least 1");
  expects(options.common.convergence != Convergence::root, "convergence `root` belongs to singular values");
  expects(initial.cols() == 0 || initial.rows() == a.rows(),
          "the block of initial vectors has another number of rows than the matrix");
  if (a.rows() == 0) {
    GeneralResult none;
    none.converged = none.verified = true, none.verification = Verification::all_computed;
    none.stop = StopReason::converged, none.reason = "the matrix has no rows, so no eigenvalues";
    return none;
  }
  Context own = ctx;
  if (a.rows() < threaded_rows) own.threads = 1;
  return KrylovSchur<T>(own, a, options, initial).run();
}

template GeneralResult solve_general<double>(const Context&, const Operator<double>&, const GeneralOptions&,
                                             HostView<const double>);
template GeneralResult solve_general<Complex>(const Context&, const Operator<Complex>&, const GeneralOptions&,
                                              HostView<const Complex>);

}  // namespace ts::solvers
