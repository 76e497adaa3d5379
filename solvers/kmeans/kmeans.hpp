// k-means: exact Lloyd iterations over dense or sparse rows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/filter.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"
#include "tallskinny/solvers/kmeans/row_source.hpp"

namespace ts::inline v0::solvers {

/// Error(bad_input) for numbers that float64 cannot square or sum, and whose they are.
class KMeansRangeError : public Error {
 public:
  enum class Of { points, weights, centers };
  KMeansRangeError(Of of, const std::string& sentence, Place where = Place::current())
      : Error(Errc::bad_input, sentence, where), of_(of) {}
  [[nodiscard]] Of of() const noexcept { return of_; }

 private:
  Of of_;
};

/// Choice of the first centres.
enum class KMeansInit {
  plus_plus,  ///< greedy k-means++: the best of 2 + log k draws for each centre (Arthur, Vassilvitskii 2007)
  parallel,   ///< k-means||: five rounds of k / 2 draws, then k-means++ on what was drawn (Bahmani et al.
              ///< 2012)
  random,     ///< distinct rows, drawn without replacement by weight
  given       ///< KMeansOptions::centers
};

/// Rows of the samples on which k-means++ chooses centres: 16 for each centre and 2^14 at least. Fewer, 2^14 at least,
/// where comparing all candidates with them would cost more than 2.5 iterations. `rows` is the upper limit; of very
/// wide rows, as many as fit in memory.
[[nodiscard]] index_t seeding_sample(index_t rows, index_t cols, index_t clusters) noexcept;

/// True if KMeansOptions::n_init = 0 improves its one start by breathing k-means (Fritzke 2020): on small data, at most
/// 2^15 rows and 2^24 products of rows, columns and clusters.
[[nodiscard]] bool breathing_pays(index_t rows, index_t cols, index_t clusters) noexcept;

/// Bytes that passes over dense rows in host memory may keep of rows in 8 bits and bounds (GroupBounds); 0 where these
/// are not tried.
[[nodiscard]] std::uint64_t group_bounds_bytes(index_t rows, index_t cols, index_t clusters) noexcept;

/// When an iteration that still changes labels counts as converged.
enum class KMeansTolerance {
  relative,  ///< sum_j ||new c_j - c_j||^2 <= tol times the mean variance of the columns
  absolute,  ///< sum_j ||new c_j - c_j||^2 <= tol
  labels,    ///< only when no label changes; tol is not used
  changed    ///< at most tol times as many labels changed as there are rows
};

/// Distance metric.
enum class KMeansMetric {
  euclidean,
  /// Spherical k-means: rows are divided by their norm, centres by theirs after each step; a label is the
  /// centre of largest cosine. A row of norm 0 (or below 2^-1000) has no direction and is as far from every
  /// centre as from any other: it gets label 0 and weighs nothing. Where the rows of a cluster cancel, its
  /// centre stays.
  cosine
};

/// Algorithm, by what one of its steps does.
enum class KMeansAlgorithm {
  lloyd,       ///< all rows in every step
  mini_batch,  ///< a sample in every step (Sculley 2010); tol is not used
  bisecting,   ///< the cluster of largest inertia is split in two until there are enough; the first centres of
               ///< each split as `init` says, but not given
  balanced,    ///< sizes differ by one at most; a label need not be the nearest centre. 8 n k bytes
  /// About sqrt(k) clusters of a sample; the rows of each are clustered in its share of the k centres, by its
  /// size; then KMeansOptions::refine iterations over all rows and centres. First centres as for bisecting.
  /// A source of blocks is passed over for each of the sqrt(k) clusters
  two_level
};

/// Certainty of labels.
enum class KMeansPrecision {
  exact,  ///< every label is the nearest centre's, as assign() proves
  fast    ///< Scores::fast: a label may be a centre's that is farther by what rounding of scores explains
};

/// Filters that may leave products out of passes. Labels are the same with each.
enum class KMeansFilter {
  automatic,  ///< what pays, by counts of the passes before
  none,
  bounds,     ///< bounds on distances, of rows, groups of centroids or tiles of rows, whether that pays or not
  projection  ///< products along a few axes, for dense rows on a GPU, where its kernels can; none elsewhere
};

/// Reason why a run ended.
enum class KMeansStop {
  labels_unchanged,
  tolerance,
  max_iterations,
  interrupted,
  refined  ///< as often as KMeansAlgorithm::two_level was asked to
};

/// Progress of a run.
struct KMeansProgress {
  int run = 0, runs = 1;     ///< of n_init
  index_t clusters = 0;      ///< that are looked for
  int iteration = 0;         ///< 0 while centres are chosen
  index_t chosen = 0;        ///< centres chosen so far, while iteration is 0, and by bisecting
  index_t changed = 0;       ///< labels that changed in this iteration
  double squared_shift = 0;  ///< sum_j ||new c_j - c_j||^2
  double inertia = 0;        ///< of the labels of this iteration about the new centres, from the sums
  index_t relocated = 0;     ///< empty clusters that were moved so far
  index_t rescored = 0;      ///< rows decided in higher precision in this iteration
  index_t skipped = 0;       ///< rows whose label bounds proved in this iteration
  index_t coarse = 0;        ///< pairs of a row and a centre scored in 8 bits by a pass with GroupBounds; 0: none
  index_t scored = 0;        ///< of these, in float32
  PassFilter filter = PassFilter::none;  ///< that this iteration used
  std::string_view scorer = {};          ///< what scored: numbers on a processor, a kernel on a GPU
  double seconds = 0;                    ///< that this iteration took
};

/// State of a run after an iteration, from which it goes on as if it had not stopped.
struct KMeansState {
  int run = 0, iteration = 0;
  index_t relocated = 0;
  std::vector<std::int32_t> labels;
  Matrix<double> centers;
  /// The best of the restarts before this one; none if there is no row.
  Matrix<double> best_centers;
  double best_inertia = 0;
  int best_run = 0, best_n_iter = 0;
  index_t best_relocated = 0;
  KMeansStop best_stop = KMeansStop::max_iterations;
};

/// Options of k-means.
struct KMeansOptions {
  index_t clusters = 8;
  KMeansAlgorithm algorithm = KMeansAlgorithm::lloyd;
  index_t batch = 1024;  ///< rows in a step of mini_batch
  int refine = 2;        ///< iterations of two_level over all rows
  /// Rows for each cluster, different ones drawn at random by seed, on which lloyd or two_level runs; all rows are
  /// labelled in the end. 0, or as many as there are: all. The sample lies where the rows are, on every rank, in
  /// float32 (float64 if the rows are, or sparse)
  index_t sample = 0;
  bool split_largest = false;  ///< bisecting: the cluster of most rows is split next, not that of largest inertia
  /// bisecting: the first two centres (2 x d) of a split of these rows, in place of `init`
  std::function<Matrix<double>(std::span<const index_t> rows)> split_centers = {};
  KMeansInit init = KMeansInit::plus_plus;
  HostView<const double> centers = {};  ///< clusters x d, for KMeansInit::given
  /// Restarts; the one of least inertia is returned. 0: one, whose centres, by k-means++ or k-means||, breathe before
  /// Lloyd's algorithm where that pays (breathing_pays); not those of a run that can be stopped and resumed
  int n_init = 1;
  int max_iter = 300;
  double tol = 1e-4;
  KMeansTolerance tolerance = KMeansTolerance::relative;
  KMeansMetric metric = KMeansMetric::euclidean;
  KMeansPrecision precision = KMeansPrecision::exact;
  std::span<const double> weights = {};  ///< one for each row, finite and not negative; none: all 1
  std::uint64_t seed = 0;
  KMeansFilter filter = KMeansFilter::automatic;
  /// Called after every iteration and chosen centre; false asks to stop. While iterating, the result so far
  /// is returned; while the first centres are chosen there is none, and Error(interrupted) is thrown.
  std::function<bool(const KMeansProgress&)> on_progress = {};
  /// Called after on_progress (also if that asked to stop) unless it was the last; its argument makes the state.
  std::function<void(const std::function<KMeansState()>&)> on_state = {};
  /// Resumes from that state: with the same rows and options, labels, centres, inertia and n_iter are those of a run
  /// that was never stopped.
  const KMeansState* resume = nullptr;
};

/// True if there are more than KMeansOptions::sample rows for each of k >= 1 clusters.
[[nodiscard]] constexpr bool takes_sample(const KMeansOptions& o, index_t rows, index_t k) noexcept {
  return o.sample > 0 && o.sample <= (rows - 1) / k;
}

/// Labels, centres and inertia belong together at every stop: each label is the nearest of these centres (but
/// for KMeansAlgorithm::balanced, and nearly so for KMeansPrecision::fast).
struct KMeansResult {
  std::vector<std::int32_t> labels;  ///< of the rows here
  Matrix<double> centers;            ///< k x d
  double inertia = 0;                ///< sum_i w_i ||x_i - c_label||^2 by direct differences
  int n_iter = 0;
  KMeansStop stop = KMeansStop::max_iterations;
  std::vector<index_t> sizes;      ///< rows in each cluster
  index_t distinct = 0;            ///< clusters that have rows
  index_t relocated = 0;           ///< how often an empty cluster was moved to a far row
  index_t rescored = 0;            ///< rows decided in higher precision, over all iterations
  index_t skipped = 0;             ///< rows whose label bounds proved, over all iterations
  index_t zero_rows = 0;           ///< rows without a direction, for KMeansMetric::cosine
  index_t sampled = 0;             ///< rows of the sample that was iterated over; 0: all rows were
  int run = 0;                     ///< which of the n_init restarts this is
  double seeding_seconds = 0;      ///< that first centres took, of all restarts
  std::vector<std::string> notes;  ///< messages for the user

