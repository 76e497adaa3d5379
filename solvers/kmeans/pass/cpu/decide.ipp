// Decides labels from scores: finds those that are certain, and bounds on distances that outlive the pass. Part of
// kernels.ipp.

#if defined(__AVX512F__)
TS_INLINE VecF root(VecF x) { return _mm512_sqrt_ps(x); }
TS_INLINE VecD root(VecD x) { return _mm512_sqrt_pd(x); }
#elif defined(__AVX2__)
TS_INLINE VecF root(VecF x) { return _mm256_sqrt_ps(x); }
TS_INLINE VecD root(VecD x) { return _mm256_sqrt_pd(x); }
#else
template <class V>
TS_INLINE V root(V x) {
  for (int l = 0; l < static_cast<int>(sizeof(V) / sizeof(x[0])); ++l)
    x[l] = sizeof(x[0]) == sizeof(float) ? __builtin_sqrtf(static_cast<float>(x[l])) : __builtin_sqrt(x[l]);
  return x;
}
#endif

/// One part in 2^22: more than a few roundings in float32, upwards or downwards.
constexpr float up = 1 + 0x1p-22f, down = 1 - 0x1p-22f;

template <class S>
void decide(const S* best, const S* second, const S* squared_norms, const ScoreMargin<S>& m, const S* by_centroid,
            typename Types<S>::Index* which, float* upper, float* lower) {
  using V = typename Types<S>::Vec;
  using I = typename Types<S>::VecIndex;
  constexpr int n = lanes<S>;
  for (int r = 0; r < tile_rows<S>; r += n) {
    const V b = load<V>(best + r), s = load<V>(second + r), squared = load<V>(squared_norms + r);
    const V most = squared * broadcast<V>(m.slack) + broadcast<V>(m.least);
    V margin = broadcast<V>(m.constant);
    if (m.by_norm != 0) margin += broadcast<V>(m.by_norm) * root(most);
    const I number = load<I>(which + r);
    if (by_centroid != nullptr) {
      V of_best;
      for (int l = 0; l < n; ++l) of_best[l] = by_centroid[which[r + l]];
      margin += of_best;
    }
    store(which + r, s - b > margin ? number : I{} - 1);
    if (upper == nullptr) continue;
    // ||x - c||^2 = ||x||^2 + 2 score; the margin is twice a score's error.
    const V zero{};
    const V far = root(larger(zero, most + 2 * (b + margin)));
    const V fewest = squared * broadcast<V>(2 - m.slack) - broadcast<V>(m.least);
    const V near = root(larger(zero, fewest + 2 * (s - margin)));
    for (int l = 0; l < n; ++l) {
      upper[r + l] = static_cast<float>(far[l]) * up;
      lower[r + l] = static_cast<float>(near[l]) * down;
    }
  }
}

#if !defined(TS_FLOATS_OF)
/// Hamerly 2010, steps 1 and 2: see RowBounds.
index_t screen(const CentroidSteps& c, const std::int32_t* __restrict labels, index_t count, float* __restrict upper,
               float* __restrict lower, index_t* __restrict undecided) {
  constexpr index_t step = 256;  // the first loop becomes vectors, the second cannot
  const float* __restrict moved = c.moved;
  const float* __restrict half_gap = c.half_gap;
  std::int32_t unproven[step];
  index_t found = 0;
  for (index_t i0 = 0; i0 < count; i0 += step) {
    const index_t length = count - i0 < step ? count - i0 : step;
    for (index_t i = 0; i < length; ++i) {
      const std::int32_t label = labels[i0 + i];
      const float above = (upper[i0 + i] + moved[label]) * up;
      const float other = lower[i0 + i] - (label == c.farthest ? c.second_most_moved : c.most_moved);
      const float below = other > 0 ? other * down : 0.0F, gap = half_gap[label];
      upper[i0 + i] = above, lower[i0 + i] = below;
      unproven[i] = above < (below > gap ? below : gap) ? 0 : 1;
    }
    for (index_t i = 0; i < length; ++i) {
      undecided[found] = i0 + i;
      found += unproven[i];
    }
  }
  return found;
}
#endif
