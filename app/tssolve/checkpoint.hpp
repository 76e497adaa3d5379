// --checkpoint: the state of a run in a file that is either complete or the one before.
#pragma once

#include <filesystem>
#include <memory>

#include "tallskinny/app/common/stopwatch.hpp"
#include "tallskinny/app/tssolve/input.hpp"
#include "tallskinny/solvers/eigen/state.hpp"

namespace ts::app::tssolve {

/// A number that tells matrices apart: FNV-1a over shape, pattern and values.
template <class T>
[[nodiscard]] std::uint64_t fingerprint(const AnyMatrix<T>& matrix);

template <class T>
class Checkpoint {
 public:
  /// Takes up what the file holds, if there is one; an empty path does nothing at all.
  /// @param every seconds between two writings.
  /// @throws Error(bad_input) naming the file when it is no checkpoint or one of another matrix.
  Checkpoint(std::filesystem::path file, double every, std::uint64_t matrix);

  /// For the solver; refers to this object.
  [[nodiscard]] solvers::Checkpointing<T> hooks();
  [[nodiscard]] bool resumes() const noexcept { return loaded_ != nullptr; }
  /// The run has ended: nothing is left to take up.
  void remove() const;

 private:
  struct Loaded {
    solvers::SavedState<T> state;
    Matrix<T> basis;
  };
  void load();
  void write(const solvers::SavedState<T>& state);

  std::filesystem::path file_;
  double every_;
  std::uint64_t matrix_;
  Stopwatch since_;  ///< the last write
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace ts::app::tssolve
