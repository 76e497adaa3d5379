// The sparse matrices of the benchmark as CSR with random values (app/tsbench/sparse_pattern.hpp): pattern 0 is
// a seven-point stencil on a cube of `side`, 1 a band of 17, 2 has 16 columns a row, each in its sixteenth.
#include "tallskinny/app/tsbench/kernels/bench_value.cuh"

namespace {

__device__ uint64 mixed(uint64 x) {
  x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Seven entries a row, less those beyond each of the six faces in the rows before this one.
__device__ int64 first_of_stencil(int64 i, int64 n, int64 side) {
  const int64 layer = side * side, z = i / layer, in_layer = i % layer;
  return 7 * i - min(i, layer) - max(0ll, i - (n - layer))  //
         - z * side - min(in_layer, side)                   //
         - z * side - max(0ll, in_layer - (layer - side))   //
         - (i + side - 1) / side - i / side;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bench_sparse(const __grid_constant__ ts::bench::SparseArguments in) {
  auto* const pointers = static_cast<int64*>(in.pointers);
  auto* const short_pointers = static_cast<int*>(in.short_pointers);
  auto* const indices = static_cast<int*>(in.indices);
  auto* const values = static_cast<Element*>(in.values);
  const int pattern = in.pattern;
  const int64 n = in.n, side = in.side, layer = side * side, stride = static_cast<int64>(gridDim.x) * policy.threads;
  for (int64 i = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x; i <= n; i += stride) {
    int64 at = pattern == 0 ? first_of_stencil(i, n, side) : (pattern == 1 ? 17 : 16) * i;
    pointers[i] = at;
    short_pointers[i] = static_cast<int>(at);
    if (i == n) break;
    const auto add = [&](bool inside, int64 column) {
      if (!inside) return;
      indices[at] = static_cast<int>(column);
      values[at] = Value<Element>::at(static_cast<uint64>(at) + 1);
      ++at;
    };
    if (pattern == 1) {
      const int64 first = min(max(i - 8, 0ll), n - 17);
      for (int k = 0; k < 17; ++k) add(true, first + k);
    } else if (pattern == 2) {
      const int64 part = n / 16;
      for (int k = 0; k < 16; ++k)
        add(true, k * part + static_cast<int64>(mixed(static_cast<uint64>(16 * i + k)) % static_cast<uint64>(part)));
    } else {
      const int64 x = i % side, y = i / side % side, z = i / layer;
      add(z > 0, i - layer);
      add(y > 0, i - side);
      add(x > 0, i - 1);
      add(true, i);
      add(x + 1 < side, i + 1);
      add(y + 1 < side, i + side);
      add(z + 1 < side, i + layer);
    }
  }
}
