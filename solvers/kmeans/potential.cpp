#include "tallskinny/solvers/kmeans/potential_detail.hpp"

#include <algorithm>
#include <limits>

namespace ts::solvers::kmeans_detail {

namespace {

constexpr index_t chunk = 4096;        ///< rows of one partial sum
constexpr index_t block = 64 * chunk;  ///< rows whose distances to all candidates are held at a time

index_t chunks(index_t rows) {
  return (rows + chunk - 1) / chunk;
}

}  // namespace

template <class S>
int Potential<S>::team() const noexcept {
  return static_cast<int>(std::clamp<index_t>(problem_.rows() / (8 * chunk), 1, problem_.ctx.thread_count()));
}

template <class S>
Potential<S>::Potential(const Problem& problem)
    : problem_(problem),
      // D = infinity would not survive a product with a weight of zero.
      squared_(static_cast<std::size_t>(problem.rows()), std::numeric_limits<S>::max()),
      chunk_totals_(static_cast<std::size_t>(chunks(problem.rows()))) {
  const auto& reach = problem.moments.reach;
  scale_ = inverse_power_of_two(reach.empty() ? 0 : *std::max_element(reach.begin(), reach.end()));
}

/// use(first row, distances (candidates x rows of this block)) for every block.
template <class S>
template <class Use>
void Potential<S>::for_blocks(HostView<const double> centers, Use&& use) const {
  Matrix<S> found(centers.rows(), std::min(problem_.rows(), block));
  problem_.for_each_block([&](index_t first, const Rows& rows) {
    for (index_t i = 0; i < rows.rows(); i += block) {
      const index_t count = std::min(block, rows.rows() - i);
      const auto out = found.view().block(0, 0, centers.rows(), count);
      candidate_squared_distances<S>(problem_.ctx, rows.block(i, count), problem_.moments, scale_, centers,
                                     out);
      use(first + i, out);
    }
  });
}

template <class S>
void Potential<S>::lower(HostView<const double> centers) {
  constexpr index_t at_once = 32;  // candidates in one pass
  for (index_t c = 0; c < centers.rows(); c += at_once)
    for_blocks(centers.rows(c, std::min(at_once, centers.rows() - c)), [&](index_t i0, HostView<S> found) {
#pragma omp parallel for schedule(static) num_threads(team())
      for (index_t i = 0; i < found.cols(); ++i) {
        S& least = squared_[static_cast<std::size_t>(i0 + i)];
        for (index_t q = 0; q < found.rows(); ++q) least = std::min(least, found(q, i));
      }
    });
  sum_up();
}

template <class S>
void Potential<S>::sum_up() {
  const index_t n = problem_.rows();
#pragma omp parallel for schedule(static) num_threads(team())
  for (index_t c = 0; c < chunks(n); ++c) {
    double sum = 0;
    for (index_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) sum += value(i);
    chunk_totals_[static_cast<std::size_t>(c)] = sum;
  }
  total_ = 0;
  for (const double t : chunk_totals_) total_ += t;
}

template <class S>
std::vector<double> Potential<S>::totals_with(HostView<const double> candidates) const {
  const index_t t = candidates.rows(), all = chunks(problem_.rows());
  auto partial = Matrix<double>::zeros(all, t);
  for_blocks(candidates, [&](index_t i0, HostView<S> found) {
#pragma omp parallel for schedule(static) num_threads(team())
    for (index_t c = 0; c < chunks(found.cols()); ++c)
      for (index_t q = 0; q < t; ++q) {
        const S* to_candidate = found.data() + q * found.ld();
        double sum[4] = {};
        const index_t first = c * chunk, last = std::min(found.cols(), first + chunk);
        for (index_t i = first; i < last; ++i) {
          const S least = std::min(squared_[static_cast<std::size_t>(i0 + i)], to_candidate[i]);
          sum[i % 4] += problem_.weight(i0 + i) * static_cast<double>(least);
        }
        partial(i0 / chunk + c, q) = (sum[0] + sum[1]) + (sum[2] + sum[3]);
      }
  });
  std::vector<double> totals(static_cast<std::size_t>(t));
  for (index_t c = 0; c < all; ++c)
    for (index_t q = 0; q < t; ++q) totals[static_cast<std::size_t>(q)] += partial(c, q);
  return totals;
}

template <class S>
index_t Potential<S>::draw(double uniform) const {
  const index_t n = problem_.rows();
  double rest = uniform * total_;
  index_t c = 0;
  for (; c + 1 < chunks(n) && rest >= chunk_totals_[static_cast<std::size_t>(c)]; ++c)
    rest -= chunk_totals_[static_cast<std::size_t>(c)];
  // Rounding may carry past the end of the chunk or of all rows: then the last row that can be drawn is.
  const auto possible = [this](index_t i) { return total_ == 0 ? problem_.weight(i) > 0 : value(i) > 0; };
  index_t last = -1;
  for (index_t i = c * chunk; i < n; ++i) {
    if (!possible(i)) continue;
    last = i;
    rest -= value(i);
    if (rest < 0) return i;
    if (i >= (c + 1) * chunk) return i;
  }
  for (index_t i = c * chunk - 1; last < 0 && i >= 0; --i)
    if (possible(i)) last = i;
  return std::max<index_t>(last, 0);
}

template class Potential<float>;
template class Potential<double>;

}  // namespace ts::solvers::kmeans_detail
