// A tall dense matrix of which only blocks of rows are in memory, for singular values and principal components.
#pragma once

#include <memory>
#include <vector>

#include "tallskinny/solvers/setup/streamed_rows.hpp"
#include "tallskinny/solvers/svd/rectangular.hpp"

namespace ts::inline v0::solvers {

/// A, m x n, real, with few columns. Every product is a pass over its rows, in float64, on the processor or where
/// blocks are sent. Copies share what they read.
class StreamedMatrix {
 public:
  /// @param rows of float64 or float32. @throws Error(invalid_argument) for others.
  explicit StreamedMatrix(std::shared_ptr<const StreamedRows> rows);

  /// One pass for the mean of every column; from then on A stands for A - 1 mu^T, subtracted block by block.
  void centre(const Context&);
  [[nodiscard]] const std::vector<double>& means() const noexcept;
  /// A, with A^H A and the triangular factor from one pass each.
  [[nodiscard]] Rectangular<double> products() const;
  /// ||A||_F^2, once A^H A has been asked for.
  [[nodiscard]] double squares() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ts::inline v0::solvers
