#include "tallskinny/gemm/assign/seeding/choose.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <utility>

#include "tallskinny/gemm/assign/rows/chunks.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"

namespace ts::inline v0::assign_detail {

namespace {

constexpr int numbers_of_call = 24;  // bits of random numbers before those of a call with the next first_number

/// A row drawn, D^2 by which it was, and its number among the candidates of the batch.
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
    // A batch should leave so much of the potential: less, and draws are in vain; more, and batches are many. Draws
    // are older where the next batch meets the rows while choices are made of this one.
    const double least = search_.depth() == 1 ? 0.5 : 0.7, most = search_.depth() == 1 ? 0.75 : 0.85;
    sum_up();
    while (std::ssize(chosen_.rows) < how_.most && chosen_.left > how_.enough && chosen_.left > 0) {
      while (std::ssize(under_way_) < search_.depth() && missing() > 0) begin_batch();
      const double before = chosen_.left;
      const std::size_t chosen = chosen_.rows.size();
      if (!take_turns()) break;
      if (how_.chosen) how_.chosen(std::ssize(chosen_.rows));
      if (chosen_.left < 0.75 * through_.back() || chosen_.rows.size() == chosen) sum_up();
      if (chosen_.left >= most * before)
        at_once_ = std::min(2 * at_once_, most_at_once());
      else if (chosen_.left < least * before)
        at_once_ = std::max(at_once_ / 2, how_.trials);
    }
    for (; !under_way_.empty(); under_way_.pop_front()) (void)search_.end();
    return std::move(chosen_);
  }

 private:
  /// Taken for the next choice.
  struct Taken {
    index_t row;
    std::span<const NearerRow<S>> nearer;
    double most_gain;
  };

  [[nodiscard]] double weight(index_t i) const {
    return weights_.empty() ? 1.0 : weights_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] index_t most_at_once() const {
    const index_t centers = static_cast<index_t>(how_.first_number) / how_.trials + std::ssize(chosen_.rows);
    return std::max(how_.trials, search_.most_candidates(centers));
  }
  [[nodiscard]] double squared(index_t i) const { return static_cast<double>(squared_[static_cast<std::size_t>(i)]); }
  /// Draws that are needed beside those of the batches under way, were all of these taken.
  [[nodiscard]] index_t missing() const {
    index_t draws = (how_.most - std::ssize(chosen_.rows)) * how_.trials - std::ssize(taken_);
    for (const std::vector<Draw>& batch : under_way_) draws -= std::ssize(batch);
    return draws;
  }

  /// w D^2 of all rows up to each, and of all: sums of chunks, added one after the other.
  void sum_up() {
    const index_t n = std::ssize(squared_), chunks = assign_detail::chunk_count(n);
    const int team = assign_detail::team_size(ctx_, chunks, 8 * chunk_rows);
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
    then_.assign(squared_.begin(), squared_.end());
  }

  /// Draws one, and begins to look for the rows that each candidate would lower.
  void begin_batch() {
    // Draws are by D^2 as it was summed up, and some of them are in vain already.
    const index_t more = missing(), wanted = std::min(at_once_, more + more / 8 + 1);
    const auto count = static_cast<index_t>(std::ceil(static_cast<double>(wanted) * (through_.back() / chosen_.left)));
    std::vector<Draw>& draws = under_way_.emplace_back(static_cast<std::size_t>(count));
    const auto random = [&](index_t q) {
      return how_.random.uniform((how_.first_number << numbers_of_call) + numbers_ + static_cast<std::uint64_t>(q));
    };
    constexpr double products = 64;  // about as long as one draw takes
    parallel_for(assign_detail::team_size(ctx_, count, products), count, [&](index_t q) {
      const double passes = random(2 * q) * through_.back();
      // Never a row of which nothing is to be had, even where rounding carries past the end.
      auto at = std::upper_bound(through_.begin(), through_.end(), passes);
      if (at == through_.end()) at = std::lower_bound(through_.begin(), through_.end(), through_.back());
      const index_t row = at - through_.begin();
      draws[static_cast<std::size_t>(q)] = {row, static_cast<double>(then_[static_cast<std::size_t>(row)]),
                                            random(2 * q + 1)};
    });
    numbers_ += static_cast<std::uint64_t>(2 * count);
    // One may be left that is not taken, so that there is something to look for.
    draws.erase(std::remove_if(draws.begin() + 1, draws.end(), [&](const Draw& draw) { return !is_taken(draw); }),
                draws.end());
    std::vector<index_t> rows;
    rows.reserve(draws.size());
    for (Draw& draw : draws) {
      std::int32_t& candidate = candidate_of_[static_cast<std::size_t>(draw.row)];
      if (candidate == none) candidate = static_cast<std::int32_t>(rows.size()), rows.push_back(draw.row);
      draw.candidate = candidate;
    }
    for (const index_t row : rows) candidate_of_[static_cast<std::size_t>(row)] = none;
    search_.begin(rows, squared_);
  }

