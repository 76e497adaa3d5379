// The state of a run between two block steps, to be stored and taken up again with the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::solvers {

/// All numbers and small matrices in the order in which the solver lists them, and the columns of the basis.
template <class T>
struct SavedState {
  std::vector<double> numbers;
  std::vector<Matrix<T>> matrices;
  HostView<const T> basis;  ///< n x any number; the memory belongs to the solver, or to who loads it
};

/// Where the state goes to and comes from.
template <class T>
struct Checkpointing {
  std::function<bool()> due;                        ///< asked once per block step
  std::function<void(const SavedState<T>&)> write;  ///< called when due, and when a run ends early
  const SavedState<T>* resume = nullptr;            ///< continue from here
};

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
    list.resize(static_cast<std::size_t>(size));
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

}  // namespace ts::solvers
