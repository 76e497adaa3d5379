// Squared distances of all rows to the candidates of their labels, for seeding: a block `chunk` rows, eight
// lanes two rows, side by side over columns. Coordinates are (x - shift) scale in Score, those of the
// candidates come so. squared = the least of itself and the distance, and the weighted sum of that over
// them. With `nearest` first_number plus the label is left there for each row that has come nearer.
#include "tallskinny/gemm/assign/seeding/kernels/seed_coordinate.cuh"

constexpr int threads = policy.threads, lanes = 8, at_once = 2,
              unroll = policy.coordinates == ts::cuda::Coordinates::narrow ? 2 : 4;  // as registers allow
constexpr bool narrow = policy.coordinates == ts::cuda::Coordinates::narrow;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once) seed_labelled(Arguments a) {
  const auto& [x, d, of_candidates, labels, shift, scale, chunk, of_rows, weights, nearest, first_number, count,
               totals] = a;
  const Score* const candidates = static_cast<const Score*>(of_candidates);
  Score* const squared = static_cast<Score*>(of_rows);
  const int thread = threadIdx.x, own = thread % lanes;
  const int64 begin = blockIdx.x * chunk, end = begin + chunk < x.count ? begin + chunk : x.count;
  const auto clamped = [&](int64 i) { return i < end ? i : end - 1; };
  constexpr int step = threads / lanes * at_once;
  const int64 offset = thread / lanes * at_once;
  double total[1] = {};
  int ahead[at_once];  // labels of the rows that come next
#pragma unroll
  for (int r = 0; r < at_once; ++r) ahead[r] = labels[clamped(begin + offset + r)];
  for (int64 first = begin + offset; first - offset < end; first += step) {
    const Element* row[at_once];
    const Score* other[at_once];
    const double* of_row[at_once];
    int label[at_once];
#pragma unroll
    for (int r = 0; r < at_once; ++r) {
      const int64 i = clamped(first + r);
      label[r] = ahead[r];
      ahead[r] = labels[clamped(first + step + r)];
      row[r] = row_of(x, i);
      other[r] = candidates + static_cast<int64>(label[r]) * d;
      of_row[r] = x.scale == nullptr ? nullptr : x.scale + i;
    }
    Score distance[at_once] = {};
    const auto add_columns = [&](const auto& scale_of) {
#pragma unroll unroll
      for (int j = own; j < d; j += lanes) {
#pragma unroll
        for (int r = 0; r < at_once; ++r) {
          const Score difference = coordinate(row[r][j * x.column_stride], scale_of(r), shift[j], scale) - other[r][j];
          distance[r] = madd(difference, difference, distance[r]);
        }
      }
    };
    if (narrow && x.scale == nullptr)
      add_columns([](int) { return static_cast<const double*>(nullptr); });
    else
      add_columns([&](int r) { return of_row[r]; });
#pragma unroll
    for (int r = 0; r < at_once; ++r) {
#pragma unroll
      for (int far = lanes / 2; far > 0; far /= 2) distance[r] += __shfl_xor_sync(~0u, distance[r], far);
      const int64 i = first + r;
      if (own != 0 || i >= end) continue;
      Score least = squared[i];
      if (distance[r] < least) {
        squared[i] = least = distance[r];
        if (nearest != nullptr) nearest[i] = first_number + label[r];
      }
      total[0] += (weights == nullptr ? 1.0 : weights[i]) * static_cast<double>(least);
    }
  }
  leave_totals(total, totals + blockIdx.x);
}
