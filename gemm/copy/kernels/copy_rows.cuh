// to = from: in one precision the bits as they are, else each number in the precision of `to`. Short rows share a
// block; a thread reads several of them before it writes. With a list, to[i] = from[list[i]], or to[list[i]] = from[i].
#include "tallskinny/gemm/device/element.cuh"

using Source = Choose<policy.from == ts::DType::float64, double, float>::type;
using Piece = Vector<Real, policy.vector, policy.alignment>;
using SourcePiece = Vector<Source, policy.vector, policy.from_alignment>;

constexpr int batch = 4;  // pieces of a thread under way

extern "C" __global__ void __launch_bounds__(policy.threads, 4)
    copy_rows(const __grid_constant__ ts::cuda::CopyRowsArguments a) {
  Real* const to = static_cast<Real*>(a.to);
  const Source* const from = static_cast<const Source*>(a.from);
  const int64 to_ld = a.to_ld, from_ld = a.from_ld, rows = a.rows, width = a.width;
  const int64 pieces = width / policy.vector;
  const int across = static_cast<int>(min(pieces, int64(256))), rows_at_once = 256 / across, row = threadIdx.x / across;
  if (row >= rows_at_once) return;
  const int64 stride = static_cast<int64>(gridDim.x) * rows_at_once;
  for (int64 p = threadIdx.x % across; p < pieces; p += across)
    for (int64 first = static_cast<int64>(blockIdx.x) * rows_at_once + row; first < rows; first += batch * stride) {
      SourcePiece read[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (const int64 i = first + k * stride; i < rows)
          read[k] = *reinterpret_cast<const SourcePiece*>(from + (policy.gathers ? a.list[i] : i) * from_ld +
                                                          p * policy.vector);
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (const int64 i = first + k * stride; i < rows) {
          Piece piece;
#pragma unroll
          for (int e = 0; e < policy.vector; ++e) piece.part[e] = static_cast<Real>(read[k].part[e]);
          *reinterpret_cast<Piece*>(to + (policy.scatters ? a.list[i] : i) * to_ld + p * policy.vector) = piece;
        }
    }
}