  [[nodiscard]] bool converged() const noexcept {
    return stop == KMeansStop::labels_unchanged || stop == KMeansStop::tolerance || stop == KMeansStop::refined;
  }
};

/// Lloyd's algorithm (1957, 1982), every step exact: labels as assign() proves them, sums in fixed point, so
/// that bits depend on neither threads nor instruction set once the first centres are chosen. An empty
/// cluster takes the row that is farthest from its centre, ties to the lowest row, as scikit-learn does.
/// Rows on a device stay there, and so do labels and, for k-means++ and k-means||, distances: all passes run
/// on that device; for the cosine metric over a copy of theirs in float64. Bits are those of rows in host
/// memory once the first centres are chosen; first centres repeat on a device, but need not be those of the
/// host. Sizes must not be balanced there; mini_batch and bisecting work on copies of rows in host memory,
/// and label on the device. Memory besides the rows: 4 n for labels, 8 n for bounds (2 n on a device) and
/// about 32 k d for each thread; k-means++ and k-means|| 8 n more.
/// With several ranks `rows`, weights and labels are those of the slab here, which begins at a multiple of chunk_rows
/// (RowSlabs::of_pieces); all ranks call alike. The result, but labels, is that of all rows, and has the bits of one
/// rank; the counts rescored and skipped may differ on a device, and from 256 clusters on. One rank that asks to stop
/// stops all, and an error of one is thrown by all. Not for bisecting and balanced.
/// @throws Error(invalid_argument) for no rows or columns, k < 1 or more than n, NaN or Inf (with row and
/// column), weights or centres that do not fit; KMeansRangeError for coordinates beyond 2^500, for points
/// that differ by less than 2^-480, and for weights whose sums overflow or vanish; Error(interrupted).
[[nodiscard]] KMeansResult kmeans(const Context& ctx, const RowSource& rows, const KMeansOptions& options);
[[nodiscard]] KMeansResult kmeans(const Context& ctx, const Rows& rows, const KMeansOptions& options);

/// Solves for several numbers of clusters. Where a pass over the rows costs more than reading memory, all restarts of
/// all of them share the passes. Returns one result for each number, in order; fewer when a run was stopped.
[[nodiscard]] std::vector<KMeansResult> kmeans_of_each(const Context& ctx, const RowSource& rows,
                                                       const KMeansOptions& options, std::span<const index_t> clusters);

/// Compiles and loads together what Lloyd's algorithm takes for rows of this type in the memory of ctx.stream's
/// device; kmeans() does so once it knows the moments of the rows, but a file may be read meanwhile.
/// @param moments null: those of numbers between -1 and 1. Without a device nothing happens.
void prepare_kmeans(const Context& ctx, DType type, index_t rows, index_t cols, index_t k, const KMeansOptions& options,
                    const ColumnMoments* moments = nullptr);

/// Labels of rows by given centres; inertia and sizes as in KMeansResult.
struct KMeansPrediction {
  std::vector<std::int32_t> labels;
  double inertia = 0;
  std::vector<index_t> sizes;
  index_t rescored = 0, zero_rows = 0;
};

/// Labels each row with the nearest of given centres, as the last step of kmeans() does. The inertia is that of the
/// given centres: cosine divides rows by their norms, and for labels the centres, too.
/// @throws as kmeans(), and KMeansRangeError for centres beyond 2^500.
[[nodiscard]] KMeansPrediction predict(const Context& ctx, const RowSource& rows, HostView<const double> centers,
                                       KMeansMetric metric = KMeansMetric::euclidean,
                                       std::span<const double> weights = {},
                                       KMeansPrecision precision = KMeansPrecision::exact);
[[nodiscard]] KMeansPrediction predict(const Context& ctx, const Rows& rows, HostView<const double> centers,
                                       KMeansMetric metric = KMeansMetric::euclidean,
                                       std::span<const double> weights = {},
                                       KMeansPrecision precision = KMeansPrecision::exact);

/// The number of labels that are not the nearest centre by a float64 computation of all distances (0 unless
/// something is broken, or the precision was fast). `sample`: of this many rows, drawn at random; 0: of all.
/// @throws as predict.
[[nodiscard]] index_t verify(const Context& ctx, const RowSource& rows, HostView<const double> centers,
                             std::span<const std::int32_t> labels, KMeansMetric metric = KMeansMetric::euclidean,
                             index_t sample = 0);
[[nodiscard]] index_t verify(const Context& ctx, const Rows& rows, HostView<const double> centers,
                             std::span<const std::int32_t> labels, KMeansMetric metric = KMeansMetric::euclidean,
                             index_t sample = 0);

/// Distances of all rows to all centres, n x k: between directions for KMeansMetric::cosine.
/// @throws as predict.
[[nodiscard]] Matrix<double> transform(const Context& ctx, const Rows& rows, HostView<const double> centers,
                                       KMeansMetric metric = KMeansMetric::euclidean);

}  // namespace ts::inline v0::solvers
