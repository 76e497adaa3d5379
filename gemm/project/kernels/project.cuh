// The steps of block Gram-Schmidt in one pass over V (n x TS_P) and W (n x TS_Q):
//
//   TS_UPDATE  W = W - V S
//   TS_INNER   S_next = V^H W   of the updated W
//   TS_GRAM    G = W^H W        likewise
//
// Groups of TS_GROUP_L x TS_GROUP_R warps work on their own: each keeps a private ring of TS_STAGES slots in flight
// and takes chunks of 16 TS_TILES rows in turn. A chunk of V and W lies in a slot; the update replaces W there, from
// where it is stored, and the products then read the rows as they are. In the update, tiles of 16 rows meet S, which
// lies in shared memory as fragments; in the products, rows are what is summed over, [V W] are the columns on the
// left and W those on the right, and the warps of a group share the tiles of 16 x 8. All sums are float64.
//
// Complex: a column is two, its real and its imaginary part. The update's K runs over such pairs; products are put
// together at the end.
//
//   TS_TYPE (one of the four result types), TS_CORE 0; TS_P, TS_Q
//   TS_MODE_V/W, TS_PITCH_V/W, TS_UNIT_V/W, TS_SHIFT_V/W, TS_SUBS   see operand.cuh
//   TS_VECTOR_V   scalars of a row of V that a lane reads at once
//   TS_PARTS      1: what is left of the products are the sums of parts of the rows (parts.cuh)
//   TS_BULK_W     W is contiguous and 16-byte aligned: whole chunks are stored in bulk
//   TS_TILES, TS_STAGES, TS_GROUP_L, TS_GROUP_R, TS_GROUPS
//   TS_TILES_L, TS_TILES_R (tiles of the products that a warp has)
#pragma once

#include "tallskinny/gemm/device/operand.cuh"
#include "tallskinny/gemm/device/ordered_sum.cuh"
#include "tallskinny/gemm/device/parts.cuh"

constexpr int chunk_rows = 16 * TS_TILES, pad = TS_SUBS == 1 ? 0 : 32;
using V =
    Operand<TS_MODE_V, TS_P, TS_PITCH_V, 1, 1, TS_UNIT_V, TS_SUBS, chunk_rows / TS_SUBS, pad, TS_SHIFT_V>;
using W =
    Operand<TS_MODE_W, TS_Q, TS_PITCH_W, 1, 1, TS_UNIT_W, TS_SUBS, chunk_rows / TS_SUBS, pad, TS_SHIFT_W>;

constexpr bool uses_v = TS_UPDATE || TS_INNER;
constexpr int group_warps = TS_GROUP_L * TS_GROUP_R, threads = 32 * group_warps * TS_GROUPS;
constexpr int w_offset = uses_v ? V::stage_bytes : 0;  ///< in a slot
constexpr int slot_bytes = w_offset + W::stage_bytes;
constexpr int p_scalars = TS_P * parts, q_scalars = TS_Q * parts;

// The update: blocks of 16 scalars of K and of 8 columns of W.
constexpr int k_blocks = (p_scalars + 15) / 16, column_blocks = (TS_Q + 7) / 8;
constexpr int at_once =
    column_blocks < 4 / parts ? column_blocks : 4 / parts;  ///< blocks that a warp computes together
constexpr int factor_bytes = TS_UPDATE ? k_blocks * column_blocks * 32 * 32 : 0;

// The products: tiles on the left, first of V, then of W.
constexpr int v_tiles = TS_INNER ? (p_scalars + 15) / 16 : 0, w_tiles = TS_GRAM ? (q_scalars + 15) / 16 : 0;
constexpr bool has_products = TS_INNER || TS_GRAM;
constexpr int right_blocks = (q_scalars + 7) / 8, product_pitch = 8 * right_blocks + 2;
constexpr int product_rows = 16 * (v_tiles + w_tiles);

constexpr int factor_offset = round_up(8 * TS_GROUPS * (TS_STAGES + 1), 128);
constexpr int ring_offset = factor_offset + factor_bytes;

/// Where the warps of a group wait for each other: a barrier in shared memory like those of the ring. With named
/// barriers racecheck loses track of the __syncthreads() that follow, and they are no faster.
struct Meeting {
  uint64* barrier;
  uint32 parity = 0;
  __device__ __forceinline__ void wait_for_all() {
    if constexpr (group_warps == 1) {
      __syncwarp();
    } else {
      barrier_arrive(barrier);  // every lane for itself: ordering through __syncwarp() is not seen either
      barrier_wait(barrier, parity);
      parity ^= 1;
    }
  }
};

