#include <algorithm>

#include "tallskinny/solvers/kmeans/gathered_detail.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"
#include "tallskinny/solvers/kmeans/variants/variants_detail.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr std::uint64_t splits = 67;  // a stream of the restart

struct Leaf {
  std::vector<index_t> rows;
  Matrix<double> center;  ///< 1 x d
  double inertia = 0;
};

/// The two halves of a leaf: fewer when its rows are all alike.
std::vector<Leaf> split(const KMeansProblem& p, const KMeansOptions& options, const Leaf& leaf, std::uint64_t seed,
                        KMeansStop& stop) {
  const Gathered part(p, leaf.rows);
  KMeansOptions o = options;
  o.algorithm = KMeansAlgorithm::lloyd;
  o.clusters = 2, o.n_init = 1, o.seed = seed, o.weights = part.weights();
  o.on_state = {}, o.resume = nullptr;
  Matrix<double> first;
  if (options.split_centers) {
    first = options.split_centers(leaf.rows);
    o.init = KMeansInit::given, o.centers = first.cview();
  }
  const KMeansResult two = kmeans(p.ctx, part.rows(), o);
  if (two.stop == KMeansStop::interrupted) stop = two.stop;
  std::vector<Leaf> halves(2);
  for (index_t m = 0; m < 2; ++m) halves[at(m)].center = Matrix<double>::copy_of(two.centers.cview().rows(m, 1));
  std::vector<double> far(leaf.rows.size());
  own_squared_distances(p.ctx, part.rows(), two.centers.cview(), two.labels, far);
  for (std::size_t q = 0; q < leaf.rows.size(); ++q) {
    Leaf& half = halves[at(two.labels[q])];
    half.rows.push_back(leaf.rows[q]);
    half.inertia += p.weight(leaf.rows[q]) * far[q];
  }
  std::erase_if(halves, [](const Leaf& half) { return half.rows.empty(); });
  return halves;
}

}  // namespace

LloydRun bisecting(const KMeansProblem& p, const KMeansOptions& options, const LloydControl& control) {
  const Random seeds(options.seed, (static_cast<std::uint64_t>(control.run) << 8) + splits);
  KMeansOptions o = options;
  LloydRun run;
  run.stop = KMeansStop::labels_unchanged;
  std::vector<Leaf> leaves(1);
  for (index_t i = 0; i < p.rows(); ++i)
    if (p.weight(i) > 0) leaves[0].rows.push_back(i);  // the others have no say
  leaves[0].center = Matrix<double>::zeros(1, p.cols());
  leaves[0].inertia = 1;
  o.on_progress = [&](const KMeansProgress& step) {
    if (!options.on_progress || step.iteration == 0) return true;
    KMeansProgress now = step;
    now.run = control.run, now.runs = control.runs, now.clusters = p.k;
    now.iteration = ++run.n_iter;
    now.chosen = std::ssize(leaves);
    return options.on_progress(now);
  };
  if (p.k == 1)
    move_to_means(p, std::vector<std::int32_t>(at(p.rows())), leaves[0].center.view(), adjust_means(control.spherical));
  std::uint64_t number = 0;
  while (std::ssize(leaves) < p.k && run.stop != KMeansStop::interrupted) {
    const auto score = [&options](const Leaf& leaf) {
      if (leaf.rows.size() < 2 || leaf.inertia == 0) return 0.0;
      return options.split_largest ? static_cast<double>(leaf.rows.size()) : leaf.inertia;
    };
    const auto worst = std::max_element(leaves.begin(), leaves.end(),
                                        [&](const Leaf& a, const Leaf& b) { return score(a) < score(b); });
    if (score(*worst) == 0) break;
    std::vector<Leaf> halves = split(p, o, *worst, seeds.bits(number++), run.stop);
    if (halves.size() < 2) {
      halves.front().inertia = 0;  // the rows are one point
      *worst = std::move(halves.front());
      continue;
    }
    *worst = std::move(halves[0]);
    leaves.push_back(std::move(halves[1]));
  }
  run.centers = Matrix<double>(p.k, p.cols());
  for (index_t m = 0; m < p.k; ++m) {
    // Fewer points than clusters: the other centres equal the first.
    const Leaf& leaf = leaves[at(m < std::ssize(leaves) ? m : 0)];
    std::copy_n(leaf.center.data(), p.cols(), run.centers.data() + m * p.cols());
  }
  run.rescored = label_all(p, run.centers.cview(), control.scores, run.labels);
  run.n_iter = std::max(run.n_iter, 1);
  return run;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
