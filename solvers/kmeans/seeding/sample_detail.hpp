// Some rows of a problem as rows of their own. Internal to the room.
#pragma once

#include <optional>

#include "tallskinny/solvers/kmeans/gathered_detail.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Copies of some rows where the rows are, in float32 unless those are float64 or sparse; as they were before they were
/// divided by their norms. All ranks hold all of them; rows() are those of the slab here, as kmeans() wants them.
class Sample {
 public:
  /// all: `numbers` among all rows, ascending. One pass.
  Sample(const KMeansProblem& problem, std::span<const index_t> numbers);
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  [[nodiscard]] const Context& context() const noexcept { return ctx_; }
  [[nodiscard]] Rows rows() const { return (sparse_ ? sparse_->rows() : dense_->rows().view()).block(first_, count_); }
  /// Nothing where the problem has no weights.
  [[nodiscard]] std::span<const double> weights() const noexcept {
    return KMeansProblem::part(std::span<const double>(weights_), first_, count_);
  }

 private:
  Context ctx_;
  index_t first_ = 0, count_ = 0;
  std::optional<Gathered> sparse_;
  std::optional<CopiedRows> dense_;
  std::vector<double> weights_;
};

/// all: `count` different rows that weigh something, each as likely as any other; fewer if there are not so many.
/// Ascending, the same for any number of threads and ranks.
std::vector<index_t> drawn_rows(const KMeansProblem& problem, const Random& random, index_t count);

/// all: kmeans() of `count` rows, then one pass over all.
KMeansResult kmeans_of_sample(const KMeansProblem& problem, const KMeansOptions& options, index_t count);

}  // namespace ts::inline v0::solvers::kmeans_detail