struct MatrixArgument {
  Result* data;
  int64 row_stride, column_stride;
  __device__ __forceinline__ Result* at(int64 i, int64 j) const {
    return data + i * row_stride + j * column_stride;
  }
};

/// Which row of a chunk stands at `index` of a tile of the update. With four sub-blocks: neighbouring lanes read
/// rows of different ones, which never meet in a bank.
__device__ __forceinline__ int row_of(int tile, int index) {
  if (TS_SUBS == 1) return 16 * tile + index;
  return (2 * (index & 1) + (index >> 1 & 1)) * (chunk_rows / 4) + 4 * tile + (index >> 2);
}

/// Bytes from the beginning of a row in shared memory to one of its scalars.
template <class Side>
__device__ __forceinline__ int scalar_offset(int scalar) {
  return Side::by_columns ? scalar / parts * Side::column_pitch + scalar % parts * Side::scalar_size
                          : scalar * Side::scalar_size;
}
__device__ __forceinline__ double scalar_at(const unsigned char* at) {
  return *reinterpret_cast<const Scalar*>(at);
}

#if TS_UPDATE

/// The scalar of K, of 16, that stands at place u of lane group t: groups take turns vector by vector.
__device__ __forceinline__ constexpr int k_of(int t, int u) {
  constexpr int v = TS_VECTOR_V < parts ? parts : TS_VECTOR_V;
  return u / v * (4 * v) + t * v + u % v;
}

__device__ __forceinline__ void set_negative(double* to, double x) {
  to[0] = -x;
}
template <class R>
__device__ __forceinline__ void set_negative(double* to, Complex<R> x) {
  to[0] = -x.re, to[1] = -x.im;
}

/// -S as fragments: two places of a lane side by side, then those of the next lane.
__device__ __forceinline__ void prepare_factor(double* to, const MatrixArgument& s, int thread) {
  for (int e = thread; e < k_blocks * column_blocks * 64; e += threads) {
    const int lane = e % 32, half = e / 32 % 2, column = e / 64 % column_blocks * 8 + lane / 4;
#pragma unroll
    for (int u = 0; u < 2; u += parts) {
      const int k = (e / 64 / column_blocks * 16 + k_of(lane % 4, 2 * half + u)) / parts;
      set_negative(to + 2 * e + u, k < TS_P && column < TS_Q ? *s.at(k, column) : Result{});
    }
  }
}
__device__ __forceinline__ Fragment factor_block(const double* factor, int block, int lane) {
  const double2* const from = reinterpret_cast<const double2*>(factor) + block * 64 + lane;
  return {from[0].x, from[0].y, from[32].x, from[32].y};
}

/// The factor of the imaginary columns, [Im S, Re S], and, in place, of the real ones, [Re S, -Im S].
__device__ __forceinline__ Fragment imaginary_of(Fragment& f) {
  const Fragment im = {f.k[1], f.k[0], f.k[3], f.k[2]};
  f.k[1] = -f.k[1], f.k[3] = -f.k[3];
  return im;
}

/// Places of K block kb of a row of V; what is beyond the width counts as zero.
__device__ __forceinline__ Fragment load_row(const unsigned char* row, int kb, int t) {
  constexpr int v = V::by_columns ? 1 : TS_VECTOR_V;
  Fragment f;
#pragma unroll
  for (int u = 0; u < 4; u += v) {
    const int k = kb * 16 + k_of(t, u);
    const bool valid = p_scalars % 16 == 0 || k < p_scalars;  // vectors do not straddle the end
    const Words<v* V::scalar_size> words =
        load_words<v * V::scalar_size>(row + (valid ? scalar_offset<V>(k) : 0));
#pragma unroll
    for (int e = 0; e < v; ++e)
      set(f, u + e, valid ? scalar_of(words.w + e * (V::scalar_size / 4), Scalar()) : 0);
  }
  return f;
}

using UpdateSums = AccumulatorTile[at_once][parts];

/// f(sum, scalar of W in the slot, column is inside) for what a lane holds of 16 rows and `at_once` blocks of columns.
template <class F>
__device__ __forceinline__ void for_each_scalar(UpdateSums& sum, const W& w, unsigned char* slot,
                                                const int (&row)[2], int first_block, int t, F f) {
#pragma unroll
  for (int b = 0; b < at_once; ++b)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int column = (first_block + b) * 8 + 2 * t + e % 2;
      unsigned char* const at = slot + w_offset + w.row_offset(row[e / 2]) + scalar_offset<W>(column * parts);
#pragma unroll
      for (int part = 0; part < parts; ++part)
        f(sum[b][part][e], reinterpret_cast<Scalar*>(at) + part, column < TS_Q, row[e / 2]);
    }
}

