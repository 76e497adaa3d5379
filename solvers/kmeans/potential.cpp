#include "tallskinny/solvers/kmeans/potential_detail.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tallskinny/gemm/comm/agree.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

using assign_detail::chunk_count;

template <class S>
Potential<S>::Potential(const KMeansProblem& problem) : Potential(problem, problem.filled<S>(far_away)) {}

template <class S>
Potential<S>::Potential(const KMeansProblem& problem, const std::vector<S>& squared)
    : Potential(problem, problem.beside_rows(squared)) {
  for (index_t i = 0; i < problem.rows(); ++i)
    chunk_totals_[at(i / chunk_rows)] += problem.weight(i) * static_cast<double>(squared[at(i)]);
  total_ = std::accumulate(chunk_totals_.begin(), chunk_totals_.end(), 0.0);
}

template <class S>
Potential<S>::Potential(const KMeansProblem& problem, PerRowArray<S> squared)
    : problem_(problem),
      squared_(std::move(squared)),
      first_chunk_(chunk_count(problem.first_row())),
      chunk_totals_(at(chunk_count(problem.all_rows()))) {
  const auto& reach = problem.moments.reach;
  scale_ = inverse_power_of_two(reach.empty() ? 0 : *std::max_element(reach.begin(), reach.end()));
}

template <class S>
void Potential<S>::lower(HostView<const double> centers, PerRow<std::int32_t> nearest, std::int32_t first_number) {
  lower(centers, {}, nearest, first_number);
}

template <class S>
void Potential<S>::lower(std::span<const index_t> rows, PerRow<std::int32_t> nearest, std::int32_t first_number) {
  if (rows.empty()) return;  // to the engine no rows mean that centres are given
  if (takes_rows()) return lower({}, rows, nearest, first_number);
  Matrix<double> centers(std::ssize(rows), problem_.cols());
  problem_.load_rows(rows, centers.view());
  lower(centers.cview(), nearest, first_number);
}

template <class S>
void Potential<S>::lower(HostView<const double> centers, std::span<const index_t> of_rows, PerRow<std::int32_t> nearest,
                         std::int32_t first_number) {
  if (problem_.source.space() == Space::device && centers.rows() != 1 && labels_.view().empty())
    labels_ = problem_.filled<std::int32_t>(no_label);
  problem_.for_each_block([&](index_t first, const Rows& rows) {
    lower_potential<S>(
        problem_.ctx,
        {rows, unit(), centers, squared_.view().part(first, rows.rows()), problem_.weights_of(first, rows.rows()),
         KMeansProblem::part(std::span(chunk_totals_), first_chunk_ + first / chunk_rows, chunk_count(rows.rows())),
         nearest.part(first, rows.rows()), first_number, labels_.view().part(first, rows.rows()), of_rows});
  });
  gather_chunks(chunk_totals_.data(), 1);
  total_ = std::accumulate(chunk_totals_.begin(), chunk_totals_.end(), 0.0);
}

template <class S>
void Potential<S>::gather_chunks(double* values, index_t width) const {
  if (!problem_.distributed()) return;
  const RowSlabs& slabs = problem_.ctx.slabs;
  std::vector<std::size_t> offsets;
  for (int r = 0; r <= slabs.slabs(); ++r) offsets.push_back(at(chunk_count(slabs.begin(r)) * width) * sizeof(double));
  expects(problem_.ctx.communicator->all_gather(reinterpret_cast<std::byte*>(values), offsets),
          "k-means: ranks one after the other cannot share distances");
}

template <class S>
std::vector<double> Potential<S>::totals_with(HostView<const double> candidates) const {
  const index_t t = candidates.rows(), all = std::ssize(chunk_totals_);
  auto partial = Matrix<double>::zeros(all, t);
  problem_.for_each_block([&](index_t first, const Rows& rows) {
    potential_with<S>(problem_.ctx, rows, unit(), candidates, squared_.view().part(first, rows.rows()),
                      problem_.weights_of(first, rows.rows()),
                      partial.view().rows(first_chunk_ + first / chunk_rows, chunk_count(rows.rows())));
  });
  gather_chunks(partial.data(), t);
  std::vector<double> totals(at(t));
  for (index_t c = 0; c < all; ++c)
    for (index_t q = 0; q < t; ++q) totals[at(q)] += partial(c, q);
  return totals;
}

