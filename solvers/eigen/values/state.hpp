// The state of a run between two block steps, to be stored and taken up again with the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// All numbers and matrices in the order in which the solver lists them, and the columns of the basis. Of several
/// ranks each has its rows of what is tall, and all have the same of the rest.
template <class T>
struct SavedState {
  std::vector<double> numbers;
  std::vector<Matrix<T>> matrices;
  std::vector<std::size_t> tall;  ///< which of the matrices have the rows of the basis; only told, not asked for
  HostView<const T> basis;        ///< n x any number; the memory belongs to the solver, or to who loads it
};

/// Where the state goes to and comes from. All ranks write and resume, or none; what is due at one is at all.
template <class T>
struct Checkpointing {
  std::function<bool()> due;                        ///< asked once per block step
  std::function<void(const SavedState<T>&)> write;  ///< called when due, and when a run ends early
  const SavedState<T>* resume = nullptr;            ///< continue from here
};

/// Between two block steps: may another follow? The state is stored when it is time to, or when the run is
/// about to end early; what is still tried then is no part of it.
/// @param spent the budget is. @param ended whether the run was about to end before, and is now.
/// @param store called to store the state. Ranks agree on what any of them asks for.
template <class T, class Store>
[[nodiscard]] Stage next_step(const Context& ctx, const EigenOptions& options, bool spent,
                              const Checkpointing<T>& checkpointing, bool& ended, const Store& store) {
  Stage stage = Stage::reached;
  if (any_rank(ctx, options.stop && options.stop()))
    stage = Stage::interrupted;
  else if (spent)
    stage = Stage::budget;
  const bool ends = stage != Stage::reached;
  if (checkpointing.write && !ended && (ends || any_rank(ctx, checkpointing.due && checkpointing.due()))) store();
  ended = ended || ends;
  return stage;
}

/// Lists members: `archive(a, b, c)` stores them, or brings them back, in this order.
template <class T>
class StateArchive {
 public:
  /// For storing.
  explicit StateArchive(SavedState<T>& out) : out_(&out) {}
  /// For loading.
  explicit StateArchive(const SavedState<T>& in) : in_(&in) {}

  [[nodiscard]] bool loading() const noexcept { return in_ != nullptr; }

  template <class... Members>
  void operator()(Members&... members) {
    (exchange(members), ...);
  }
  /// A matrix with the rows of the basis.
  void tall(Matrix<T>& m) {
    if (!loading()) out_->tall.push_back(out_->matrices.size());
    exchange(m);
  }
  /// The basis: stores the view; loading gives what was stored.
  [[nodiscard]] HostView<const T> basis(HostView<const T> columns) {
    if (loading()) return in_->basis;
    out_->basis = columns;
    return columns;
  }

 private:
  void exchange(double& x) {
    if (!loading()) return out_->numbers.push_back(x);
    expects(next_number_ < in_->numbers.size(), "the stored state of the run ends too early");
    x = in_->numbers[next_number_++];
  }
  /// Whole numbers up to 2^53.
  template <class N>
  requires(std::is_integral_v<N> || std::is_enum_v<N>) void exchange(N& n) {
    auto x = static_cast<double>(n);
    exchange(x);
    n = static_cast<N>(x);
  }
  template <class E>
  void exchange(std::vector<E>& list) {
    auto size = static_cast<index_t>(list.size());
    exchange(size);
    expects(size >= 0 && (!loading() || size <= static_cast<index_t>(in_->numbers.size())),
            "the stored state of the run is damaged");
    list.resize(at(size));
    for (E& element : list) {
      if constexpr (requires(StateArchive & archive) { element.exchange(archive); })
        element.exchange(*this);
      else
        exchange(element);
    }
  }
  void exchange(Matrix<T>& m) {
    if (!loading()) return out_->matrices.push_back(Matrix<T>::copy_of(m.cview()));
    expects(next_matrix_ < in_->matrices.size(), "the stored state of the run ends too early");
    m = Matrix<T>::copy_of(in_->matrices[next_matrix_++].cview());
  }

  SavedState<T>* out_ = nullptr;
  const SavedState<T>* in_ = nullptr;
  std::size_t next_number_ = 0, next_matrix_ = 0;
};

/// Numbers of any kind, to be stored.
template <class... Numbers>
[[nodiscard]] std::vector<double> as_numbers(Numbers... numbers) {
  return {static_cast<double>(numbers)...};
}

/// What must agree for a stored state to be this run's is stored with it.
/// @throws Error(invalid_argument) where it does not.
template <class T>
void expect_same_run(StateArchive<T>& archive, const std::vector<double>& identity) {
  auto stored = identity;
  archive(stored);
  if (stored != identity)
    throw Error(Errc::invalid_argument, "the stored state belongs to a run on another matrix or with other options");
}

}  // namespace ts::inline v0::solvers
