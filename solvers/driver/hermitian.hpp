// A run with a Hermitian matrix or pencil in memory: plan, prepare, solve. eigsh() and tssolve call the same steps.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tallskinny/solvers/driver/borrowed.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/eigen/values/state.hpp"
#include "tallskinny/solvers/eigen/values/ways.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/solvers/setup/hermitian_part.hpp"
#include "tallskinny/solvers/setup/memory_plan.hpp"

namespace ts::inline v0::solvers {

/// The part of a request that decides how eigenvalues are sought.
struct HermitianRequest {
  std::optional<double> sigma = {};
  std::optional<Interval> interval = {};  ///< all eigenvalues in it
  bool dense = false;                     ///< the matrix has no sparse form
  Which which = Which::LA;
  Method method = Method::automatic;
  Precision precision = Precision::float64;
};

[[nodiscard]] inline HermitianRequest request_of(const EigenOptions& options, std::optional<double> sigma,
                                                 std::optional<Interval> interval, bool dense) {
  return {sigma, interval, dense, options.which, options.method, options.precision};
}

/// The number at which A - sigma M is factorised: sigma, or 0 for SM.
[[nodiscard]] std::optional<double> target_of(const HermitianRequest&);

/// True where factors of A - sigma M are needed, unless the matrix is decomposed as a whole.
[[nodiscard]] bool seeks_through_factors(const HermitianRequest&);

struct HermitianSearch {
  Factorise factorise = Factorise::nothing;
  bool narrow = false;      ///< the iteration sees the matrix in float32
  std::string_view method;  ///< in words
  std::string_view why;     ///< the reason for that method as half a sentence; empty where the request names it
};
[[nodiscard]] HermitianSearch search_of(const HermitianRequest&, const EigenPlan&);

/// A way that a run may take, for lists.
struct NamedWay {
  std::string_view name;
  Way way;
};
/// The ways that are open to a run with this plan, the cheapest first.
/// @param rows, entries of the matrix. @param factors as factor_cost() gives them
[[nodiscard]] std::vector<NamedWay> ways_of(const HermitianRequest&, const EigenPlan&, index_t rows, double entries,
                                            const FactorCost& factors);

/// Bytes of a run with this plan. @param needs of an iteration in float64, which other precisions change.
[[nodiscard]] MemoryPlan plan_hermitian_memory(const EigenPlan&, const HermitianRequest&, MemoryNeeds needs);

/// Makes a matrix exactly Hermitian that is so to rounding, and returns the skew part that was dropped. Ranks call it
/// together, each with its rows.
/// @param name, type as skew_part() takes them. @param partners rows of A^T, where ranks have them already
/// @throws as skew_part()
template <class T>
[[nodiscard]] SkewPart make_hermitian(const Context&, const std::string& name, DType type, Borrowed<T>& a,
                                      HermitianRules rules, std::optional<AnyMatrix<T>> partners = {});

/// Matrices and request of a run. Matrices are in the caller's units, and must outlive it; those of extreme numbers are
/// scaled. Of several ranks each gives its rows.
template <class T>
struct HermitianInput {
  Borrowed<T>& a;
  Borrowed<T>* mass = nullptr;  ///< sparse; null: the identity
  index_t rows = 0;             ///< of all ranks
  std::string name;             ///< of the matrix, for sentences
  HermitianRequest request;
  HermitianSearch search;
  Dropped dropped = {};  ///< skew parts that were left out
  BeforeFactors before_factors = nullptr;
  DirectBackend factors_by = DirectBackend::best;
};

/// Eigenpairs with the facts that only a run with matrices can give.
template <class T>
struct HermitianResult : EigenResult<T> {
  /// ||A x - lambda M x|| / ((||A|| + |lambda| ||M||) ||x||), without M the residual norm over ||A||.
  std::vector<double> backward_errors;
  std::string note;      ///< empty, or a sentence on what was done differently from what was asked
  index_t infinite = 0;  ///< infinite eigenvalues of a pencil with a singular mass matrix, at least
};

/// One run. With a stream in the Context products run on its device; with several ranks in it each passes its rows, and
/// all call the same functions.
template <class T>
class HermitianRun {
 public:
  /// Scales the matrices, copies A to the device, and factorises what the search needs.
  /// @param options of the result; a matrix without factors may be solved densely all the same
  /// @throws as assemble()
  HermitianRun(const Context&, const HermitianInput<T>&, const EigenOptions& options);
  /// A run with an operator, whose problem the caller has made. @param a of the pencil, not of the standard form
  HermitianRun(const Context&, Operator<T> a, Assembled<T>, CsrView<T> mass, const HermitianRequest& request,
               const EigenOptions& options);
  HermitianRun(const HermitianRun&) = delete;  // operators refer to the copies on a device
  HermitianRun& operator=(const HermitianRun&) = delete;

  /// Sets the preconditioner of LOBPCG and Davidson: one that is made from the entries, or an operator near A^-1.
  void precondition(Preconditioner, Which which);
  void precondition(const Operator<T>& near_inverse);

  /// Empty, or a sentence on a shift that was moved, or on infinite eigenvalues.
  [[nodiscard]] const std::string& note() const noexcept { return assembled_->note; }

  /// Method::dense where that takes less than the factors that are needed, whatever was planned.
  [[nodiscard]] Method method() const noexcept { return options_.method; }

  /// The wanted pairs, of the pencil where there is a mass matrix, in the caller's units and where `options` says.
  /// @param counted called with the number of eigenvalues in an interval before they are computed; may throw
  [[nodiscard]] HermitianResult<T> solve(HostView<const T> initial, const Checkpointing<T>& checkpointing,
                                         const std::function<void(index_t)>& counted = nullptr) const;

 private:
  const Context& ctx_;
  std::string name_;
  int exponent_ = 0;      ///< eigenvalues of the caller's matrices are 2^exponent times those of the scaled ones
  EigenOptions options_;  ///< for the scaled matrices
  AnyView<T> matrix_;
  std::optional<CsrView<T>> mass_;
  std::optional<Interval> interval_;  ///< in units of the scaled matrices
  Dropped dropped_;                   ///< likewise
  DeviceCopy<T> there_;
  Rounded<T> rounded_;
  std::optional<Assembled<T>> assembled_;
  std::optional<Operator<T>> a_;  ///< where the caller has given one
};

}  // namespace ts::inline v0::solvers
