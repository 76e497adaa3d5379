#include "tallskinny/solvers/kmeans/seeding/all_potential_detail.hpp"

#include <numeric>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/gathered_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

using assign_detail::chunk_count;

Potential::Potential(const KMeansProblem& problem, const std::vector<double>& squared)
    : Potential(problem, problem.beside_rows(squared)) {
  for (index_t i = 0; i < problem.rows(); ++i) total_ += problem.weight(i) * squared[at(i)];
}

Potential::Potential(const KMeansProblem& problem, PerRowArray<double> squared)
    : problem_(problem),
      squared_(std::move(squared)),
      first_chunk_(chunk_count(problem.first_row())),
      chunk_totals_(at(chunk_count(problem.all_rows()))) {}

void Potential::lower(std::span<const index_t> rows, PerRow<std::int32_t> nearest, std::int32_t first_number) {
  if (rows.empty()) return;  // to the engine no rows mean that centres are given
  if (takes_rows()) return lower({}, rows, nearest, first_number);
  Matrix<double> centers(std::ssize(rows), problem_.cols());
  problem_.load_rows(rows, centers.view());
  lower(centers.cview(), nearest, first_number);
}

void Potential::lower(HostView<const double> centers, std::span<const index_t> of_rows, PerRow<std::int32_t> nearest,
                      std::int32_t first_number) {
  problem_.for_each_block([&](index_t first, const Rows& rows) {
    lower_potential(problem_.ctx, {rows, problem_.moments, centers, squared_.view().part(first, rows.rows()),
                                   problem_.weights_of(first, rows.rows()),
                                   KMeansProblem::part(std::span(chunk_totals_), first_chunk_ + first / chunk_rows,
                                                       chunk_count(rows.rows())),
                                   nearest.part(first, rows.rows()), first_number, of_rows});
  });
  if (problem_.distributed()) {
    const RowSlabs& slabs = problem_.ctx.slabs;
    std::vector<std::size_t> offsets;
    for (int r = 0; r <= slabs.slabs(); ++r) offsets.push_back(at(chunk_count(slabs.begin(r))) * sizeof(double));
    expects(problem_.ctx.communicator->all_gather(reinterpret_cast<std::byte*>(chunk_totals_.data()), offsets),
            "k-means: ranks one after the other cannot share distances");
  }
  total_ = std::accumulate(chunk_totals_.begin(), chunk_totals_.end(), 0.0);
}

std::vector<double> Potential::squared(std::span<const index_t> numbers) const {
  const std::vector<index_t> here = problem_.here_of(numbers);
  std::vector<double> found(here.size());
  gather_rows(problem_.ctx, rows_of<double>(problem_.ctx, squared_.view(), problem_.rows(), 1), here,
              {found.data(), std::ssize(found), 1});
  return gather_from_owners(problem_.ctx, numbers, std::move(found));
}

std::vector<index_t> Potential::choose(const Choosing& how) {
  std::vector<index_t> rows;
  problem_.for_each_block([&](index_t, const Rows& all) {
    SeedRows seeds = choose_rows(problem_.ctx, all, problem_.moments, squared_.view(), weights(), how);
    total_ = seeds.left;
    rows = std::move(seeds.rows);
  });
  return rows;
}

std::vector<index_t> Potential::keep(PerRow<const double> squared, double factor, const Philox& random) const {
  const index_t first_here = problem_.first_row();
  std::vector<index_t> rows = keep_rows(problem_.ctx, squared, weights(), factor, random, first_here);
  for (index_t& row : rows) row += first_here;
  return gather_lists<index_t>(problem_.ctx, rows);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