template <class S>
std::vector<index_t> Potential<S>::draw(std::span<const double> uniforms) const {
  if (!(total_ > 0)) return std::vector<index_t>(uniforms.size(), problem_.last_of_weight());
  std::vector<double> through(chunk_totals_.size());
  std::partial_sum(chunk_totals_.begin(), chunk_totals_.end(), through.begin());
  std::vector<SeedingDraw> draws;     // from chunks here
  std::vector<index_t> first_of_all;  // the first row of each draw's chunk
  const index_t first_here = problem_.first_row();
  for (const double uniform : uniforms) {
    const double passes = uniform * total_;
    auto c = std::upper_bound(through.begin(), through.end(), passes) - through.begin();
    // Rounding may carry past the end: then the last chunk from which a row can be drawn is.
    for (c = std::min(c, std::ssize(through) - 1); chunk_totals_[at(c)] <= 0;) --c;
    const index_t first = c * chunk_rows - first_here;
    first_of_all.push_back(c * chunk_rows);
    if (first >= 0 && first < problem_.rows()) draws.push_back({first, c == 0 ? passes : passes - through[at(c - 1)]});
  }
  std::vector<index_t> rows = draw_rows<S>(problem_.ctx, squared_.view(), weights(), draws);
  for (index_t& row : rows) row += first_here;
  return gather_from_owners(problem_.ctx, first_of_all, std::move(rows));
}

template <class S>
std::vector<S> Potential<S>::squared(std::span<const index_t> numbers) const {
  if (!problem_.distributed()) return squared_here(numbers);
  return gather_from_owners(problem_.ctx, numbers, squared_here(problem_.here_of(numbers)));
}

template <class S>
std::vector<S> Potential<S>::squared_here(std::span<const index_t> numbers) const {
  const PerRow<const S> all = squared_.view();
  if (all.space == Space::host) {
    std::vector<S> found(numbers.size());
    for (std::size_t q = 0; q < found.size(); ++q) found[q] = all.data[numbers[q]];
    return found;
  }
  PerRowArray<S> found(problem_.ctx, Space::device, std::ssize(numbers), 0);
  const Rows as_rows(problem_.ctx.stream, DeviceView<const S>::unchecked(all.data, all.size, 1, 1));
  gather_rows<S>(problem_.ctx, as_rows, numbers, found.view());
  return found.to_host();
}

template <class S>
std::optional<std::vector<index_t>> Potential<S>::choose(const Choosing& how) {
  std::optional<std::vector<index_t>> rows;
  if (!problem_.source.in_memory() || problem_.distributed()) return rows;
  problem_.for_each_block([&](index_t, const Rows& all) {
    if (!can_choose(problem_.ctx, all, how)) return;
    ChosenRows chosen = choose_rows<S>(problem_.ctx, all, unit(), squared_.view(), weights(), how);
    total_ = chosen.left;
    rows = std::move(chosen.rows);
  });
  return rows;
}

template <class S>
std::vector<index_t> Potential<S>::keep(double factor, const Philox& random) const {
  const index_t first_here = problem_.first_row();
  std::vector<index_t> rows = keep_rows<S>(problem_.ctx, squared_.view(), weights(), factor, random, first_here);
  for (index_t& row : rows) row += first_here;
  return gather_lists<index_t>(problem_.ctx, rows);
}

template <class S>
std::vector<index_t> Potential<S>::keep_evenly(double factor, const Philox& random) const {
  const PerRowArray<S> same = problem_.filled<S>(0x3f);  // a number, of which keep_rows() takes `factor`
  S number;
  std::memset(&number, 0x3f, sizeof number);
  const index_t first_here = problem_.first_row();
  std::vector<index_t> rows =
      keep_rows<S>(problem_.ctx, same.view(), weights(), factor / static_cast<double>(number), random, first_here);
  for (index_t& row : rows) row += first_here;
  return gather_lists<index_t>(problem_.ctx, rows);
}

template class Potential<float>;
template class Potential<double>;

}  // namespace ts::inline v0::solvers::kmeans_detail
