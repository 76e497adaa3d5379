// A run for the singular values of a matrix: prepare, solve, finish. svds() and tssolve call the same steps.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tallskinny/solvers/driver/svds.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/solvers/setup/streamed_matrix.hpp"

namespace ts::inline v0::solvers {

/// Columns whose means were subtracted.
template <class T>
struct Centred {
  std::vector<T> means;
  std::function<double()> squares;  ///< ||A||_F^2 after that; called when all is solved
};

/// One run. With a stream in the Context products run on its device.
template <class T>
class SvdRun {
 public:
  /// Scales a matrix of extreme numbers, subtracts the means of its columns where `centre` asks for it (from a sparse
  /// one by a correction of every product), and copies it to the device. It must outlive the run.
  /// @param name of the matrix, for sentences
  SvdRun(const Context&, Borrowed<T>& a, bool centre, std::string name);
  /// A run with products that the caller has made.
  SvdRun(const Context& ctx, SvdProblem<T> problem, std::optional<Centred<T>> centred = {})
      : ctx_(ctx), problem_(std::move(problem)), centred_(std::move(centred)) {}
  /// A run with a matrix whose rows pass by in blocks for every product.
  SvdRun(const Context&, StreamedMatrix a, bool centre) requires std::is_same_v<T, double>;
  SvdRun(const SvdRun&) = delete;  // products refer to the copies on a device
  SvdRun& operator=(const SvdRun&) = delete;

  [[nodiscard]] const SvdProblem<T>& problem() const noexcept { return problem_; }

  /// The wanted triplets, in the caller's units and where `options` says.
  [[nodiscard]] SvdsResult<T> solve(EigenOptions options) const;

 private:
  const Context& ctx_;
  std::string name_;
  int exponent_ = 0;  ///< singular values of the caller's matrix are 2^exponent times those of the scaled one
  DeviceCopy<T> there_;
  SvdProblem<T> problem_;
  std::optional<Centred<T>> centred_;  ///< in units of the scaled matrix
};

/// True if the smallest singular values are wanted, not the largest.
[[nodiscard]] constexpr bool seeks_smallest(Which which) noexcept { return which == Which::SM || which == Which::SA; }

}  // namespace ts::inline v0::solvers
