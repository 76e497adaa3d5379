// Stands in for peers_openblas.cpp where the build found no OpenBLAS: its column of the table stays empty.
#include "tallskinny/app/tsbench/peers.hpp"

namespace ts::bench {

template <class T>
std::function<void()> openblas_peer(const Operands<T>&) {
  return {};
}
void set_openblas_threads(int) {}
std::string openblas_version() {
  return {};
}

#define TS_INSTANTIATE(T) template std::function<void()> openblas_peer<T>(const Operands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
