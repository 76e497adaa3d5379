// Bounds of tiles of rows on a device: which centroids may be the nearest one, from how far centroids moved.
#pragma once

#include "tallskinny/gemm/assign/scores/bounds_policy.hpp"
#include "tallskinny/gemm/assign/scores/bounds_trials.hpp"
#include "tallskinny/gemm/assign/scores/heads.hpp"

namespace ts::inline v0::assign_device {

/// Rows lie in the order of their labels when bounds began, in tiles. A tile keeps for each centroid how much farther
/// than the nearest one it is for all rows, at least; a row its distance to the nearest one, at most. When centroids
/// have moved, most of them are still farther for all rows of most tiles. The others are scored, which makes their
/// bounds anew. The first pass scores all centroids, or those that heads leave with a margin, which is the bound of the
/// others. Before it, a probe of a few tiles tells whether that pays. Source: bounds of pairs (Elkan 2003), here of
/// tiles of rows. Memory: bytes().
class TileBounds : public Chooser {
 public:
  /// x, of k clusters, stays where it is. Memory is taken once it is needed.
  TileBounds(const Rows& x, index_t k, const BoundsTrials& trials);
  static constexpr double cost = 0.4;  ///< of a pass, about, in those of passes over all centroids
  [[nodiscard]] static std::uint64_t bytes(index_t n, index_t d, index_t k) noexcept;

  /// What a pass over these rows, all of which have labels, should do, when the one before changed so many of them.
  [[nodiscard]] BoundsTrials::Turn next(const Rows& x, double scale, index_t changed) noexcept;
  /// The next pass makes bounds, by these heads, if any, and with such a margin, times the scale.
  void begin_by(Heads* heads, double margin) noexcept { heads_ = heads, margin_ = static_cast<float>(margin); }
  void turn(const Context& ctx, const double* centroids) override {
    if (!trials_.known() && heads_ != nullptr) heads_->turn(ctx, centroids);
  }
  [[nodiscard]] bool bounded() const noexcept override { return true; }
  [[nodiscard]] ChosenCentroids choose(const Context& ctx, const ChoosingPass& pass) override;
  /// After a pass by bounds that scored so many pairs of a row and a centroid.
  void passed(index_t kept) noexcept;
  /// After one over all rows that scored so many by heads, or over all centroids (0).
  void passed_without(index_t kept) noexcept { trials_.passed_without(kept > 0 ? share_of(kept, n_) : -1); }
  void forget() noexcept { trials_.forget(), few_ = 0; }

  /// What scores a few tiles with all centroids, to see what bounds will leave; labels and sums stay.
  [[nodiscard]] ChosenCentroids probe(const Context& ctx, const ChoosingPass& pass);
  /// After these scores: centroids are taken to move as they have since they were at `previous` (k x d). Asynchronous.
  void look(const Context& ctx, const ChoosingPass& pass, const double* previous);
  /// After the pass, which was none by bounds. Waits for the stream.
  void probed(const Context& ctx);

 private:
  /// So many rows in an order.
  struct Ordered {
    index_t rows;
    const std::uint32_t* order;
  };
  [[nodiscard]] double share_of(index_t kept, index_t rows) const noexcept {
    return static_cast<double>(kept) / (static_cast<double>(rows) * static_cast<double>(padded_));
  }
  void make_room(const Context& ctx, const ChoosingPass& pass, index_t rows);
  void order_rows(const Context& ctx, const ChoosingPass& pass);
  [[nodiscard]] Ordered some_tiles(const Context& ctx);
  void measure(const Context& ctx, const ChoosingPass& pass, const Ordered& rows);
  void place_centroids(const Context& ctx, const ChoosingPass& pass);
  void move(const Context& ctx, const ChoosingPass& pass, bool first);
  void list(const Context& ctx, const ChoosingPass& pass, const Ordered& rows, bool first,
            const cuda::ChosenArgument& given, cuda::word64* kept);
  [[nodiscard]] ChosenCentroids chosen(const ChoosingPass& pass, const cuda::ChosenArgument& given) const;

  Rows x_;
  index_t n_, d_, k_, padded_;
  double scale_ = 0;
  BoundsTrials trials_;
  Heads* heads_ = nullptr;
  float margin_ = 0;
  int few_ = 0;                  ///< open rows of the next pass, fewer than which are decided at once
  DeviceMatrix<double> before_;  ///< k x d: centroids of the pass before
  cuda::Memory moves_, nearest_, upper_, bounds_;
  cuda::Memory places_, order_, some_, list_, numbers_, counts_, turns_, kept_;
  cuda::Memory by_rows_, origins_, chunks_;  ///< of centroids
  index_t tile_ = 0, some_rows_ = 0;         ///< rows of one, and of a probe
  index_t room_ = 0;                         ///< rows that there is memory for
};

}  // namespace ts::inline v0::assign_device
