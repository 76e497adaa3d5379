// Dense matrices decomposed as a whole: one interface, and a backend for each place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/eigen/small/schur.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers {

/// What is computed of a whole matrix: eigenvalues of a Hermitian one, of any square one, or singular values.
enum class DenseTask { hermitian, general, singular };

/// What a decomposition takes beside the matrix that it is given.
struct DenseBytes {
  std::uint64_t host = 0, device = 0;
};

/// All eigenvalues of a matrix that need not be Hermitian, in the order in which they came.
struct WholeSpectrum {
  std::vector<Complex> values;
  /// Sizes of what is never separated: one value, or of a real matrix the two of a conjugate pair, that with the
  /// positive imaginary part first.
  std::vector<index_t> units;
};
/// The numbers of the values whose vectors are wanted, in the order of the vectors.
using ChooseValues = std::function<std::vector<index_t>(const WholeSpectrum&)>;

/// All eigenvalues, and eigenvectors and conditions of the chosen.
struct GeneralPairs {
  WholeSpectrum all;
  std::vector<index_t> chosen;
  SchurVectors pairs;
};

/// Parts, and whose they are: "LAPACK (OpenBLAS 0.3.21)", "cuSOLVER 12.0.4 on NVIDIA H100 80GB HBM3".
template <class Parts>
struct Decomposed {
  Parts parts;
  std::string by;
};

/// Finite matrices in host memory; so are the parts. T: double or complex<double>. What a library on a device cannot
/// decompose the processor does, and Context::log is told.
template <class T>
class DenseSolver {
 public:
  DenseSolver() = default;
  DenseSolver(const DenseSolver&) = delete;
  DenseSolver& operator=(const DenseSolver&) = delete;
  virtual ~DenseSolver() = default;

  /// Who decomposes matrices of this shape.
  [[nodiscard]] virtual std::string by(DenseTask, index_t rows, index_t cols) const = 0;
  /// @throws Error(device_failure)
  [[nodiscard]] virtual DenseBytes bytes(DenseTask, index_t rows, index_t cols) const = 0;
  /// ortho::hermitian_pairs: of the lower triangle of H.
  [[nodiscard]] virtual Decomposed<ortho::HermitianPairs<T>> hermitian(const Context&, HostView<const T> h,
                                                                       index_t wanted,
                                                                       const ortho::ChoosePairs&) const = 0;
  /// @throws Error(bad_input) where it does not converge.
  [[nodiscard]] virtual Decomposed<GeneralPairs> general(const Context&, HostView<const T> a,
                                                         const ChooseValues&) const = 0;
  /// ortho::svd
  [[nodiscard]] virtual Decomposed<ortho::Svd<T>> singular(const Context&, HostView<const T> a) const = 0;
};

/// Whether cuSOLVER, and in it what this task needs, is found when the program runs. Loads it.
[[nodiscard]] bool has_cusolver(DenseTask);

/// cuSOLVER, where `space` is the device of this stream and the library is found; otherwise LAPACK or Eigen.
template <class T>
[[nodiscard]] std::unique_ptr<const DenseSolver<T>> dense_solver(const cuda::Stream&, Space space, DenseTask);

}  // namespace ts::inline v0::solvers
