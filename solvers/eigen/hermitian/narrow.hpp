// Block Lanczos in float32, and in float64 from what that found.
#pragma once

#include <optional>

#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"

namespace ts::inline v0::solvers {

/// Iterates with `problem.narrow`: matrix, basis and blocks in float32. Precision::float32 ends there.
/// Precision::mixed goes on in float64, from the Ritz vectors found and with the polynomial found: nothing
/// then depends on float32 but how near the start was. A set that float32 found complete is complete in
/// float64 where the gap outside of it is wide beside the rounding seen (Evidence); otherwise float64
/// searches for what is missing. Where float32 gets nowhere, or was no help, float64 goes on as if alone.
template <class T>
class NarrowLanczos {
 public:
  /// @param initial n x c, a warm start; must stay alive, as must all that is taken by reference.
  /// @param record what the run adds to.
  /// @throws Error(invalid_argument) without `problem.narrow`.
  NarrowLanczos(const Context&, const EigenProblem<T>&, const EigenOptions&, const EigenPlan&,
                HostView<const T> initial, EigenResult<T>& record);

  [[nodiscard]] Iterated<T> run();
  /// Before another run, when true residuals turn out larger than their estimates.
  void tighten();

 private:
  using N = narrow_t<T>;

  /// The work of the run in float32 as that of the whole.
  void take_over() const;
  void refine();
  void go_on_alone(const Predecessor& before);
  [[nodiscard]] bool agree(double norm) const;
  [[nodiscard]] Evidence evidence() const;

  const Context& ctx_;
  const EigenProblem<T>& problem_;
  const EigenOptions& options_;
  EigenPlan plan_;
  EigenOptions narrow_options_;
  EigenPlan narrow_plan_;
  EigenProblem<N> narrow_problem_;
  HostView<const T> initial_;
  EigenResult<T>& record_;
  PlacedMatrix<N> narrow_initial_;
  EigenResult<N> narrow_record_;
  PlacedMatrix<T> start_;  ///< of the run in float64
  Checkpointing<N> no_narrow_checkpoints_;
  Checkpointing<T> no_checkpoints_;
  std::optional<Lanczos<N>> narrow_;
  std::optional<Lanczos<T>> wide_;
  bool refining_ = false;
};

template <class T>
[[nodiscard]] Iterated<T> run(NarrowLanczos<T>& lanczos) {
  return lanczos.run();
}
template <class T>
void tighten(NarrowLanczos<T>& lanczos) {
  lanczos.tighten();
}

/// What block Lanczos by this plan takes in this precision on the device of ctx.stream, for a sparse matrix with so
/// many entries, and finish() after it, prepared ahead (prepare_block_steps).
template <class T>
void prepare_lanczos(const Context&, index_t rows, index_t nonzeros, const EigenPlan&, Precision);

}  // namespace ts::inline v0::solvers
