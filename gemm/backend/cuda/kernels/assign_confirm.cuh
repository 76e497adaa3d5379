// Whether a row keeps its label: no other score is within its bound of the label's own. Where labels seldom change, that is all that
// must be found, and takes an addition to a sum: of what each score is closer than a limit just beyond those that matter. The label's own
// score adds a known amount; any other that matters adds more than errors explain.
#pragma once
#include "assign_bounds.cuh"

/// A label that is one; otherwise some centroid.
__device__ __forceinline__ int known(int label) { return static_cast<uint32>(label) < TS_CLUSTERS ? label : 0; }

/// How far a score and the same by float32 multiply-adds may be apart, for a row of norm 1: an instruction truncates 17 terms and their
/// sum (assign_bounds.cuh), a lane rounds at most four times a step.
__device__ __forceinline__ float own_error(const Largest& c, int steps) {
  return static_cast<float>(30 * steps) * 0x1p-23f * c.norm;
}

/// Of a row, or a lane's part of what is closer.
struct Confirmed {
  float limit, most, closer;

  Confirmed() = default;
  /// `own`: the score of its label, known but for `error`; scores that are `open` or less beyond it matter.
  __device__ __forceinline__ Confirmed(int label, float own, float open, float error)
      : limit(own + (open + 4 * error)), most(known(label) == label && open + 5 * error < 0.9f ? open + 5 * error : -1.0f), closer(0) {}

  __device__ __forceinline__ void look_at(float score) { closer += __saturatef(limit - score); }
  /// From the sum over all scores. The own one adds at most open + 5 error, and at least open + 3 error; another that matters 3 error.
  __device__ __forceinline__ bool holds(float all) const { return all <= most; }
};

/// What all lanes of a quad have of a sum, of which each of them has a part.
__device__ __forceinline__ float sum_of_quad(float part) {
  part += __shfl_xor_sync(everyone, part, 1);
  return part + __shfl_xor_sync(everyone, part, 2);
}
