// Rows, shifted and scaled, as float16 numbers that a library multiplies, with zeros behind the last column; and of
// each row the squared norms from which the bound on its scores follows.
#include "tallskinny/gemm/device/warp.cuh"
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"

constexpr int line = 16 * policy.steps, vector = policy.vector, warps = policy.threads / 32;
using Halves = Vector<unsigned short, vector, 2 * vector>;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_round(ts::cuda::RoundArguments a) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shift* const shifts = reinterpret_cast<Shift*>(memory);
  for (int j = threadIdx.x; j < line; j += policy.threads) shifts[j] = shift_of(j < policy.d ? a.shift[j] : 0, a.scale);
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int64 i = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32; i < a.x.count;
       i += static_cast<int64>(gridDim.x) * warps) {
    const Element* const row = row_of(a.x, i);
    unsigned short* const to = a.halves + i * line;
    float squared = 0, rest = 0;
#pragma unroll 4
    for (int j = lane * vector; j < line; j += 32 * vector) {
      Piece piece{};
      if (policy.d == line || j < policy.d) piece = *reinterpret_cast<const Piece*>(row + j);
      Halves rounded;
#pragma unroll
      for (int e = 0; e < vector; ++e) {
        const float v = policy.d == line || j < policy.d ? centred(piece.part[e], shifts[j + e], a.scale) : 0.0f;
        const uint32 half = halves(v, 0);
        const float lost = v - lower_half(half);
        rounded.part[e] = static_cast<unsigned short>(half);
        squared = __fmaf_rn(v, v, squared), rest = __fmaf_rn(lost, lost, rest);
      }
      *reinterpret_cast<Halves*>(to + j) = rounded;
    }
    squared = sum_of_warp(squared), rest = sum_of_warp(rest);
    if (lane == 0) a.squares[2 * i] = squared, a.squares[2 * i + 1] = rest;
  }
}