/// W = W - V S in the slot, for 16 rows and `at_once` blocks of columns; rows beyond the end become zero.
__device__ __forceinline__ void update(const V& v, const W& w, unsigned char* slot, const double* factor,
                                       int tile, int first_block, int valid_rows, int lane) {
  const int g = lane / 4, t = lane % 4;
  const int row[2] = {row_of(tile, g), row_of(tile, g + 8)};
  UpdateSums sum;
  for_each_scalar(sum, w, slot, row, first_block, t, [](double& x, const Scalar* at, bool inside, int) {
    x = inside ? static_cast<double>(*at) : 0;
  });
  const unsigned char* const lower_row = slot + v.row_offset(row[0]);
  const unsigned char* const upper_row = slot + v.row_offset(row[1]);
#pragma unroll 2
  for (int kb = 0; kb < k_blocks; ++kb) {
    const Fragment lower = load_row(lower_row, kb, t), upper = load_row(upper_row, kb, t);
#pragma unroll
    for (int b = 0; b < at_once; ++b) {
      const int block =
          first_block + b < column_blocks ? first_block + b : first_block;  // others are not stored
      Fragment right = factor_block(factor, kb * column_blocks + block, lane);
      if constexpr (is_complex) {
        const Fragment imaginary = imaginary_of(right);
        multiply_add(sum[b][parts - 1], lower, upper, imaginary);
      }
      multiply_add(sum[b][0], lower, upper, right);
    }
  }
  for_each_scalar(sum, w, slot, row, first_block, t, [&](double x, Scalar* at, bool inside, int in_row) {
    if (inside) *at = in_row < valid_rows ? static_cast<Scalar>(x) : Scalar(0);
  });
}

#endif

/// A warp's share of the products.
struct Products {
  AccumulatorTile sum[TS_TILES_L][TS_TILES_R];
  int left[TS_TILES_L][2], right[TS_TILES_R];  ///< bytes in a slot, of this lane's first row
  int first_left, first_right;                 ///< tile, block

  /// This lane's first row of a scalar column; columns beyond the last repeat it.
  template <class Side>
  static __device__ __forceinline__ int start(const Side& side, int column, int last, int t) {
    const int c = column < last ? column : last - 1;
    return side.offset(t, Side::by_columns ? c : 0) + (Side::by_columns ? c % parts : c) * Side::scalar_size;
  }
  __device__ __forceinline__ bool is_v(int tile) const { return first_left + tile < v_tiles; }

  __device__ __forceinline__ Products(const V& v, const W& w, int warp, int g, int t) : sum{} {
    first_left = warp / TS_GROUP_R * TS_TILES_L, first_right = warp % TS_GROUP_R * TS_TILES_R;
#pragma unroll
    for (int i = 0; i < TS_TILES_L; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = (first_left + i) * 16 + half * 8 + g;
        left[i][half] = is_v(i) ? start(v, column, p_scalars, t)
                                : w_offset + start(w, column - 16 * v_tiles, q_scalars, t);
      }
#pragma unroll
    for (int j = 0; j < TS_TILES_R; ++j)
      right[j] = w_offset + start(w, (first_right + j) * 8 + g, q_scalars, t);
  }

  static __device__ __forceinline__ Fragment load(const unsigned char* from, int pitch) {
    return {scalar_at(from), scalar_at(from + pitch), scalar_at(from + 2 * pitch),
            scalar_at(from + 3 * pitch)};
  }
  /// Adds the products of the rows of a slot.
  __device__ __forceinline__ void add(const unsigned char* slot) {
    constexpr int v_pitch = V::by_columns ? V::element_size : V::row_bytes;
    constexpr int w_pitch = W::by_columns ? W::element_size : W::row_bytes;
#pragma unroll 1
    for (int step = 0; step < TS_TILES; ++step) {
      Fragment r[TS_TILES_R];
#pragma unroll
      for (int j = 0; j < TS_TILES_R; ++j) r[j] = load(slot + right[j] + step * W::step_bytes, w_pitch);
#pragma unroll
      for (int i = 0; i < TS_TILES_L; ++i) {
        const int pitch = is_v(i) ? v_pitch : w_pitch, at = step * (is_v(i) ? V::step_bytes : W::step_bytes);
        const Fragment lower = load(slot + left[i][0] + at, pitch),
                       upper = load(slot + left[i][1] + at, pitch);
#pragma unroll
        for (int j = 0; j < TS_TILES_R; ++j) multiply_add(sum[i][j], lower, upper, r[j]);
      }
    }
  }
  /// The sums as left column x right column.
  __device__ __forceinline__ void put(double* to, int g, int t) const {
#pragma unroll
    for (int i = 0; i < TS_TILES_L; ++i)
#pragma unroll
      for (int j = 0; j < TS_TILES_R; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = (first_left + i) * 16 + g + e / 2 * 8,
                    column = (first_right + j) * 8 + 2 * t + e % 2;
          if (row < product_rows && column < 8 * right_blocks)
            to[row * product_pitch + column] = sum[i][j][e];
        }
  }
};

