#include "tallskinny/solvers/kmeans/kmeans.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/directions_detail.hpp"
#include "tallskinny/solvers/kmeans/lloyd_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/sample_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/seeding_detail.hpp"
#include "tallskinny/solvers/kmeans/variants/variants_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

using namespace kmeans_detail;

void check_sizes(const Context& ctx, const RowSource& rows, const KMeansOptions& o, index_t k) {
  const index_t n = all_rows(ctx, rows.rows());
  const auto throw_unless = [](bool condition, const std::string& sentence) {
    if (!condition) throw Error(Errc::invalid_argument, sentence);
  };
  throw_unless(n >= 1, "there are no points to cluster");
  throw_unless(rows.cols() >= 1, "the points have no features (columns)");
  throw_unless(k >= 1, "the number of clusters must be at least 1");
  throw_unless(k <= n, "the number of clusters (" + std::to_string(k) + ") is larger than the number of points (" +
                           std::to_string(n) + ")");
  throw_unless(o.n_init >= 0, "the number of restarts (n_init) must not be negative");
  throw_unless(o.max_iter >= 1, "the number of iterations (max_iter) must be at least 1");
  throw_unless(o.tol >= 0, "the tolerance must not be negative");
  throw_unless(o.batch >= 1, "a batch must have at least 1 point");
  throw_unless(o.refine >= 0, "the number of refining iterations must not be negative");
  throw_unless(o.sample >= 0, "the number of points of a sample must not be negative");
  throw_unless(o.init != KMeansInit::given ||
                   (o.algorithm != KMeansAlgorithm::bisecting && o.algorithm != KMeansAlgorithm::two_level),
               "the bisecting and two-level algorithms choose their first centres themselves: none can be given");
  throw_unless(o.sample == 0 || iterates(o), "only Lloyd's and the two-level algorithm work on a sample");
  throw_unless(o.sample == 0 || (o.resume == nullptr && !o.on_state),
               "a run on a sample cannot be stopped and resumed");
  throw_unless(o.algorithm == KMeansAlgorithm::lloyd || (o.resume == nullptr && !o.on_state),
               "only Lloyd's algorithm can be stopped and resumed");
  throw_unless(o.algorithm != KMeansAlgorithm::balanced || rows.space() == Space::host,
               "the balanced algorithm needs points in host memory");
  throw_unless(ctx.communicator->size() == 1 || iterates(o) || o.algorithm == KMeansAlgorithm::mini_batch,
               "the bisecting and balanced algorithms run on one rank: they need all points in one place");
  if (o.init != KMeansInit::given) return;
  throw_unless(o.centers.rows() == k, "there are " + std::to_string(o.centers.rows()) + " given centres for " +
                                          std::to_string(k) + " clusters");
}

/// Control of each restart, without its number and functions.
LloydControl control_of(const KMeansProblem& p, const KMeansOptions& o) {
  LloydControl control{.max_iter = o.algorithm == KMeansAlgorithm::two_level ? o.refine : o.max_iter,
                       .spherical = o.metric == KMeansMetric::cosine,
                       .filter = o.filter,
                       .scores = scores_of(o.precision)};
  const std::vector<double>& variance = p.moments.variance;
  switch (o.tolerance) {
    case KMeansTolerance::absolute: control.squared_shift = o.tol; break;
    case KMeansTolerance::labels: break;
    case KMeansTolerance::relative:
      control.squared_shift =
          o.tol * (std::accumulate(variance.begin(), variance.end(), 0.0) / static_cast<double>(variance.size()));
      break;
    case KMeansTolerance::changed:
      control.changed = static_cast<index_t>(std::min(1.0, o.tol) * static_cast<double>(p.all_rows()));
      break;
  }
  return control;
}

SeedProgress progress_of(const KMeansProblem& p, const KMeansOptions& o, int run, int runs) {
  return [&o, k = p.k, run, runs](index_t count) {
    if (o.on_progress && !o.on_progress({.run = run, .runs = runs, .clusters = k, .chosen = std::min(count, k)}))
      throw Error(Errc::interrupted, "stopped while the first centres were chosen");
  };
}

