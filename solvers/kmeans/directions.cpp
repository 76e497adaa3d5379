#include "tallskinny/solvers/kmeans/directions_detail.hpp"

#include "tallskinny/solvers/kmeans/pass/rows/unit_rows.hpp"

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

Directions::Directions(const Context& ctx, const RowSource& source, std::span<const double> weights,
                       KMeansMetric metric)
    : ctx_(ctx), source_(source), weights_(weights), weighted_(false) {
  check_ranks(ctx, source);
  weighted_ = check_weights(ctx, source.rows(), weights);
  if (metric != KMeansMetric::cosine) return;
  check_finite(ctx, source);
  agreed(ctx, [&] {
    if (source.space() == Space::device) {
      unit_ = std::make_unique<const UnitRows>(ctx, source);
      return;
    }
    scale_.resize(at(source.rows()));
    source.for_each_block([&](index_t first, const Rows& block) {
      reciprocal_norms(ctx, block, KMeansProblem::part(std::span(scale_), first, block.rows()));
    });
  });
  const std::vector<double>& factors = unit_ ? unit_->scale() : scale_;
  for (index_t i = 0; i < source.rows(); ++i)
    if (factors[at(i)] == 0) zero_rows_.push_back(i);
  all_zero_rows_ = sum_of_ranks(ctx, std::ssize(zero_rows_));
  if (all_zero_rows_ == 0) return;
  weights_or_zero_.assign(weights.begin(), weights.end());
  if (weights.empty()) weights_or_zero_.assign(at(source.rows()), 1.0);
  for (const index_t i : zero_rows_) weights_or_zero_[at(i)] = 0;
  weights_ = weights_or_zero_, weighted_ = true;
}

KMeansProblem Directions::problem(index_t k) const {
  KMeansProblem p{ctx_, unit_ ? *unit_ : source_, scale_, weights_, k, zero_rows_};
  p.weighted_elsewhere = weighted_;
  return p;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
