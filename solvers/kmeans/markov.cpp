#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "tallskinny/gemm/assign/seeding/chains.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/potential_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

enum ChainPurpose : std::uint64_t { first_of_chain = 0, proposals = 3, acceptances = 4 };

/// Proposals q(i) = w_i (D_i^2 / (2 sum_j w_j D_j^2) + 1 / (2 sum_j w_j)) with the distances to the first
/// centre.
template <class S>
class Proposals {
 public:
  struct Drawn {
    std::vector<index_t> rows;
    std::vector<double> ratio;  ///< q / w of each, times 2 sum_j w_j
  };

  Proposals(const KMeansProblem& p, HostView<const double> first)
      : p_(p), potential_(p), all_(static_cast<double>(p.all_rows())) {
    potential_.lower(first);
    if (!p.weighted()) return;
    all_ = 0;
    in_turn(p.ctx, {&all_, 1}, [&] {
      for (const double weight : p.weights) through_.push_back(all_ += weight);
    });
    last_ = p.last_of_weight();
  }
  [[nodiscard]] bool none() const noexcept { return !(potential_.total() > 0); }

  [[nodiscard]] std::vector<S> squared(std::span<const index_t> rows) const { return potential_.squared(rows); }
  [[nodiscard]] double squared_distance(const double* a, const double* b) const {
    return potential_.squared_distance(a, b);
  }
  [[nodiscard]] SeedingUnit unit() const { return potential_.unit(); }

  /// Proposals first, first + 1, ... of a run, whose random numbers these are.
  [[nodiscard]] Drawn draw(std::uint64_t first, index_t count, const Random& random) const {
    Drawn drawn;
    drawn.rows.resize(at(count));
    std::array<std::vector<std::size_t>, 2> places;  // of draws by distance, and by weight
    std::array<std::vector<double>, 2> uniforms;
    for (std::size_t t = 0; t < drawn.rows.size(); ++t) {
      const double u = 2 * random.uniform(first + t);
      const std::size_t way = u < 1 ? 0 : 1;
      places[way].push_back(t), uniforms[way].push_back(u < 1 ? u : u - 1);
    }
    const std::array<std::vector<index_t>, 2> rows{potential_.draw(uniforms[0]), by_weight(uniforms[1])};
    for (const std::size_t way : {0, 1})
      for (std::size_t q = 0; q < places[way].size(); ++q) drawn.rows[places[way][q]] = rows[way][q];
    for (const S squared : potential_.squared(drawn.rows))
      drawn.ratio.push_back(1 + all_ / potential_.total() * static_cast<double>(squared));
    return drawn;
  }

 private:
  [[nodiscard]] std::vector<index_t> by_weight(std::span<const double> uniforms) const {
    std::vector<index_t> rows;
    if (!p_.weighted()) {
      for (const double uniform : uniforms) rows.push_back(draw_by_weight(p_, uniform));
      return rows;
    }
    std::vector<std::uint64_t> below;  // how many sums are no more
    for (const double uniform : uniforms)
      below.push_back(static_cast<std::uint64_t>(std::upper_bound(through_.begin(), through_.end(), uniform * all_) -
                                                 through_.begin()));
    p_.ctx.communicator->add(below);
    for (const std::uint64_t row : below) rows.push_back(std::min(static_cast<index_t>(row), last_));
    return rows;  // rounding may carry past the last row that weighs something
  }

  const KMeansProblem& p_;
  Potential<S> potential_;
  double all_;
  std::vector<double> through_;  ///< sums of weights of all rows, up to each one here
  index_t last_ = 0;             ///< row that weighs something
};

/// D^2 of these rows, lowered by some centres.
template <class S>
std::vector<S> lowered(const KMeansProblem& p, const Rows& rows, const std::vector<S>& squared,
                       HostView<const double> centers) {
  const Context here = alone(p.ctx);  // all ranks hold the rows
  const RowsInMemory source(rows);
  const KMeansProblem of_rows{here, source, {}, {}, p.k, {}, p.moments};
  Potential<S> potential(of_rows, squared);
  potential.lower(centers);
  std::vector<index_t> all(squared.size());
  std::iota(all.begin(), all.end(), index_t{0});
  return potential.squared(all);
}

