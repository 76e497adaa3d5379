// Columns and random values of the sparse matrices of the benchmark (app/tsbench/sparse_pattern.hpp), whose row
// pointers are given: pattern 0 is a seven-point stencil on a cube of `side`, 1 a band of 17, 2 has 16 columns a row,
// each in its sixteenth, 3 is a graph, 4 blocks of 64 rows.
#include "tallskinny/app/tsbench/kernels/bench_value.cuh"

namespace {

__device__ uint64 mixed(uint64 x) {
  x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bench_sparse(const __grid_constant__ ts::bench::SparseArguments in) {
  const auto* const pointers = static_cast<const int64*>(in.pointers);
  auto* const short_pointers = static_cast<int*>(in.short_pointers);
  auto* const indices = static_cast<int*>(in.indices);
  auto* const values = static_cast<Element*>(in.values);
  const int pattern = in.pattern;
  const int64 n = in.n, side = in.side, layer = side * side, stride = static_cast<int64>(gridDim.x) * policy.threads;
  for (int64 i = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x; i <= n; i += stride) {
    int64 at = pointers[i];
    short_pointers[i] = static_cast<int>(at);
    if (i == n) break;
    const int64 count = pointers[i + 1] - at;
    const auto add = [&](bool inside, int64 column) {
      if (!inside) return;
      indices[at] = static_cast<int>(column);
      values[at] = Value<Element>::at(static_cast<uint64>(at) + 1);
      ++at;
    };
    if (pattern == 1 || pattern == 4) {
      const int64 first = pattern == 1 ? min(max(i - 8, 0ll), n - 17) : min(i / 64 * 64, n - count);
      for (int64 k = 0; k < count; ++k) add(true, first + k);
    } else if (pattern == 2) {
      const int64 part = n / 16;
      for (int64 k = 0; k < 16; ++k)
        add(true, k * part + static_cast<int64>(mixed(static_cast<uint64>(at)) % static_cast<uint64>(part)));
    } else if (pattern == 3) {
      for (int64 k = 0; k < count; ++k) {
        const double u = static_cast<double>(mixed(static_cast<uint64>(at)) >> 11) * 0x1p-53;
        const auto rank = static_cast<uint64>(u * u * u * u * u * static_cast<double>(n));
        add(true, static_cast<int64>(mixed(rank) % static_cast<uint64>(n)));
      }
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
