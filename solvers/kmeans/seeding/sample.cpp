#include "tallskinny/solvers/kmeans/seeding/sample_detail.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/seeding/seeding_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr std::uint64_t sampled = 200;  // a stream beside those of restarts

bool has_sparse_rows(const KMeansProblem& p) {
  bool sparse = false;
  if (p.source.in_memory() && p.source.space() == Space::host)
    p.source.for_each_block([&](index_t, const Rows& block) { sparse = block.sparse(); });
  return any_rank(p.ctx, sparse);
}

}  // namespace

Sample::Sample(const KMeansProblem& p, std::span<const index_t> numbers) : ctx_(p.ctx), count_(std::ssize(numbers)) {
  KMeansProblem raw{p.ctx, p.source, {}, p.weights};
  raw.weighted_elsewhere = p.weighted_elsewhere;
  if (has_sparse_rows(p))
    sparse_.emplace(raw, numbers);
  else
    dense_.emplace(raw, numbers);
  if (p.weighted()) weights_ = raw.weights_at(numbers);
  if (!p.distributed()) return;
  const int ranks = ctx_.communicator->size(), rank = ctx_.communicator->rank();
  ctx_.slabs = RowSlabs::of_pieces(count_, ranks, chunk_rows);
  first_ = ctx_.slabs.begin(rank), count_ = ctx_.slabs.rows(rank);
}

std::vector<index_t> drawn_rows(const KMeansProblem& p, const Random& random, index_t count) {
  // Takes the rows with the least numbers. Few more than `count` are expected below the limit, which grows until there
  // are enough.
  const auto wanted = static_cast<double>(count);
  const index_t first = p.first_row();
  for (double limit = (wanted + 8 * std::sqrt(wanted) + 8) / static_cast<double>(p.all_rows());; limit *= 4) {
    std::vector<index_t> rows = rows_in_order(p, [&](index_t i) {
      const double number = random.uniform(static_cast<std::uint64_t>(first + i));
      return number < limit && p.weight(i) > 0 ? std::optional(number) : std::nullopt;
    });
    if (std::ssize(rows) < count && limit < 1) continue;
    rows.resize(at(std::min(count, std::ssize(rows))));
    std::sort(rows.begin(), rows.end());
    return rows;
  }
}

KMeansResult kmeans_of_sample(const KMeansProblem& p, const KMeansOptions& o, index_t count) {
  std::vector<index_t> numbers = drawn_rows(p, Random(o.seed, sampled), count);
  if (std::ssize(numbers) < o.clusters)
    throw Error(Errc::invalid_argument, "the number of clusters (" + std::to_string(o.clusters) +
                                            ") is larger than the number of points of positive weight (" +
                                            std::to_string(numbers.size()) + "), from which a sample is drawn");
  const Sample sample(p, numbers);
  KMeansOptions of_sample = o;
  of_sample.weights = sample.weights();
  KMeansResult r = kmeans(sample.context(), sample.rows(), of_sample);
  r.sampled = std::ssize(numbers);
  r.rescored += label_all(p, r.centers.cview(), scores_of(o.precision), r.labels);
  r.inertia = inertia_of(p, r.centers.cview(), r.labels);
  r.sizes = sizes_of(p.ctx, r.labels, o.clusters);
  r.distinct = o.clusters - std::count(r.sizes.begin(), r.sizes.end(), index_t{0});
  return r;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
