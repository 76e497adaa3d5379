// Greedy k-means++. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/seeding/nearer_rows.hpp"

namespace ts::inline v0::assign_detail {

/// A batch of rows drawn by w D^2, and the choices among them.
struct DrawsAhead {
  index_t count, trials, most;  ///< draws, of each choice, and choices
  double enough;                ///< of sum_i w_i D_i^2, beyond which nothing is chosen
  Philox random;
  std::uint64_t first_number;  ///< of two for each draw
};
/// The rows chosen among them, and sum_i w_i D_i^2 before and after.
struct ChoiceRounds {
  bool found = true;  ///< false: so many rows are nearer to draws that there is no room
  std::vector<index_t> rows;
  double before = 0, left = 0;
};

/// Makes choices where the rows are, batch by batch.
class BatchedChoices {
 public:
  BatchedChoices() = default;
  BatchedChoices(const BatchedChoices&) = delete;
  BatchedChoices& operator=(const BatchedChoices&) = delete;
  virtual ~BatchedChoices() = default;

  /// Draws, finds the rows that each of the draws is nearer to, and chooses until too few draws are left for a choice.
  /// Makes at least one choice where more than enough is left. Memory suffices for the pairs of one choice.
  [[nodiscard]] virtual ChoiceRounds run_rounds(const DrawsAhead& draws) = 0;
  /// Least and greatest number of draws that should be made together when there are so many centres.
  [[nodiscard]] virtual std::pair<index_t, index_t> best_draws(index_t centers) const noexcept = 0;
};

/// choose_rows() by batches.
///
/// When its turn comes, a drawn row is taken with the probability D^2 now / D^2 then, so that it is a draw by D^2 now.
/// Thus many candidates are compared with all rows in one pass. Draws too few for a choice are discarded: their number
/// does not depend on which rows they are.
[[nodiscard]] SeedRows choose_rows(BatchedChoices& batches, const Choosing& how);

/// Choices among rows in host memory. Bits do not depend on threads.
class HostChoices : public BatchedChoices {
 public:
  /// @param squared D_i^2, lowered. @param weights or none
  HostChoices(const Context& ctx, const Rows& x, const ColumnMoments& moments, std::span<double> squared,
              std::span<const double> weights);

  [[nodiscard]] ChoiceRounds run_rounds(const DrawsAhead& draws) override;
  [[nodiscard]] std::pair<index_t, index_t> best_draws(index_t) const noexcept override { return {1, 1024}; }

 private:
  /// A row drawn, D^2 below which it is taken no longer, and its number among the candidates.
  struct Draw {
    index_t row = 0;
    double least = 0;
    index_t candidate = 0;
  };
  /// Taken for the next choice.
  struct Taken {
    index_t row;
    std::span<const NearerRow> nearer;
    std::int64_t most_gain;
  };
  [[nodiscard]] double weight(index_t i) const { return weights_.empty() ? 1.0 : weights_[at(i)]; }
  [[nodiscard]] double squared(index_t i) const { return squared_[at(i)]; }
  void sum_up();
  [[nodiscard]] std::vector<Draw> draw(const DrawsAhead& ahead) const;
  [[nodiscard]] std::vector<index_t> candidates_of(std::vector<Draw>& draws);
  [[nodiscard]] std::int64_t gain_of(std::span<const NearerRow> nearer) const;
  [[nodiscard]] std::int64_t choose_best(std::vector<Taken>& taken, std::vector<index_t>& seeds);

  const Context& ctx_;
  std::span<double> squared_;
  std::span<const double> weights_;
  HostNearerRowSearch search_;
  PotentialUnit unit_;
  std::vector<std::int64_t> through_;       ///< w D^2 of all rows up to each, in the unit, when it was summed up
  std::vector<std::int32_t> candidate_of_;  ///< of a row that is one of the batch
};

}  // namespace ts::inline v0::assign_detail
