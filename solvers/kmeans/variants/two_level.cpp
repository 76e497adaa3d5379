#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/seeding/sample_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

constexpr std::uint64_t levels = 201;    // a stream of the restart
constexpr index_t rows_of_coarse = 256;  // in the sample, for each coarse cluster

/// Shares of k centres by size: one for each cluster that has rows, then one after the other to where most rows share
/// one, as long as there are more rows than centres.
std::vector<index_t> shares_of(std::span<const index_t> sizes, index_t k) {
  std::vector<index_t> shares(sizes.size());
  std::vector<std::pair<double, index_t>> heap;  // rows of a centre, the most on top
  for (std::size_t q = 0; q < sizes.size(); ++q)
    if (sizes[q] > 0) heap.emplace_back(static_cast<double>(sizes[q]), -static_cast<index_t>(q)), shares[q] = 1, --k;
  std::make_heap(heap.begin(), heap.end());
  for (; k > 0 && heap.front().first > 1; --k) {
    std::pop_heap(heap.begin(), heap.end());
    const std::size_t q = at(-heap.back().second);
    heap.back().first = static_cast<double>(sizes[q]) / static_cast<double>(++shares[q]);
    std::push_heap(heap.begin(), heap.end());
  }
  return shares;
}

}  // namespace

Matrix<double> two_level_centers(const KMeansProblem& p, const KMeansOptions& options, std::uint64_t stream,
                                 const SeedProgress& report) {
  const Random seeds(options.seed, stream + levels);
  index_t have = 0;
  KMeansOptions o = options;
  o.algorithm = KMeansAlgorithm::lloyd, o.n_init = 1;
  if (o.on_progress)
    o.on_progress = [&](const KMeansProgress&) {
      report(have);
      return true;
    };
  const auto centers_of = [&](const std::vector<index_t>& numbers, index_t clusters, std::uint64_t seed) {
    const Sample part(p, numbers);
    o.clusters = clusters, o.seed = seed, o.weights = part.weights();
    return kmeans(part.context(), part.rows(), o).centers;
  };
  const index_t wanted = std::lround(std::sqrt(static_cast<double>(p.k)));
  const std::vector<index_t> sample = drawn_rows(p, seeds, rows_of_coarse * wanted);
  const Matrix<double> coarse = centers_of(sample, std::min(std::ssize(sample), wanted), seeds.bits(0));
  std::vector<std::int32_t> labels;
  label_all(p, coarse.cview(), scores_of(o.precision), labels);
  std::vector<std::vector<index_t>> rows(at(coarse.rows()));
  for (index_t i = 0; i < p.rows(); ++i)
    if (p.weight(i) > 0) rows[at(labels[at(i)])].push_back(p.first_row() + i);
  std::vector<index_t> sizes;
  sizes.reserve(rows.size());
  for (const auto& here : rows) sizes.push_back(sum_of_ranks(p.ctx, std::ssize(here)));
  const std::vector<index_t> shares = shares_of(sizes, p.k);
  Matrix<double> centers(p.k, p.cols());
  for (std::size_t q = 0; q < rows.size(); ++q) {
    if (shares[q] == 0) continue;
    report(have);
    const Matrix<double> fine = centers_of(gather_lists<index_t>(p.ctx, rows[q]), shares[q], seeds.bits(q + 1));
    std::copy_n(fine.data(), shares[q] * p.cols(), centers.data() + have * p.cols());
    have += shares[q];
  }
  for (; have < p.k; ++have) std::copy_n(centers.data(), p.cols(), centers.data() + have * p.cols());  // too few rows
  return centers;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
