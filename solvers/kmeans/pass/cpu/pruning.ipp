// Products of rows and centroids in 8 bits, which rule out centroids that cannot be the nearest
// (filter/group_bounds.hpp). Rows have signed bytes, centroids the same plus byte_offset, since instructions multiply
// signed by unsigned ones (groups.ipp). Part of kernels.ipp.

#if defined(__AVX512VNNI__)
using Mask = __mmask16;
TS_INLINE Mask at_most(VecF a, VecF b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TS_INLINE VecF unless(Mask m, VecF a, VecF b) { return _mm512_mask_blend_ps(m, a, b); }
TS_INLINE float least_of(VecF v) { return _mm512_reduce_min_ps(v); }
TS_INLINE std::int32_t sum_of(VecI32 v) { return _mm512_reduce_add_epi32(reinterpret_cast<__m512i>(v)); }
TS_INLINE float sum_of(VecF v) { return _mm512_reduce_add_ps(v); }
TS_INLINE std::int32_t* append(std::int32_t* list, Mask m, VecI32 numbers) {
  const __m512i kept = _mm512_maskz_compress_epi32(m, reinterpret_cast<__m512i>(numbers));
  store(list, reinterpret_cast<VecI32>(kept));
  return list + __builtin_popcount(m);
}
TS_INLINE VecF of_halves(const std::uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
/// Towards zero.
TS_INLINE void store_halves(std::uint16_t* p, VecF v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
}
TS_INLINE void store_bytes(std::int8_t* p, VecI32 v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(reinterpret_cast<__m512i>(v)));
}
#else
using Mask = unsigned;
TS_INLINE Mask at_most(VecF a, VecF b) {
  return static_cast<Mask>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ)));
}
TS_INLINE VecF unless(Mask m, VecF a, VecF b) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(m)), bit), bit);
  return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(set));
}
TS_INLINE float least_of(VecF v) {
  float least = v[0];
  for (int l = 1; l < lanes<float>; ++l) least = v[l] < least ? v[l] : least;
  return least;
}
template <class V>
TS_INLINE auto sum_of(V v) {
  auto sum = v[0];
  for (int l = 1; l < lanes<float>; ++l) sum += v[l];
  return sum;
}
TS_INLINE std::int32_t* append(std::int32_t* list, Mask m, VecI32 numbers) {
  for (; m != 0; m &= m - 1) *list++ = numbers[__builtin_ctz(m)];
  return list;
}
TS_INLINE VecF of_halves(const std::uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TS_INLINE void store_halves(std::uint16_t* p, VecF v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
}
TS_INLINE void store_bytes(std::int8_t* p, VecI32 v) {
  for (int l = 0; l < lanes<float>; ++l) p[l] = static_cast<std::int8_t>(v[l]);
}
#endif

/// The bytes of a row, and how far they are from it.
void quantize_row(const float* x, index_t columns, std::int8_t* quantized, QuantizedRow& out) {
  VecF most{};
  for (index_t j = 0; j < columns; j += lanes<float>) {
    const VecF v = load<VecF>(x + j);
    most = larger(most, larger(v, -v));
  }
  const float max_abs = -least_of(-most);
  const float factor = max_abs > 0x1p-100f ? static_cast<float>(most_byte) / max_abs : 0;
  const VecF by = broadcast<VecF>(factor);
  VecF squares{}, lost{};
  VecI32 sum{};
  for (index_t j = 0; j < columns; j += lanes<float>) {
    const VecF v = load<VecF>(x + j) * by;
    const VecI32 q = rounded(v);
    const VecF back = __builtin_convertvector(q, VecF);
    store_bytes(quantized + j, q);
    sum += q;
    squares += back * back;
    lost += (v - back) * (v - back);
  }
  out = {factor, 0, 0, 0};
  for (int l = 0; l < lanes<float>; ++l) out.sum += sum[l], out.squares += squares[l], out.lost += lost[l];
}

/// Lists the centroids of a group that may be nearest.
template <bool lowers_limits>
TS_INLINE void list_group(const CentroidGroup& c, const BatchOfRows& rows, index_t columns) {
  constexpr int n = lanes<float>;
  GroupSums acc;
  score_group(c.quads, rows.quantized, rows.count, rows.start, columns, acc);
  VecI32 number;
  for (int l = 0; l < n; ++l) number[l] = c.first + l;
  const VecF beyond = broadcast<VecF>(__builtin_inff());
  const int count = with_tiles ? rows.count : batch_rows;
#pragma GCC unroll 8
  for (int r = 0; r < count; ++r) {
    const VecF scale = broadcast<VecF>(rows.scale[r]), radius = broadcast<VecF>(-rows.radius[r]);
    VecF near[group_vectors], lower[group_vectors], least = beyond;
#pragma GCC unroll 4
    for (int v = 0; v < group_vectors; ++v) {
      const VecF product = __builtin_convertvector(with_start(acc[r][v], rows.start[r]), VecF) * scale;
      near[v] = fma(product, load<VecF>(c.scale + n * v), load<VecF>(c.half_norms + n * v));
      lower[v] = fma(load<VecF>(c.radius + n * v), radius, near[v]);
    }
    if constexpr (lowers_limits) {
      // Mostly nothing survives, and what is above the limit at least does not lower it.
      const VecF before = broadcast<VecF>(rows.limit[r]);
      Mask any = 0;
#pragma GCC unroll 4
      for (int v = 0; v < group_vectors; ++v) any = static_cast<Mask>(any | at_most(lower[v], before));
      if (any == 0) continue;
#pragma GCC unroll 4
      for (int v = 0; v < group_vectors; ++v)
        least = smaller(least, fma(load<VecF>(c.radius + n * v), -radius, near[v]));
      const float most = least_of(least) + rows.floor[r];
      if (most < rows.limit[r]) rows.limit[r] = most;
    }
    const VecF limit = broadcast<VecF>(rows.limit[r]);
    std::int32_t* list = rows.end[r];
#pragma GCC unroll 4
    for (int v = 0; v < group_vectors; ++v) {
      const Mask survives = at_most(lower[v], limit);
      if constexpr (lowers_limits)
        append(list + rows.to_lower, survives, reinterpret_cast<VecI32>(lower[v]));
      else
        least = smaller(least, unless(survives, lower[v], beyond));
      list = append(list, survives, number + n * v);
    }
    rows.end[r] = list;
    if constexpr (!lowers_limits) rows.least[r] = least_of(least);
  }
}
void survivors(const CentroidGroup& c, const BatchOfRows& rows, index_t columns) {
  list_group<false>(c, rows, columns);
}
void nearest(const CentroidGroup& c, const BatchOfRows& rows, index_t columns) { list_group<true>(c, rows, columns); }

/// Bounds of a piece of rows move towards 0; bit r of the result: row r has upper[r] >= its bound.
std::uint64_t move_bounds(std::uint16_t* bounds, float moved, const float* upper) {
  constexpr int n = lanes<float>;
  std::uint64_t crossed = 0;
  for (int r = 0; r < piece_size; r += n) {
    VecF bound = of_halves(bounds + r);
    if (moved != 0) {
      bound = larger(VecF{}, bound - broadcast<VecF>(moved)) * broadcast<VecF>(down);
      store_halves(bounds + r, bound);
      bound = of_halves(bounds + r);
    }
    crossed |= static_cast<std::uint64_t>(at_most(bound, load<VecF>(upper + r))) << r;
  }
  return crossed;
}

/// bounds[r] = sqrt(floor[r] + 2 least[r]) rounded down, for the numbers r of a batch.
void put_bounds(const BatchOfRows& rows, int count, std::uint16_t* bounds) {
  alignas(64) float distance[most_batch_rows] = {};
  alignas(64) std::uint16_t halves[most_batch_rows] = {};
  for (int r = 0; r < count; ++r) distance[r] = rows.floor[r] + 2 * rows.least[r];
  for (int r = 0; r < batch_rows; r += lanes<float>)
    store_halves(halves + r, smaller(root(larger(VecF{}, load<VecF>(distance + r))) * broadcast<VecF>(down),
                                     broadcast<VecF>(65504.0f)));
  for (int r = 0; r < count; ++r) bounds[rows.place[r]] = halves[r];
}

std::int32_t product(const std::int8_t* x, const std::uint8_t* c, index_t columns) {
  constexpr int n = vector_bytes, some = quads_at_once;
  VecI32 acc{};
  for (index_t j = 0; j < columns; j += some * n) {
    VecI32 of_row[some], of_centroid[some];
#pragma GCC unroll 2
    for (int q = 0; q < some; ++q)
      of_row[q] = load<VecI32>(x + j + q * n), of_centroid[q] = load<VecI32>(c + j + q * n);
    add_products_of_bytes(acc, of_centroid, of_row);
  }
  return sum_of(acc);
}

/// scores[q] = half_norms[m] + x^T (-c_m) for `some` numbers m of a list, by as many sums for each.
template <int some, int sums>
TS_INLINE void few_scores(const float* x, index_t d, const float* centroids, const float* half_norms,
                          const std::int32_t* list, float* scores) {
  constexpr int n = lanes<float>;
  const float* c[some];
#pragma GCC unroll 4
  for (int m = 0; m < some; ++m) c[m] = centroids + list[m] * d;
  VecF acc[some][sums] = {};
  index_t j = 0;
  for (; j + sums * n <= d; j += sums * n)
#pragma GCC unroll 4
    for (int s = 0; s < sums; ++s) {
      const VecF v = load<VecF>(x + j + s * n);
#pragma GCC unroll 4
      for (int m = 0; m < some; ++m) acc[m][s] = fma(v, load<VecF>(c[m] + j + s * n), acc[m][s]);
    }
#pragma GCC unroll 4
  for (int m = 0; m < some; ++m) {
    float rest = 0;
    for (index_t i = j; i < d; ++i) rest += x[i] * c[m][i];
    VecF all = acc[m][0];
#pragma GCC unroll 4
    for (int s = 1; s < sums; ++s) all += acc[m][s];
    scores[m] = half_norms[list[m]] + (rest + sum_of(all));
  }
}

void listed_scores(const float* x, index_t d, const float* centroids, const float* half_norms, const std::int32_t* list,
                   index_t count, float* scores) {
  index_t q = 0;
  for (; q + 4 <= count; q += 4) few_scores<4, 2>(x, d, centroids, half_norms, list + q, scores + q);
  for (; q < count; ++q) few_scores<1, 4>(x, d, centroids, half_norms, list + q, scores + q);
}

/// (x_i - shift) scale in float32.
void scaled_row(const Rows& x, index_t i, const Packing<float>& p, double* row, float* out) {
  centred(x, i, p.shift, row);
  for (index_t j = 0; j < x.cols(); ++j) out[j] = static_cast<float>(row[j] * p.scale);
}

/// ||x||^2 in float64.
double square(const float* x, index_t d) {
  constexpr int n = lanes<double>, some = 4;  // sums, since each addition would wait for the one before
  VecD squares[some] = {};
  index_t j = 0;
  for (; j + some * n <= d; j += some * n)
#pragma GCC unroll 4
    for (int q = 0; q < some; ++q) {
      const VecD v = __builtin_convertvector(load<PartF>(x + j + q * n), VecD);
      squares[q] += v * v;
    }
  double sum = 0;
  for (; j < d; ++j) sum += static_cast<double>(x[j]) * static_cast<double>(x[j]);
  const VecD all = (squares[0] + squares[1]) + (squares[2] + squares[3]);
  for (int l = 0; l < n; ++l) sum += all[l];
  return sum;
}

constexpr PruningKernels of_bytes = {batch_rows, byte_offset, take_tiles, give_tiles, quantize_row, survivors, nearest,
                                     move_bounds, put_bounds, product, listed_scores, scaled_row, square,
                                     // Tiles were measured on a Xeon with 2.5 GHz, the others on Zen 4.
                                     with_tiles ? ProductCosts{0.28, 15, 60, 0.65, 40} : ProductCosts{}};
