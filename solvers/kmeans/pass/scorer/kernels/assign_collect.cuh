// Distributes results over the lanes of a quad. Define before: `select` and `merge` of the collected type.
#pragma once

/// Merges four slots over the lanes of a quad; slot t goes to lane t.
template <class T>
__device__ __forceinline__ T collect_four(const T* of) {
  const bool upper = (threadIdx.x & 2) != 0, odd = (threadIdx.x & 1) != 0;
  const T zero = merge(select(upper, of[2], of[0]), select(upper, of[0], of[2]), 2);
  const T one = merge(select(upper, of[3], of[1]), select(upper, of[1], of[3]), 2);
  return merge(select(odd, one, zero), select(odd, zero, one), 1);
}
