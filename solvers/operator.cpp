#include "tallskinny/solvers/operator.hpp"

#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

template <class T, class I>
OperatorFacts gershgorin(const CsrView<T, Space::host, I>& a) {
  if (a.rows == 0) return {0, 0, 0};
  double low = std::numeric_limits<double>::infinity(), high = -low;
#pragma omp parallel for reduction(min : low) reduction(max : high) schedule(static)
  for (index_t i = 0; i < a.rows; ++i) {
    double centre = 0, radius = 0;
    for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k)
      if (a.indices[k] == i)
        centre += std::real(a.values[k]);
      else
        radius += std::abs(a.values[k]);
    low = std::min(low, centre - radius), high = std::max(high, centre + radius);
  }
  return {a.nonzeros(), low, high};
}

#define TS_INSTANTIATE_INDEX(T, I) template OperatorFacts gershgorin<T, I>(const CsrView<T, Space::host, I>&);
#define TS_INSTANTIATE(T) TS_INSTANTIATE_INDEX(T, std::int32_t) TS_INSTANTIATE_INDEX(T, std::int64_t)
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::solvers
