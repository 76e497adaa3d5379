#include "tallskinny/solvers/kmeans/directions_detail.hpp"

#include "tallskinny/solvers/kmeans/pass/rows/unit_rows.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

UnitRows::UnitRows(const Context& ctx, const RowSource& rows) : ctx_(ctx), rows_(rows), scale_(at(rows.rows())) {
  each_block_anew([this](index_t, const Rows& block) { all_ = block; });
}

void UnitRows::each_block_anew(const Use& use) const {
  rows_.for_each_block([&](index_t first, const Rows& block) {
    const index_t numbers = block.rows() * block.cols();
    if (unit_.view().size < numbers) {
      unit_ = {};
      unit_ = PerRowArray<double>(ctx_, Space::device, numbers, 0);
    }
    use(first, unit_rows(ctx_, block, unit_.view(), KMeansProblem::part(std::span(scale_), first, block.rows())));
  });
}

void UnitRows::for_each_block(const Use& use) const {
  if (in_memory()) return use(0, *all_);
  each_block_anew(use);
}

void UnitRows::load(index_t i, double* row) const {
  rows_.load(i, row);
  for (index_t j = 0; j < cols(); ++j) row[j] *= scale_[at(i)];
}

Directions::Directions(const Context& ctx, const RowSource& source, std::span<const double> given,
                       KMeansMetric metric) {
  if (metric != KMeansMetric::cosine) return;
  agreed(ctx, [&] {
    if (source.space() == Space::device) {
      unit = std::make_unique<const UnitRows>(ctx, source);
      return;
    }
    scale.resize(at(source.rows()));
    source.for_each_block([&](index_t first, const Rows& block) {
      reciprocal_norms(ctx, block, KMeansProblem::part(std::span(scale), first, block.rows()));
    });
  });
  const std::vector<double>& factors = unit ? unit->scale() : scale;
  for (index_t i = 0; i < source.rows(); ++i)
    if (factors[at(i)] == 0) zero_rows.push_back(i);
  all_zero_rows = sum_of_ranks(ctx, std::ssize(zero_rows));
  if (all_zero_rows == 0) return;
  weights.assign(given.begin(), given.end());
  if (given.empty()) weights.assign(at(source.rows()), 1.0);
  for (const index_t i : zero_rows) weights[at(i)] = 0;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
