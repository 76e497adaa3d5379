#include <algorithm>
#include <array>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/potential_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

namespace ts::solvers::kmeans_detail {

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

/// Rows of several chains in host memory, and how far each is from the centres so far.
template <class S>
class Links {
 public:
  Links(const KMeansProblem& p, std::span<const index_t> numbers)
      : values_(std::ssize(numbers), p.cols()),
        rows_(Rows(values_.cview())),
        alone_(alone(p.ctx)),
        problem_{alone_, rows_, {}, {}, p.k, {}, p.moments},
        far_(problem_) {
    p.load_rows(numbers, values_.view());
  }
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  void lower(HostView<const double> centers) { far_.lower(centers); }
  [[nodiscard]] double squared(index_t link) const { return static_cast<double>(far_.squared({&link, 1}).front()); }
  [[nodiscard]] HostView<const double> row(index_t link) const { return values_.cview().rows(link, 1); }

 private:
  Matrix<double> values_;
  RowsInMemory rows_;
  Context alone_;  ///< all ranks hold the links
  KMeansProblem problem_;
  Potential<S> far_;
};

template <class S>
Matrix<double> chains(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, index_t length,
                      const Chosen& chosen) {
  constexpr index_t at_once = 32;  // chains, of which all rows meet each new centre
  const index_t d = p.cols();
  const Random drawing(seed, stream + proposals), accepting(seed, stream + acceptances);
  Matrix<double> centers(p.k, d);
  const index_t first = draw_by_weight(p, Random(seed, stream + first_of_chain).uniform(0));
  p.load_rows({&first, 1}, centers.view().rows(0, 1));
  const Proposals<S> from(p, centers.cview().rows(0, 1));
  for (index_t have = 1; have < p.k && !from.none();) {
    const index_t end = std::min(p.k, have + at_once);
    const auto number = static_cast<std::uint64_t>((have - 1) * length);  // of the first proposal
    const auto drawn = from.draw(number, (end - have) * length, drawing);
    Links<S> links(p, drawn.rows);
    links.lower(centers.cview().rows(0, have));
    for (index_t link = 0; have < end; ++have) {
      chosen(have);
      // D_y^2 q_x / (D_x^2 q_y), in which weights cancel, is how likely the chain goes from x on to y.
      index_t x = link;
      double far = links.squared(x);
      const index_t last = link + length;
      for (index_t y = link + 1; y < last; ++y) {
        const double further = links.squared(y);
        const double u = accepting.uniform(number + static_cast<std::uint64_t>(y));
        if (further * drawn.ratio[at(x)] > u * far * drawn.ratio[at(y)]) x = y, far = further;
      }
      link = last;
      // A chain of nothing but copies of centres: k-means++ sees all rows.
      if (!(far > 0)) return seed_plus_plus(p, seed, stream, centers.cview().rows(0, have), chosen);
      std::copy_n(links.row(x).data(), d, centers.data() + have * d);
      links.lower(centers.cview().rows(have, 1));
    }
  }
  return from.none() ? seed_plus_plus(p, seed, stream, centers.cview().rows(0, 1), chosen) : std::move(centers);
}

}  // namespace

Matrix<double> seed_markov(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, index_t length,
                           const Chosen& chosen) {
  return p.source.type() == DType::float64 ? chains<double>(p, seed, stream, length, chosen)
                                           : chains<float>(p, seed, stream, length, chosen);
}

}  // namespace ts::solvers::kmeans_detail