Matrix<double> first_centers(const KMeansProblem& p, const KMeansOptions& o, int run, int runs) {
  const SeedProgress report = progress_of(p, o, run, runs);
  const auto stream = static_cast<std::uint64_t>(run) << 8;
  if (o.algorithm == KMeansAlgorithm::two_level) return two_level_centers(p, o, stream, report);
  Matrix<double> centers;
  switch (o.init) {
    case KMeansInit::plus_plus: centers = seed_plus_plus(p, o.seed, stream, {}, report); break;
    case KMeansInit::parallel: centers = seed_parallel(p, o.seed, stream, report); break;
    case KMeansInit::random: centers = seed_random(p, o.seed, stream); break;
    case KMeansInit::given: return usable_centers(p.cols(), o.centers, o.metric);
  }
  if (o.metric == KMeansMetric::cosine) normalise(centers.view());
  return centers;
}

/// Options whose functions all ranks call together and obey: one rank may ask to stop, or fail.
KMeansOptions agreed_options(const Context& ctx, const KMeansOptions& o) {
  KMeansOptions all = o;
  if (any_rank(ctx, static_cast<bool>(o.on_progress)))
    all.on_progress = [&ctx, &o](const KMeansProgress& now) {
      bool stop = false;
      agreed(ctx, [&] { stop = o.on_progress && !o.on_progress(now); });
      return !any_rank(ctx, stop);
    };
  if (any_rank(ctx, static_cast<bool>(o.on_state)))
    all.on_state = [&ctx, &o](const std::function<KMeansState()>& make) {
      agreed(ctx, [&] {
        if (o.on_state) o.on_state(make);
      });
    };
  return all;
}

/// The restarts for one number of clusters, and the best of them so far.
class Restarts {
 public:
  Restarts(const KMeansProblem& problem, const KMeansOptions& options, index_t k, const LloydControl& control)
      : o_(options), p_(problem) {
    p_.k = k;
    breathes_ = o_.n_init == 0 && o_.algorithm == KMeansAlgorithm::lloyd && !o_.on_state && o_.resume == nullptr &&
                (o_.init == KMeansInit::plus_plus || o_.init == KMeansInit::parallel) &&
                breathing_pays(p_.all_rows(), p_.cols(), k);
    if (o_.init == KMeansInit::given && o_.n_init > 1) {
      best_.notes.push_back("the given centres lead to one result: only one of " + std::to_string(o_.n_init) +
                            " restarts (n_init) was made");
    }
    for (int run = 0; run < runs(); ++run) {
      LloydControl& of_run = controls_.emplace_back(control);
      of_run.run = run, of_run.runs = runs(), of_run.on_progress = &o_.on_progress, of_run.on_state = &on_state_;
    }
    if (o_.on_state)
      on_state_ = [this](const std::function<KMeansState()>& make) {
        o_.on_state([this, &make] { return with_best(make()); });
      };
    if (o_.resume != nullptr) restore(*o_.resume);
  }

