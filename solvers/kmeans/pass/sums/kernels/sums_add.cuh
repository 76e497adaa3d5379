// Adds up the rows that change clusters, in the order of these (sums_sort.cuh). The lanes of a team share a
// row, or a slab of its columns, and take a stretch of entries: limbs stay in registers, and go to memory where
// another cluster begins and at the end.
#include "tallskinny/solvers/kmeans/pass/sums/kernels/sums_moves.cuh"

constexpr int threads = policy.threads, columns = policy.columns(), rows_at_once = policy.rows;
constexpr int least_stretch = policy.least_stretch, most_stretch = policy.most_stretch;
constexpr int team = policy.team(), slab = policy.slab(), slabs = policy.slabs();

using Piece = Vector<Element, policy.vector, policy.alignment>;

/// A lane's columns, with their shifts and factors. Both limbs of an addend are those that split() makes of weight (x -
/// shift) to_units; powers of two are multiplied in another order, which changes no bit.
struct Columns {
  int first;  // of each piece, so many behind that of the piece before
  static constexpr int apart = team * policy.vector;
  double shift[columns], factor[columns];

  __device__ __forceinline__ int number(int c) const { return first + c / policy.vector * apart + c % policy.vector; }
  __device__ __forceinline__ bool has(int c) const { return number(c) < policy.d; }
  __device__ __forceinline__ Columns(const Sums& s, int first_one) : first(first_one) {
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      shift[c] = has(c) ? s.shift[number(c)] : 0;
      factor[c] = has(c) ? s.to_units[number(c)] : 0;
      if (!policy.weighed) factor[c] = __dmul_rn(factor[c], __dmul_rn(s.weight_to_units, s.one));
    }
  }
};

/// The elements of a row that a lane has, where they lie side by side, and anyhow.
struct PlainPart {
  Piece piece[policy.pieces];
  __device__ __forceinline__ void load(const Rows& x, int64 row, const Columns& of) {
    const Element* const from = row_of(x, row) + of.first;
#pragma unroll
    for (int p = 0; p < policy.pieces; ++p)
      piece[p] = of.has(p * policy.vector) ? *reinterpret_cast<const Piece*>(from + p * Columns::apart) : Piece{};
  }
  __device__ __forceinline__ double number(int c) const {
    return widen(piece[c / policy.vector].part[c % policy.vector]);
  }
};
struct StridedPart {
  double wide[columns];
  __device__ __forceinline__ void load(const Rows& x, int64 row, const Columns& of) {
#pragma unroll
    for (int c = 0; c < columns; ++c) wide[c] = of.has(c) ? value(x, row, of.number(c)) : 0;
  }
  __device__ __forceinline__ double number(int c) const { return wide[c]; }
};
using Part = Choose<policy.plain, PlainPart, StridedPart>::type;

/// Sums of one cluster so far.
struct Total {
  uint64 upper[columns] = {}, lower[columns] = {};
  uint64 weight_upper = 0, weight_lower = 0;
  int rows = 0;

  __device__ __forceinline__ void add(const Part& x, bool leaving, double weight, const Columns& of, const Sums& s) {
    constexpr double magic = 0x1.8p52;
    const int64 zero = __double_as_longlong(magic);
    const double w = __dmul_rn(__dmul_rn(leaving ? -weight : weight, s.weight_to_units), s.one);
    if constexpr (!policy.weighed) {
      rows += leaving ? -1 : 1;
    } else if (of.first == 0) {
      const Limbs l = split(__dmul_rn(leaving ? -weight : weight, s.weight_to_units), s.one);
      weight_upper += l.upper, weight_lower += l.lower;
      if (weight != 0) rows += leaving ? -1 : 1;
    }
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const double v = __dsub_rn(x.number(c), of.shift[c]);
      double rounded, rest;
      if constexpr (policy.weighed) {
        const double p = __dmul_rn(__dmul_rn(v, of.factor[c]), w);
        rounded = __dadd_rn(p, magic), rest = __dsub_rn(p, __dsub_rn(rounded, magic));
      } else {
        const double p = leaving ? -v : v;
        rounded = __fma_rn(p, of.factor[c], magic);
        rest = __fma_rn(p, of.factor[c], -__dsub_rn(rounded, magic));
      }
      upper[c] += static_cast<uint64>(__double_as_longlong(rounded) - zero);
      lower[c] += static_cast<uint64>(__double_as_longlong(__fma_rn(rest, s.one, magic)) - zero);
    }
  }
  /// Adds to the cluster's sums; one lane of all that share a row brings its weight.
  __device__ __forceinline__ void flush(int cluster, const Columns& of, const Sums& s) {
    int64 begin = static_cast<int64>(cluster) * policy.d + of.first;
    asm volatile("" : "+l"(begin));  // so that addresses are made here, and not kept
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (of.has(c)) {
        const int64 at = begin + c / policy.vector * Columns::apart + c % policy.vector;
        atomicAdd(s.upper + at, upper[c]);
        atomicAdd(s.lower + at, lower[c]);
      }
    if (of.first != 0) return;
    if constexpr (!policy.weighed) {
      const Limbs one = split(s.weight_to_units, s.one);
      weight_upper = one.upper * rows, weight_lower = one.lower * rows;
    }
    atomicAdd(s.weight_upper + cluster, weight_upper);
    atomicAdd(s.weight_lower + cluster, weight_lower);
    atomicAdd(s.counts + cluster, static_cast<uint64>(static_cast<int64>(rows)));
  }
};

