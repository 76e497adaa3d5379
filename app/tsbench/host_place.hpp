// The processor as a place where cases are measured.
#pragma once

#include "tallskinny/app/tsbench/measure.hpp"

namespace ts::bench {

class HostPlace {
 public:
  static constexpr Space space = Space::host;
  template <class T>
  struct Sets {
    std::vector<HostOperands<T>> sets;  ///< one: operands are far larger than the caches
    CsrMatrix<T> sparse;
  };

  /// Memory for `bytes` in each tall operand and for widths up to `width`. Of `ctx` threads, vector instructions and
  /// implementation count.
  HostPlace(Context ctx, std::int64_t bytes, index_t width);

  /// ours, the roofs and the peers in turns, so that a noisy machine hits all alike.
  [[nodiscard]] Measured measure(const Case& c, const Effort& effort);

  // What measure_on asks for.
  [[nodiscard]] const Context& context() const noexcept { return ctx_; }
  /// The tall operands take no more memory than there is; results in place are filled afresh.
  template <class T>
  [[nodiscard]] Sets<T> operands(const Case& c);
  template <class T>
  [[nodiscard]] static std::uint64_t bits_of(const HostOperands<T>&) noexcept {
    return 0;  // the engine's own tests compare bits on the host
  }
  template <class T>
  void time(const std::vector<HostOperands<T>>& sets, const Effort& effort, Measured& m);
  /// The bound and the prediction, with the roofs as measured.
  void judge(Measured& m);

 private:
  void measure_roofs(Roofs& best);
  Context ctx_;
  std::int64_t bytes_;
  Matrix<double> x_, y_, out_, small_, result_, gram_;  // bytes of any type
  std::optional<DType> filled_;                         // with values of this type
};

}  // namespace ts::bench