  [[nodiscard]] int runs() const { return o_.init == KMeansInit::given ? 1 : std::max(1, o_.n_init); }
  [[nodiscard]] int first_run() const { return o_.resume == nullptr ? 0 : o_.resume->run; }
  [[nodiscard]] Lloyd start(int run) {
    const LloydControl& control = controls_[at(run)];
    if (o_.resume != nullptr && run == o_.resume->run) return {p_, *o_.resume, control};
    return {p_, first(p_, run), control};
  }
  /// A run of an algorithm other than Lloyd's.
  [[nodiscard]] LloydRun other(int run) {
    const LloydControl& control = controls_[at(run)];
    const auto first = [&](const KMeansProblem& p) { return this->first(p, run); };
    if (o_.algorithm == KMeansAlgorithm::mini_batch) return mini_batch(p_, o_, first, control);
    if (o_.algorithm == KMeansAlgorithm::balanced) return balanced(p_, o_, first, control);
    return bisecting(p_, o_, control);
  }
  /// Keeps the better one. False when the run was interrupted.
  bool finish(int run, LloydRun found) {
    const double inertia = inertia_of(p_, found.centers.cview(), found.labels);
    best_.rescored += found.rescored;
    best_.skipped += found.skipped;
    const bool refined = o_.algorithm == KMeansAlgorithm::two_level && found.stop == KMeansStop::max_iterations;
    const KMeansStop stop = refined ? KMeansStop::refined : found.stop;
    if (!any_ || inertia < best_.inertia) {
      best_.labels = std::move(found.labels);
      best_.centers = std::move(found.centers);
      best_.inertia = inertia;
      best_.n_iter = found.n_iter;
      best_.relocated = found.relocated;
      best_.stop = stop;
      best_.run = run;
    }
    any_ = true;
    if (stop == KMeansStop::interrupted) best_.stop = stop;
    return stop != KMeansStop::interrupted;
  }
  [[nodiscard]] bool any() const noexcept { return any_; }
  void interrupt() noexcept { best_.stop = KMeansStop::interrupted; }
  [[nodiscard]] const KMeansProblem& problem() const noexcept { return p_; }

  [[nodiscard]] KMeansResult result() && {
    best_.sizes = sizes_of(p_.ctx, best_.labels, p_.k);
    best_.distinct = p_.k - std::count(best_.sizes.begin(), best_.sizes.end(), index_t{0});
    if (best_.distinct < p_.k)
      best_.notes.push_back("distinct clusters (" + std::to_string(best_.distinct) +
                            ") found smaller than n_clusters (" + std::to_string(p_.k) +
                            "): there may be fewer distinct points than that");
    return std::move(best_);
  }

 private:
  Matrix<double> first(const KMeansProblem& p, int run) {
    const Stopwatch watch;
    const FirstCenters one = [&](const KMeansProblem& of) { return first_centers(of, o_, run, runs()); };
    Matrix<double> centers =
        breathes_ ? breathe(p, one, o_.seed, controls_.front(), progress_of(p, o_, run, runs())) : one(p);
    best_.seeding_seconds += watch.seconds();
    return centers;
  }
  [[nodiscard]] KMeansState with_best(KMeansState s) const {
    if (!any_) return s;
    s.best_centers = Matrix<double>::copy_of(best_.centers.cview());
    s.best_inertia = best_.inertia, s.best_run = best_.run, s.best_n_iter = best_.n_iter;
    s.best_relocated = best_.relocated, s.best_stop = best_.stop;
    return s;
  }
  /// Labels are those of the nearest centre, so they need not be kept.
  void restore(const KMeansState& s) {
    agreed(p_.ctx, [&] {
      expects(s.centers.rows() == p_.k && s.centers.cols() == p_.cols() &&
                  static_cast<index_t>(s.labels.size()) == p_.rows() && s.run < runs(),
              "the state to resume belongs to other rows or options");
    });
    if (s.best_centers.rows() == 0) return;
    any_ = true;
    best_.centers = Matrix<double>::copy_of(s.best_centers.cview());
    best_.inertia = s.best_inertia, best_.run = s.best_run, best_.n_iter = s.best_n_iter;
    best_.relocated = s.best_relocated, best_.stop = s.best_stop;
    label_all(p_, best_.centers.cview(), scores_of(o_.precision), best_.labels);
  }

  const KMeansOptions& o_;
  KMeansProblem p_;
  std::deque<LloydControl> controls_;
  std::function<void(const std::function<KMeansState()>&)> on_state_;
  bool breathes_ = false;
  KMeansResult best_;
  bool any_ = false;
};

/// One run after the other. False when they were interrupted.
bool run_alone(Restarts& restarts, bool lloyd) {
  for (int run = restarts.first_run(); run < restarts.runs(); ++run) {
    std::vector<Lloyd> one;
    try {
      if (!lloyd) {
        if (!restarts.finish(run, restarts.other(run))) return false;
        continue;
      }
      one.push_back(restarts.start(run));
    } catch (const Error& e) {
      if (e.code() != Errc::interrupted || !restarts.any()) throw;
      restarts.interrupt();  // the best of the restarts before is what there is
      return false;
    }
    run_together(restarts.problem(), one);
    if (!restarts.finish(run, std::move(one.front()).result())) return false;
  }
  return true;
}