/// The ends of chains, chosen in batches: proposals are drawn beforehand, and many of them meet many centres at once.
template <class S>
class Chains {
 public:
  Chains(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, index_t length, const Chosen& chosen)
      : p_(p),
        drawing_(seed, stream + proposals),
        accepting_(seed, stream + acceptances),
        length_(length),
        chosen_(chosen),
        centers_(with_first(p, draw_by_weight(p, Random(seed, stream + first_of_chain).uniform(0)))),
        from_(p, centers_.cview().rows(0, 1)) {}

  /// Returns how many centres there are: fewer than k where a chain found nothing but copies of them.
  index_t choose() {
    constexpr index_t large = 64, small = 8;  // chains
    const bool there = p_.source.space() == Space::device;
    for (begin_ = have_ = 1; have_ < p_.k && !from_.none(); begin_ = have_) {
      const index_t end = std::min(p_.k, have_ + (there ? chains_there() : large));
      if (there) {
        if (!follow_there(end)) return have_;
        continue;
      }
      draw(end);
      for (begin_small_ = have_; have_ < end; begin_small_ = have_)
        if (!follow(std::min(end, have_ + small))) return have_;
    }
    return have_;
  }
  [[nodiscard]] Matrix<double> centers() && { return std::move(centers_); }

 private:
  static Matrix<double> with_first(const KMeansProblem& p, index_t row) {
    Matrix<double> centers(p.k, p.cols());
    p.load_rows({&row, 1}, centers.view().rows(0, 1));
    return centers;
  }

  /// Proposals of the chains up to `end`, and D^2 to the centres before these.
  void draw(index_t end) {
    first_number_ = static_cast<std::uint64_t>((begin_ - 1) * length_);
    drawn_ = from_.draw(first_number_, (end - begin_) * length_, drawing_);
    const index_t count = std::ssize(drawn_.rows), d = p_.cols();
    if (rows_.rows() < count) rows_ = Matrix<double>(count, d);
    p_.load_rows(drawn_.rows, rows_.view().rows(0, count));
    squared_ = from_.squared(drawn_.rows);
    if (begin_ > 1)
      squared_ = lowered(p_, Rows(rows_.cview().rows(0, count)), squared_, centers_.cview().rows(1, begin_ - 1));
  }

  /// As many as have links of which the rows stay in a device's cache.
  [[nodiscard]] index_t chains_there() const {
    constexpr index_t least = 64, most = 512, bytes = index_t{24} << 20;
    return std::clamp(bytes / (length_ * p_.cols() * static_cast<index_t>(sizeof(S))), least, most);
  }
  /// draw() and follow() where the rows are, for all chains up to `end`.
  bool follow_there(index_t end) {
    chosen_(have_);
    const index_t count = (end - begin_) * length_;
    first_number_ = static_cast<std::uint64_t>((begin_ - 1) * length_);
    drawn_ = from_.draw(first_number_, count, drawing_);
    std::vector<index_t> rows = drawn_.rows;
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    std::vector<std::int32_t> row_of(drawn_.rows.size());
    std::vector<double> uniforms(drawn_.rows.size());
    for (std::size_t y = 0; y < row_of.size(); ++y) {
      row_of[y] = static_cast<std::int32_t>(std::lower_bound(rows.begin(), rows.end(), drawn_.rows[y]) - rows.begin());
      uniforms[y] = accepting_.uniform(first_number_ + y);
    }
    if (p_.scale.empty()) return follow_rows(p_.rows_as<S>(rows), rows, row_of, uniforms);
    // Products of rows with scales are no numbers of float32.
    return follow_rows(p_.rows_as<double>(rows), rows, row_of, uniforms);
  }
  template <class T>
  bool follow_rows(const PerRowArray<T>& values, const std::vector<index_t>& numbers,
                   const std::vector<std::int32_t>& row_of, const std::vector<double>& uniforms) {
    const Rows rows = rows_of<T>(p_.ctx, values.view(), std::ssize(numbers), p_.cols());
    std::vector<S> far = from_.squared(numbers);
    if (begin_ > 1) far = lowered(p_, rows, far, centers_.cview().rows(1, begin_ - 1));
    const SeedingUnit unit = from_.unit();
    const auto ends = follow_chains<S>(p_.ctx, {rows, unit, far, row_of, drawn_.ratio, uniforms, length_});
    std::vector<index_t> chosen;
    chosen.reserve(ends.size());
    for (const std::int32_t link : ends) chosen.push_back(drawn_.rows[at(link)]);
    p_.load_rows(chosen, centers_.view().rows(have_, std::ssize(chosen)));
    have_ += std::ssize(chosen);
    return std::ssize(row_of) == std::ssize(chosen) * length_;
  }

