#include "tallskinny/gemm/assign/seeding/choose.hpp"

#include <algorithm>
#include <utility>

#include "tallskinny/gemm/assign/rows/chunks.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"

namespace ts::inline v0::assign_detail {

namespace {

constexpr int numbers_of_call = 24;  // bits of random numbers before those of a call with the next first_number

/// A row drawn, D^2 when it was, and its number among the candidates of the batch.
struct Draw {
  index_t row = 0;
  double squared = 0, uniform = 0;
  index_t candidate = 0;
};

template <class S>
class Chooser {
 public:
  Chooser(const Context& ctx, NearerRowSearch<S>& search, std::span<S> squared, std::span<const double> weights,
          const Choosing& how)
      : ctx_(ctx),
        squared_(squared),
        weights_(weights),
        how_(how),
        search_(search),
        through_(squared.size()),
        candidate_of_(squared.size(), none) {
    // Centres so far tell about how many choices leave most of the potential.
    at_once_ = std::clamp(static_cast<index_t>(how.first_number / 4), how.trials, most_at_once());
  }

  ChosenRows choose() && {
    for (sum_up(); std::ssize(chosen_.rows) < how_.most && chosen_.left > how_.enough && chosen_.left > 0; sum_up()) {
      const double before = chosen_.left;
      draw();
      if (!meet()) break;
      take_turns();
      if (4 * chosen_.left >= 3 * before)
        at_once_ = std::min(2 * at_once_, most_at_once());
      else if (2 * chosen_.left < before)
        at_once_ = std::max(at_once_ / 2, how_.trials);
    }
    return std::move(chosen_);
  }

 private:
  [[nodiscard]] double weight(index_t i) const {
    return weights_.empty() ? 1.0 : weights_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] index_t most_at_once() const {
    const index_t centers = static_cast<index_t>(how_.first_number) / how_.trials + std::ssize(chosen_.rows);
    return std::max(how_.trials, search_.most_candidates(centers));
  }
  [[nodiscard]] double squared(index_t i) const { return static_cast<double>(squared_[static_cast<std::size_t>(i)]); }

  /// w D^2 of all rows up to each, and of all: sums of chunks, added one after the other.
  void sum_up() {
    const index_t n = std::ssize(squared_), chunks = assign_detail::chunk_count(n);
    const int team = assign_detail::team_size(ctx_, chunks, chunk_rows);
    const auto sum_chunk = [&](index_t c, double sum) {
      for (index_t i = c * chunk_rows; i < std::min(n, (c + 1) * chunk_rows); ++i)
        through_[static_cast<std::size_t>(i)] = sum += weight(i) * squared(i);
      return sum;
    };
    std::vector<double> before(static_cast<std::size_t>(chunks));
    parallel_for(team, chunks, [&](index_t c) { before[static_cast<std::size_t>(c)] = sum_chunk(c, 0); });
    chosen_.left = 0;
    for (double& sum : before) sum = std::exchange(chosen_.left, chosen_.left + sum);
    parallel_for(team, chunks, [&](index_t c) { sum_chunk(c, before[static_cast<std::size_t>(c)]); });
    chosen_.left = through_.empty() ? 0 : through_.back();
  }

  /// Those of the batch; first those that were taken already for the next choice.
  void draw() {
    draws_ = std::move(taken_);
    taken_.clear();
    first_new_ = draws_.size();
    const index_t missing = (how_.most - std::ssize(chosen_.rows)) * how_.trials - std::ssize(draws_);
    const index_t count = std::min(at_once_, missing + missing / 8 + 1);
    draws_.resize(first_new_ + static_cast<std::size_t>(count));
    const auto random = [&](index_t q) {
      return how_.random.uniform((how_.first_number << numbers_of_call) + numbers_ + static_cast<std::uint64_t>(q));
    };
    constexpr double products = 256;  // about as long as one draw takes
    parallel_for(assign_detail::team_size(ctx_, count, products), count, [&](index_t q) {
      const double passes = random(2 * q) * chosen_.left;
      // Never a row of which nothing is to be had, even where rounding carries past the end.
      auto at = std::upper_bound(through_.begin(), through_.end(), passes);
      if (at == through_.end()) at = std::lower_bound(through_.begin(), through_.end(), through_.back());
      const index_t row = at - through_.begin();
      draws_[first_new_ + static_cast<std::size_t>(q)] = {row, squared(row), random(2 * q + 1)};
    });
    numbers_ += static_cast<std::uint64_t>(2 * count);
  }

  /// Finds the rows that each candidate would lower; false: it cannot.
  bool meet() {
    std::vector<index_t> rows;
    rows.reserve(draws_.size());
    for (Draw& draw : draws_) {
      std::int32_t& candidate = candidate_of_[static_cast<std::size_t>(draw.row)];
      if (candidate == none) candidate = static_cast<std::int32_t>(rows.size()), rows.push_back(draw.row);
      draw.candidate = candidate;
    }
    for (const index_t row : rows) candidate_of_[static_cast<std::size_t>(row)] = none;
    const std::optional<NearerRows<S>> found = search_.find(rows, squared_);
    if (found) nearer_ = *found;
    return found.has_value();
  }

  void take_turns() {
    for (std::size_t q = 0; q < draws_.size(); ++q) {
      if (q >= first_new_ && !(draws_[q].uniform * draws_[q].squared < squared(draws_[q].row))) continue;
      taken_.push_back(draws_[q]);
      if (std::ssize(taken_) < how_.trials) continue;
      choose_best();
      taken_.clear();
      if (std::ssize(chosen_.rows) == how_.most || !(chosen_.left > how_.enough)) return;
    }
  }

  void choose_best() {
    const Draw* best = nullptr;
    double most = -1;
    for (const Draw& draw : taken_) {
      double gain = 0;
      for (const NearerRow<S>& near : nearer_.of(draw.candidate))
        gain += weight(near.row) * std::max(0.0, squared(near.row) - static_cast<double>(near.squared));
      if (gain > most) most = gain, best = &draw;
    }
    for (const NearerRow<S>& near : nearer_.of(best->candidate)) {
      S& kept = squared_[static_cast<std::size_t>(near.row)];
      kept = std::min(kept, near.squared);
    }
    chosen_.rows.push_back(best->row);
    chosen_.left -= most;
  }

  static constexpr std::int32_t none = -1;

  const Context& ctx_;
  std::span<S> squared_;
  std::span<const double> weights_;
  const Choosing& how_;
  NearerRowSearch<S>& search_;
  ChosenRows chosen_;
  std::vector<double> through_;             ///< w D^2 of all rows up to each
  std::vector<std::int32_t> candidate_of_;  ///< of a row that is one of the batch
  std::vector<Draw> draws_, taken_;         ///< of the batch; taken for the next choice
  std::size_t first_new_ = 0;               ///< of draws_
  NearerRows<S> nearer_;
  index_t at_once_ = 0;
  std::uint64_t numbers_ = 0;  ///< random ones
};

}  // namespace

template <class S>
ChosenRows choose_rows(const Context& ctx, NearerRowSearch<S>& search, std::span<S> squared,
                       std::span<const double> weights, const Choosing& how) {
  return Chooser<S>(ctx, search, squared, weights, how).choose();
}

template decltype(choose_rows<float>) choose_rows<float>;
template decltype(choose_rows<double>) choose_rows<double>;

}  // namespace ts::inline v0::assign_detail
