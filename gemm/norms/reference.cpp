#include <cmath>

#include "tallskinny/gemm/core/eigen_reference.hpp"
#include "tallskinny/gemm/norms/detail.hpp"

namespace ts::inline v0::reference {

template <class T>
void column_norms(Strided<const T> x, std::span<real_t<T>> norms) {
  for (index_t j = 0; j < x.cols; ++j) {
    double largest = 0;
    bool nan = false;
    const auto each_part = [&](auto&& use) {  // real and imaginary parts alike, in float64
      for (index_t i = 0; i < x.rows; ++i) {
        const auto value = widened(x(i, j));
        use(static_cast<double>(std::real(value)));
        if constexpr (is_complex<T>) use(static_cast<double>(std::imag(value)));
      }
    };
    each_part([&](double part) {
      nan = nan || std::isnan(part);
      largest = std::max(largest, std::abs(part));
    });
    double norm = nan ? std::nan("") : largest;
    if (!nan && largest > 0 && std::isfinite(largest)) {  // ||x|| = m sqrt(sum (x_i / m)^2), m = max |x_i|
      double sum = 0;
      each_part([&](double part) { sum += (part / largest) * (part / largest); });
      norm = largest * std::sqrt(sum);
    }
    norms[static_cast<std::size_t>(j)] = static_cast<real_t<T>>(norm);
  }
}

TS_FOR_EACH_TYPE(TS_FUNCTION, column_norms)

}  // namespace ts::inline v0::reference