  /// The chains up to `end`, which meet the centres of chains before them; false: one that found none.
  bool follow(index_t end) {
    const index_t first = (begin_small_ - begin_) * length_, count = (end - begin_small_) * length_;
    if (begin_small_ > begin_) {
      const std::vector<S> far = lowered(p_, Rows(rows_.cview().rows(first, count)),
                                         std::vector<S>(squared_.begin() + first, squared_.begin() + first + count),
                                         centers_.cview().rows(begin_, begin_small_ - begin_));
      std::copy(far.begin(), far.end(), squared_.begin() + first);
    }
    for (index_t link = first; have_ < end; ++have_, link += length_) {
      chosen_(have_);
      // D_y^2 q_x / (D_x^2 q_y), in which weights cancel, is how likely the chain goes from x on to y.
      index_t x = link;
      double far = squared(x, 0);
      for (index_t y = link + 1; y < link + length_; ++y) {
        const double u = accepting_.uniform(first_number_ + static_cast<std::uint64_t>(y));
        const double enough = u * far * drawn_.ratio[at(y)] / drawn_.ratio[at(x)];
        if (const double further = squared(y, enough); further > enough) x = y, far = further;
      }
      if (!(far > 0)) return false;
      std::copy_n(rows_.data() + x * p_.cols(), p_.cols(), centers_.data() + have_ * p_.cols());
    }
    return true;
  }

  /// D^2 of a link to all centres; one that is no more than `enough` may be any such number.
  [[nodiscard]] double squared(index_t link, double enough) const {
    double least = static_cast<double>(squared_[at(link)]);
    for (index_t m = begin_small_; m < have_ && least > enough; ++m)
      least = std::min(least, from_.squared_distance(rows_.data() + link * p_.cols(), centers_.data() + m * p_.cols()));
    return least;
  }

  const KMeansProblem& p_;
  Random drawing_, accepting_;
  index_t length_;
  const Chosen& chosen_;
  Matrix<double> centers_;
  Proposals<S> from_;
  index_t have_ = 1, begin_ = 1, begin_small_ = 1;  ///< centres now, before this batch, before the part that is met
  std::uint64_t first_number_ = 0;                  ///< of the proposals
  typename Proposals<S>::Drawn drawn_;
  Matrix<double> rows_;     ///< of the proposals, the first ones
  std::vector<S> squared_;  ///< D^2 of these to the first begin_small_ centres, from where chains go on
};

template <class S>
Matrix<double> chains(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, index_t length,
                      const Chosen& chosen) {
  Chains<S> of(p, seed, stream, length, chosen);
  const index_t have = of.choose();
  Matrix<double> centers = std::move(of).centers();
  // A chain of nothing but copies of centres: k-means++ sees all rows.
  return have < p.k ? seed_plus_plus(p, seed, stream, centers.cview().rows(0, have), chosen) : std::move(centers);
}

}  // namespace

Matrix<double> seed_markov(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, index_t length,
                           const Chosen& chosen) {
  return p.source.type() == DType::float64 ? chains<double>(p, seed, stream, length, chosen)
                                           : chains<float>(p, seed, stream, length, chosen);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
