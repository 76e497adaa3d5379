// A seven-point stencil on a cube of `side` as a CSR matrix with random values (app/tsbench/stencil.hpp).
#include "bench_value.cuh"

extern "C" __global__ void __launch_bounds__(256, 4)
    bench_stencil(int64* pointers, int* short_pointers, int* indices, Element* values, int64 side) {
  const int64 layer = side * side, n = layer * side, stride = static_cast<int64>(gridDim.x) * 256;
  for (int64 i = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x; i <= n; i += stride) {
    const int64 x = i % side, y = i / side % side, z = i / layer, in_layer = i % layer;
    // Seven entries a row, less those beyond each of the six faces in the rows before this one.
    int64 at = 7 * i - min(i, layer) - max(0ll, i - (n - layer))     //
               - z * side - min(in_layer, side)                      //
               - z * side - max(0ll, in_layer - (layer - side))      //
               - (i + side - 1) / side - i / side;
    pointers[i] = at;
    short_pointers[i] = static_cast<int>(at);
    if (i == n) break;
    const auto add = [&](bool inside, int64 column) {
      if (!inside) return;
      indices[at] = static_cast<int>(column);
      values[at] = Value<Element>::at(static_cast<uint64>(at) + 1);
      ++at;
    };
    add(z > 0, i - layer);
    add(y > 0, i - side);
    add(x > 0, i - 1);
    add(true, i);
    add(x + 1 < side, i + 1);
    add(y + 1 < side, i + side);
    add(z + 1 < side, i + layer);
  }
}
