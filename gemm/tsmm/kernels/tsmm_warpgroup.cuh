// The chunk of a warpgroup of tsmm.cuh by its tensor instructions (sm_90a): 3xTF32 of 64 rows, in two thirds
// of the time that single warps take. X comes from registers; S lies in shared memory by K, as high and low
// parts. Complex: an instruction takes the real parts of X alone or the imaginary ones, and the real and the
// imaginary part of S serve both parts of Y.
#pragma once

#include "tallskinny/gemm/device/wgmma.cuh"
#include "tallskinny/gemm/tsmm/kernels/tsmm_rows.cuh"

template <TsmmPolicy policy>
struct ByWarpgroups {
  static_assert(policy.scalar() == 4 && policy.split() && policy.teams == 4 && policy.column_warps == 1 &&
                    policy.tiles == 1,
                "64 rows, all columns");

  static constexpr int column_blocks = policy.column_blocks(), columns = 8 * column_blocks;
  using Split = typename Choose<policy.split(), Fragment, SplitFragment>::type;
  static constexpr int plane_bytes = 8 * columns * 4;  ///< S for one instruction

  /// Which of a lane's four scalars of a block of K come first and second in its instruction number `step`.
  static __device__ __forceinline__ constexpr int scalar_of_step(int step, int place) {
    return is_complex ? 2 * place + step : 2 * step + place;
  }

  /// For each block of K and step the high parts, then the low ones.
  static __device__ __forceinline__ void prepare_factor(unsigned char* to, const Factor& s, int thread) {
    for (int e = thread; e < k_blocks * 4 * columns; e += policy.threads()) {
      const int column = column_of(e % columns / 8, e % 8), place = e / columns % 2, step = e / (2 * columns) % 2;
      uint4 high, low;
      const auto split = [&](int t, uint32& h, uint32& l) {
        const int k = scalar_of_lane(e / (4 * columns), t, scalar_of_step(step, place));
        SplitFragment f;
        set(f, 0, k < policy.p * parts && column < policy.q ? part_of(s.at(k / parts, column), k % parts) : 0);
        h = f.high[0], l = rounded_low(f.low[0]);
      };
      split(0, high.x, low.x), split(1, high.y, low.y), split(2, high.z, low.z), split(3, high.w, low.w);
      unsigned char* const plane = to + e / (2 * columns) * (2 * plane_bytes) + e % (2 * columns) * 16;
      *reinterpret_cast<uint4*>(plane) = high;
      *reinterpret_cast<uint4*>(plane + plane_bytes) = low;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }

  /// Blocks of K whose products the instructions add up themselves, truncating; beyond, additions are rounded.
  static constexpr int batch = 2;

  /// A lane's share of a batch of its two rows of X, as the instructions want it.
  struct Left {
    uint32 high[batch][2][4], low[batch][2][4];

    __device__ __forceinline__ void load(const X& x, const unsigned char* slot, const Rows& row, int first_block,
                                         int t) {
#pragma unroll
      for (int b = 0; b < batch; ++b) {
        const int kb = first_block + b;
        if (kb >= k_blocks) continue;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const unsigned char* const from = slot + row[0][half];
          const Split f = kb < whole_blocks ? load_row<true>(x, from, kb, t) : load_row<false>(x, from, kb, t);
#pragma unroll
          for (int step = 0; step < 2; ++step)
#pragma unroll
            for (int place = 0; place < 2; ++place) {
              high[b][step][2 * place + half] = f.high[scalar_of_step(step, place)];
              low[b][step][2 * place + half] = f.low[scalar_of_step(step, place)];
            }
        }
      }
    }
    /// What instructions use stays where it is until here.
    __device__ __forceinline__ void keep() {
#pragma unroll
      for (int i = 0; i < batch * 8; ++i)
        asm volatile("" : "+r"(high[i / 8][i / 4 % 2][i % 4]), "+r"(low[i / 8][i / 4 % 2][i % 4])::"memory");
    }
  };

  using Products = float[parts][4 * column_blocks];

  /// Starts c = the products of a batch, the small ones first.
  static __device__ __forceinline__ void multiply(Products& c, const Left& left, const unsigned char* factor,
                                                  int first_block) {
    wgmma_fence();
#pragma unroll
    for (int kind = 0; kind < 3; ++kind)
#pragma unroll
      for (int b = 0; b < batch; ++b)
#pragma unroll
        for (int step = 0; step < 2; ++step)
#pragma unroll
          for (int part = 0; part < parts; ++part) {
            if (first_block + b >= k_blocks) continue;
            const int plane = ((first_block + b) * 2 + (is_complex ? step ^ part : step)) * 2 + (kind == 1);
            const uint64 right = wgmma_descriptor(factor + plane * plane_bytes, columns);
            const uint32(&a)[4] = kind == 0 ? left.low[b][step] : left.high[b][step];
            const int add = kind + b + step > 0;
            if (is_complex && step == 1 && part == 0)  // Re Y: less the product of the imaginary parts
              Wgmma<column_blocks>::template multiply<-1>(c[part], a, right, add);
            else
              Wgmma<column_blocks>::multiply(c[part], a, right, add);
          }
    wgmma_commit();
  }

  /// A warp's rows; the four warps of a group go through this together.
  static __device__ __forceinline__ void compute(const X& x, unsigned char* slot, const unsigned char* factor,
                                                 const Factor& s, const Place& place, const Scalars& scalars) {
    const int t = place.lane % 4;
    Sums sum = {};
    Rows row;
    find_rows(x, place, row);
    Left left;
    left.load(x, slot, row, 0, t);
#pragma unroll
    for (int kb = 0; kb < k_blocks; kb += batch) {
      Products c;
      multiply(c, left, factor, kb);
      Left next;
      if (kb + batch < k_blocks) next.load(x, slot, row, kb + batch, t);
      wgmma_wait();
      left.keep();
#pragma unroll
      for (int part = 0; part < parts; ++part)
#pragma unroll
        for (int i = 0; i < 4 * column_blocks; ++i) {
          asm volatile("" : "+f"(c[part][i])::"memory");
          sum[0][part][i / 4][i % 4] += c[part][i];
        }
      left = next;
    }
    put_all(sum, x, slot, row, s, place, scalars);
  }
};
