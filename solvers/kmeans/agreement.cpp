#include "tallskinny/solvers/kmeans/agreement.hpp"

#include <numeric>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0::solvers {

namespace {

double pairs_among(std::uint64_t count) {
  const auto n = static_cast<double>(count);
  return n * (n - 1) / 2;
}

double sum_of_pairs(std::span<const std::uint64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), 0., [](double sum, auto n) { return sum + pairs_among(n); });
}

}  // namespace

double adjusted_rand_index(const Context& ctx, std::span<const std::int32_t> labels,
                           std::span<const std::int32_t> known, index_t clusters, index_t classes) {
  expects(labels.size() == known.size(), "adjusted_rand_index: there are other labels than rows");
  const auto width = static_cast<std::size_t>(classes), height = static_cast<std::size_t>(clusters);
  std::vector<std::uint64_t> both(height * width), of_clusters(height), of_classes(width);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    expects(labels[i] >= 0 && labels[i] < clusters && known[i] >= 0 && known[i] < classes,
            "adjusted_rand_index: a label is out of its range");
    ++both[static_cast<std::size_t>(labels[i]) * width + static_cast<std::size_t>(known[i])];
  }
  ctx.communicator->add(std::span(both));
  for (std::size_t q = 0; q < height; ++q)
    for (std::size_t c = 0; c < width; ++c) of_clusters[q] += both[q * width + c], of_classes[c] += both[q * width + c];
  const double all = pairs_among(std::accumulate(of_classes.begin(), of_classes.end(), std::uint64_t{0}));
  const double a = sum_of_pairs(of_clusters), b = sum_of_pairs(of_classes), together = sum_of_pairs(both);
  const double by_chance = all > 0 ? a * b / all : 0, most = (a + b) / 2;
  return most == by_chance ? 1 : (together - by_chance) / (most - by_chance);
}

}  // namespace ts::inline v0::solvers