/// Entries of a cluster that are added at once, and their rows.
struct Batch {
  uint32 entry[rows_at_once];
  int of[rows_at_once];
  double weight[rows_at_once];
  Part part[rows_at_once];

  __device__ __forceinline__ void find(const unsigned* order, int first, int end) {
#pragma unroll
    for (int u = 0; u < rows_at_once; ++u) entry[u] = order[min(first + u, end - 1)];
  }
  __device__ __forceinline__ void load(const Rows& x, const int* labels, const Sums& sums, const Columns& mine) {
#pragma unroll
    for (int u = 0; u < rows_at_once; ++u) {
      const int row = static_cast<int>(entry[u] & ~leaves);
      of[u] = (entry[u] & leaves) != 0 ? sums.moves.before[row] : labels[row];
      weight[u] = policy.weighed && sums.weights != nullptr ? sums.weights[row] : 1;
      part[u].load(x, row, mine);
    }
  }
};

extern "C" __global__ void __launch_bounds__(threads, policy.blocks_at_once) sums_add(ts::cuda::SumsAddArguments a) {
  const auto& [x, labels, order, entries, sums] = a;
  const int teams = static_cast<int>(gridDim.x) * (threads / team), lane = threadIdx.x % team;
  const int count = static_cast<int>(*entries);
  const int64 work = static_cast<int64>(count) * slabs,
              rounds = (work - 1) / (static_cast<int64>(teams) * most_stretch) + 1;
  const int stretch = max(least_stretch, static_cast<int>((work - 1) / (teams * rounds) + 1));
  const int tasks = (count + stretch - 1) / stretch * slabs;
#pragma unroll 1
  for (int task = static_cast<int>(blockIdx.x) * (threads / team) + threadIdx.x / team; task < tasks; task += teams) {
    const Columns mine(sums, task % slabs * slab + lane * policy.vector);
    const int begin = task / slabs * stretch, end = min(begin + stretch, count);
    Total total;
    int cluster = -1;
    // With rows of float16, those of the next entries are under way while others are added.
    Batch now, next;
    now.find(order, begin, end);
    if constexpr (policy.ahead) now.load(x, labels, sums, mine), next.find(order, begin + rows_at_once, end);
#pragma unroll 1
    for (int first = begin; first < end; first += rows_at_once) {
      if constexpr (policy.ahead) {
        next.load(x, labels, sums, mine);
      } else {
        if (first > begin) now.find(order, first, end);
        now.load(x, labels, sums, mine);
      }
#pragma unroll
      for (int u = 0; u < rows_at_once; ++u) {
        if (first + u >= end) break;
        if (now.of[u] != cluster) {
          if (cluster >= 0) total.flush(cluster, mine, sums);
          cluster = now.of[u], total = {};
        }
        total.add(now.part[u], (now.entry[u] & leaves) != 0, now.weight[u], mine, sums);
      }
      if constexpr (policy.ahead) now = next, next.find(order, first + 2 * rows_at_once, end);
    }
    total.flush(cluster, mine, sums);
  }
}