  [[nodiscard]] bool is_taken(const Draw& draw) const { return draw.uniform * draw.squared < squared(draw.row); }

  /// Takes the oldest batch's; false: the search did not find what they would lower.
  bool take_turns() {
    const std::vector<Draw> draws = std::move(under_way_.front());
    under_way_.pop_front();
    const std::optional<NearerRows<S>> found = search_.end();
    if (!found) return false;
    constexpr std::size_t ahead = 16, of_line = 64 / sizeof(NearerRow<S>), most_lines = 4;
    for (std::size_t q = 0; q < draws.size(); ++q) {
      if (q + ahead < draws.size()) {  // what a device wrote is in no cache
        const std::span<const NearerRow<S>> soon = found->of(draws[q + ahead].candidate);
        for (std::size_t at = 0; at < std::min(soon.size(), most_lines * of_line); at += of_line)
          __builtin_prefetch(soon.data() + at);
      }
      const Draw& draw = draws[q];
      if (!is_taken(draw)) continue;
      taken_.push_back({draw.row, found->of(draw.candidate), found->most_gain(draw.candidate)});
      if (std::ssize(taken_) < how_.trials) continue;
      choose_best();
      taken_.clear();
      if (std::ssize(chosen_.rows) == how_.most || !(chosen_.left > how_.enough)) return true;
    }
    keep_taken();
    return true;
  }

  /// Those too few for a choice wait for the next batch.
  void keep_taken() {
    std::vector<NearerRow<S>> kept;
    for (const Taken& taken : taken_) kept.insert(kept.end(), taken.nearer.begin(), taken.nearer.end());
    std::size_t begin = 0;
    for (Taken& taken : taken_) {
      taken.nearer = std::span(kept).subspan(begin, taken.nearer.size());
      begin += taken.nearer.size();
    }
    kept_ = std::move(kept);  // the numbers stay where they are
  }

  [[nodiscard]] static bool larger(const Taken& a, const Taken& b) { return a.most_gain > b.most_gain; }

  /// The one with the largest gain; of several the first. D^2 only falls, and so do gains: those that were smaller in
  /// the search are not summed up again.
  void choose_best() {
    for (auto at = taken_.begin(); at != taken_.end(); ++at)  // a few, in place and stable
      std::rotate(std::upper_bound(taken_.begin(), at, *at, larger), at, std::next(at));
    const Taken* best = nullptr;
    double most = -1;
    for (const Taken& taken : taken_) {
      if (taken.most_gain < most) break;
      if (const double gain = gain_of<S>(taken.nearer, squared_, weights_); gain > most) most = gain, best = &taken;
    }
    for (const NearerRow<S>& near : best->nearer) {
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
  std::vector<double> through_;              ///< w D^2 of all rows up to each, when they were summed up
  std::vector<S> then_;                      ///< D^2 then
  std::vector<std::int32_t> candidate_of_;   ///< of a row that is one of the batch
  std::deque<std::vector<Draw>> under_way_;  ///< batches that meet the rows
  std::vector<Taken> taken_;
  std::vector<NearerRow<S>> kept_;  ///< of those that earlier batches left
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