__device__ __forceinline__ Real with_imaginary(double re, double, Real) {
  return static_cast<Real>(re);
}
__device__ __forceinline__ Complex<Real> with_imaginary(double re, double im, Complex<Real>) {
  return {static_cast<Real>(re), static_cast<Real>(im)};
}

/// Adds the products over groups and blocks, in their order; the last block stores them.
__device__ __forceinline__ void finish(const double* products, const MatrixArgument& s_next, Result* mirror,
                                       const MatrixArgument& g, double* partials, unsigned* tickets,
                                       int group_size, const PartOfGrid& part,
                                       [[maybe_unused]] const PartsArgument& sums, int thread) {
  constexpr int inner_rows = TS_INNER ? TS_P : 0, results = (inner_rows + (TS_GRAM ? TS_Q : 0)) * TS_Q;
  constexpr int count = results * parts;
  const auto product = [&](int l, int r) {
    double sum = 0;
#pragma unroll
    for (int group = 0; group < TS_GROUPS; ++group)
      sum += products[(group * product_rows + l) * product_pitch + r];
    return sum;
  };
  const int blocks = part.blocks, block = part.block, groups = (blocks + group_size - 1) / group_size;
  partials += static_cast<int64>(part.number) * (blocks + groups) * count;
  tickets += part.number * (1 + groups);
  double* const mine = partials + static_cast<int64>(block) * count;
  for (int e = thread; e < results; e += threads) {
    const int i = e / TS_Q, r = e % TS_Q * parts;
    const int l = i < inner_rows ? i * parts : 16 * v_tiles + (i - inner_rows) * parts;
    if constexpr (is_complex) {
      mine[e] = product(l, r) + product(l + 1, r + 1);
      mine[results + e] = product(l, r + 1) - product(l + 1, r);
    } else {
      mine[e] = product(l, r);
    }
  }
  const OrderedSum order{partials,  partials + static_cast<int64>(blocks) * count, tickets, blocks, block,
                         group_size};
  if (!order.last(count, thread, threads)) return;
  const double* total = order.total();
#if TS_PARTS
  for (int e = thread; e < count; e += threads) sums.sums[part.number * sums.size + e] = total[e];
#else
  const auto value = [&](int e) {
    return with_imaginary(total[e], is_complex ? total[results + e] : 0, Result{});
  };
  for (int e = thread; e < results; e += threads) {
    const int i = e / TS_Q, j = e % TS_Q, row = i - inner_rows;
    if (i < inner_rows) {
      *s_next.at(i, j) = value(e);
      if (mirror) mirror[j * s_next.row_stride + i * s_next.column_stride] = conj(value(e));
    } else if (row <= j) {  // the other triangle mirrors this one
      *g.at(row, j) = value(e);
      if (row < j) *g.at(j, row) = conj(value(e));
    }
  }
#endif
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    project(OperandArgument v_argument, MatrixArgument s, OperandArgument w_argument, MatrixArgument s_next,
            Result* mirror, MatrixArgument g, int64 rows, int group_size, double* partials, unsigned* tickets,
            PartsArgument sums) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, group = thread / 32 / group_warps;
  const int warp = thread / 32 % group_warps;
  uint64* const full = reinterpret_cast<uint64*>(shared) + group * TS_STAGES;
  unsigned char* const ring = shared + ring_offset + group * TS_STAGES * slot_bytes;
  Meeting meeting{reinterpret_cast<uint64*>(shared) + TS_GROUPS * TS_STAGES + group};
  if (warp == 0 && lane == 0) {
    for (int i = 0; i < TS_STAGES; ++i)
      barrier_init(full + i, (uses_v ? V::arrivals(32) : 0) + W::arrivals(32));
    barrier_init(meeting.barrier, 32 * group_warps);
  }
  if (lane == 0) barrier_init_fence();
  const PartOfGrid part(sums);
#if TS_PARTS
  rows = part.rows(sums, rows);
  v_argument.data =
      static_cast<const Element*>(v_argument.data) + part.number * sums.rows * v_argument.row_stride;
  w_argument.data =
      static_cast<const Element*>(w_argument.data) + part.number * sums.rows * w_argument.row_stride;
#endif
  const V v(v_argument, rows);
  const W w(w_argument, rows);
  [[maybe_unused]] Element* const w_rows = reinterpret_cast<Element*>(const_cast<unsigned char*>(w.base));
  const int64 chunks = (rows + chunk_rows - 1) / chunk_rows,
              stride = static_cast<int64>(part.blocks) * TS_GROUPS;
  int64 to_load = static_cast<int64>(part.block) * TS_GROUPS + group, chunk = to_load;
  __syncthreads();

  int load_slot = 0;
  const auto load_next = [&] {
    if (to_load < chunks) {
      unsigned char* const slot = ring + load_slot * slot_bytes;
      if (uses_v) v.fill(to_load, slot, full + load_slot, lane, 32);
      w.fill(to_load, slot + w_offset, full + load_slot, lane, 32);
    }
    to_load += stride;
    if (++load_slot == TS_STAGES) load_slot = 0;
  };
  if (warp == 0)
    for (int i = 0; i < TS_STAGES - 1; ++i) load_next();
#if TS_UPDATE
  prepare_factor(reinterpret_cast<double*>(shared + factor_offset), s, thread);
#endif
  __syncthreads();

  Products products(v, w, warp, lane / 4, lane % 4);
  for (RingPosition<TS_STAGES> at; chunk < chunks; chunk += stride, at.advance()) {
    unsigned char* const slot = ring + at.stage * slot_bytes;
    barrier_wait(full + at.stage, at.parity);
#if TS_UPDATE
    const int64 first = chunk * chunk_rows;
    const int valid = rows - first < chunk_rows ? static_cast<int>(rows - first) : chunk_rows;
    constexpr int runs = (column_blocks + at_once - 1) / at_once;
#pragma unroll 1
    for (int unit = warp; unit < TS_TILES * runs; unit += group_warps)
      update(v, w, slot, reinterpret_cast<const double*>(shared + factor_offset), unit / runs,
             unit % runs * at_once, valid, lane);
#if __CUDA_ARCH__ >= 900
    const bool in_bulk = TS_BULK_W && valid == chunk_rows;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
    constexpr bool in_bulk = false;
#endif
#endif
    meeting.wait_for_all();  // W is as it shall be, and the group has left the slot before this one
    if (warp == 0) {
#if TS_UPDATE && __CUDA_ARCH__ >= 900
      if (lane == 0) {
        if (in_bulk)
#pragma unroll
          for (int sub = 0; sub < TS_SUBS; ++sub)
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                             w_rows + (first + sub * (chunk_rows / TS_SUBS)) * TS_Q),
                         "r"(shared_address(slot + w_offset + sub * W::sub_pitch)), "n"(W::sub_bytes)
                         : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");  // of the slot that is filled next
      }
      __syncwarp();
#endif
      load_next();
    }
#if TS_UPDATE
    if (!in_bulk)
      for (int e = thread % (32 * group_warps); e < chunk_rows * TS_Q; e += 32 * group_warps) {
        const int row = W::by_columns ? e % chunk_rows : e / TS_Q,
                  column = W::by_columns ? e / chunk_rows : e % TS_Q;
        if (row < valid)
          *(w_rows + (first + row) * w_argument.row_stride + column * w_argument.column_stride) =
              *reinterpret_cast<const Element*>(slot + w_offset + w.row_offset(row) +
                                                scalar_offset<W>(column * parts));
      }
#endif
    if (has_products) products.add(slot);
  }
#if TS_UPDATE && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
  if constexpr (has_products) {
    __syncthreads();  // the sums take the place of the rings
    double* const all = reinterpret_cast<double*>(shared + ring_offset);
    products.put(all + group * product_rows * product_pitch, lane / 4, lane % 4);
    __syncthreads();
    finish(all, s_next, mirror, g, partials, tickets, group_size, PartOfGrid(sums), sums, thread);
  }
}