void tell_zero_rows(KMeansResult& result, index_t zero_rows) {
  result.zero_rows = zero_rows;
  if (zero_rows == 0) return;
  result.notes.insert(
      result.notes.begin(),
      std::to_string(zero_rows) + " points are zero and have no direction: they are in cluster 0 and weigh nothing");
}

}  // namespace

std::vector<KMeansResult> kmeans_of_each(const Context& ctx, const RowSource& rows, const KMeansOptions& given,
                                         std::span<const index_t> clusters) {
  const UseHostMemory use(ctx.host_memory);
  const cuda::KeepMemory keep(ctx.stream);
  expects(!clusters.empty(), "no number of clusters is given");
  const bool one_rank = ctx.communicator->size() == 1;
  const KMeansOptions of_ranks = one_rank ? KMeansOptions{} : agreed_options(ctx, given);
  const KMeansOptions& o = one_rank ? given : of_ranks;
  for (const index_t k : clusters) check_sizes(ctx, rows, o, k);
  const Directions normal(ctx, rows, o.weights, o.metric);
  if (o.init == KMeansInit::given) check_centers(rows.cols(), o.centers);
  KMeansProblem problem = normal.problem(0);
  const index_t zero_rows = normal.zero_rows();
  const auto weighs = [](double weight) { return weight > 0; };
  expects(zero_rows == 0 || any_rank(ctx, std::any_of(problem.weights.begin(), problem.weights.end(), weighs)),
          "all points (of positive weight) are zero and have no direction, which the cosine metric needs");
  problem.find_moments();
  if (rows.space() == Space::device)
    for (const index_t k : clusters) prepare_kmeans(ctx, rows.type(), rows.rows(), rows.cols(), k, o, &problem.moments);

  std::vector<KMeansResult> results;
  if (o.sample > 0) {
    for (const index_t k : clusters) {
      KMeansOptions of_k = o;
      of_k.clusters = k, of_k.sample = 0;
      const bool all = !takes_sample(o, problem.all_rows(), k);
      results.push_back(all ? kmeans(ctx, rows, of_k) : kmeans_of_sample(problem, of_k, o.sample * k));
      if (!all) tell_zero_rows(results.back(), zero_rows);
      if (results.back().stop == KMeansStop::interrupted) break;
    }
    return results;
  }
  std::deque<Restarts> each;
  for (const index_t k : clusters) each.emplace_back(problem, o, k, control_of(problem, o));
  const bool lloyd = iterates(o);
  const bool in_memory = !any_rank(ctx, !rows.in_memory());
  if (in_memory || !lloyd || o.on_state || o.resume != nullptr) {
    std::size_t done = 0;
    while (done < each.size() && run_alone(each[done], lloyd)) ++done;
    while (each.size() > done + 1) each.pop_back();
  } else {
    std::vector<Lloyd> runs;
    std::vector<std::pair<Restarts*, int>> whose;
    for (Restarts& restarts : each)
      for (int run = 0; run < restarts.runs(); ++run) {
        runs.push_back(restarts.start(run));
        whose.emplace_back(&restarts, run);
      }
    run_together(problem, runs);
    for (std::size_t q = 0; q < runs.size(); ++q) whose[q].first->finish(whose[q].second, std::move(runs[q]).result());
  }
  for (Restarts& restarts : each) {
    results.push_back(std::move(restarts).result());
    tell_zero_rows(results.back(), zero_rows);
  }
  return results;
}

KMeansResult kmeans(const Context& ctx, const RowSource& rows, const KMeansOptions& o) {
  return std::move(kmeans_of_each(ctx, rows, o, {&o.clusters, 1}).front());
}

KMeansResult kmeans(const Context& ctx, const Rows& rows, const KMeansOptions& o) {
  return kmeans(ctx, RowsInMemory(rows), o);
}

}  // namespace ts::inline v0::solvers
