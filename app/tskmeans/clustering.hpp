// Computes centres and labels of placed points, by clustering or by prediction.
#pragma once

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/tskmeans/checkpoint.hpp"
#include "tallskinny/app/tskmeans/input.hpp"
#include "tallskinny/app/tskmeans/report.hpp"
#include "tallskinny/solvers/setup/kmeans_plan.hpp"

namespace ts::tskmeans {

/// Centres that the options take from a file, and the number of clusters that follows.
struct Start {
  Matrix<double> centers;
  index_t k = 8;
};
/// For points with `cols` features. @throws Error naming the option.
[[nodiscard]] Start start_of(const ProgramOptions& options, index_t cols);

/// The points of a run that this rank has, where the plan puts them.
class Points {
 public:
  Points(const io::Description& described, const io::ReadOptions& read, const solvers::Placement& place,
         const cuda::Stream& stream) {
    if (place.in_host) file_ = io::read_matrix(described.where, read);
    placed_.emplace(
        place, file_ ? std::optional(rows_of(*file_)) : std::nullopt, [&] { return origin_of(described.where, read); },
        stream);
  }
  const solvers::PlacedRows* operator->() const { return &*placed_; }
  /// The file with the points, if they are in host memory.
  [[nodiscard]] const io::MatrixFile* in_host() const { return file_ ? &*file_ : nullptr; }

 private:
  std::optional<io::MatrixFile> file_;
  std::optional<solvers::PlacedRows> placed_;
};

/// Everything that a run works with; its parts must outlive it.
struct Job {
  const ProgramOptions& o;
  const Context& ctx;  ///< that distributes the points over ranks
  const Start& start;
  const Points& points;
  std::span<const double> weights;  ///< of the points here
  app::CheckpointFile& checkpoint;
  const std::optional<app::CheckpointFile>& resume;  ///< if that is another file
  app::Console& console;
};

/// Clusters or predicts, then verifies, measures and transforms as asked for; all ranks together.
/// @throws Error naming the file of numbers that it refuses.
void find(const Job& job, Outcome& out);

}  // namespace ts::tskmeans
