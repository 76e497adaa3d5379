// --checkpoint: the state of a run in a file that is either complete or the one before.
#pragma once

#include <memory>

#include "tallskinny/app/common/checkpoint_file.hpp"
#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/app/tssolve/input.hpp"
#include "tallskinny/app/tssolve/settings.hpp"
#include "tallskinny/solvers/eigen/values/state.hpp"

namespace ts::app::tssolve {

/// A number that tells matrices apart: a hash of shape, pattern and values, by any number of threads and of ranks the
/// same.
/// @param rows this rank's, of which ranks have whole units (row_unit).
template <class T>
[[nodiscard]] std::uint64_t fingerprint(const Context& ctx, const solvers::AnyView<T>& rows);

/// A number that tells runs on one matrix apart: of the options that decide the result, and the first
/// columns, of which ranks have their rows.
template <class T>
[[nodiscard]] std::uint64_t fingerprint(const Context& ctx, const Settings& settings, HostView<const T> initial);

template <class T>
class Checkpoint {
 public:
  /// Takes up what the file holds, if there is one to take up; of several ranks each its rows, whoever wrote them.
  /// @param matrix, options fingerprints of the problem and of the run.
  /// @throws Error naming the file: bad_input when it is damaged or one of another matrix, invalid_argument
  /// when it is one of other options.
  Checkpoint(CheckpointFile& file, const Context& ctx, std::uint64_t matrix, std::uint64_t options);

  /// For the solver; refers to this object.
  [[nodiscard]] solvers::Checkpointing<T> hooks();

 private:
  struct Loaded {
    solvers::SavedState<T> state;
    Matrix<T> basis;
  };
  void load();
  void write(const solvers::SavedState<T>& state);
  void write(const solvers::SavedState<T>& state, const RowsOfRanks& ranks);

  CheckpointFile& file_;
  Context ctx_;
  std::uint64_t matrix_, options_;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace ts::app::tssolve
