// Methods of orthonormalisation: how orthogonal, with how many synchronisations, how fast.
#pragma once

#include "tallskinny/app/common/roofs.hpp"
#include "tallskinny/app/generators/gram_schmidt.hpp"
#include "tallskinny/solvers/ortho/compared/catalogue.hpp"

namespace ts::bench {

/// One method on one hard matrix of 1000 x 100, in blocks of 5.
struct OrthoAccuracy {
  ortho::Orthonormalised outcome;
  double loss = 0;      ///< ||I - Q^H Q||_2 of the columns that were found
  double accepted = 0;  ///< infinity: anything, also a breakdown
  [[nodiscard]] bool passes() const;
};
[[nodiscard]] OrthoAccuracy measure_ortho_accuracy(const ortho::NamedMethod& method,
                                                   const generators::HardMatrix& matrix, std::size_t number);

/// What one more block costs, counted while it is done: sums over all rows, and readings of the basis.
struct OrthoCounts {
  int reductions = 0;
  double passes = 0;
};
[[nodiscard]] OrthoCounts count_ortho(const ortho::NamedMethod& method);

struct OrthoSize {
  index_t rows = 0, columns = 0, width = 0;
  int threads = 0, repetitions = 1;
};

/// Bytes and seconds of a whole factorisation of a random matrix: skeletons in blocks of `width`, muscles
/// one block of it.
struct OrthoSpeed {
  double seconds = 0, bytes = 0;
  double roof_seconds = 0;  ///< the bytes at the rates measured beside it
};

/// Memory for the timings of all methods.
class OrthoBench {
 public:
  explicit OrthoBench(const OrthoSize& size);
  /// @throws Error(device_failure) if the method does not finish.
  [[nodiscard]] OrthoSpeed measure(const ortho::NamedMethod& method);
  [[nodiscard]] static std::uint64_t bytes(const OrthoSize& size);

 private:
  OrthoSize size_;
  Matrix<double> source_, x_;
  Roofs roofs_;
};

/// Whether a method runs on one thread, to be compared with and not to be timed.
[[nodiscard]] bool is_reference(const ortho::NamedMethod& method);

}  // namespace ts::bench
