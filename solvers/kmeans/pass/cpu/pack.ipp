// Rows brought side by side: a tile holds one element of all its rows in neighbouring places. Part of
// kernels.ipp.

// Vectors with as many elements as VecD.
using PartF = float __attribute__((vector_size(vector_bytes / 2)));
using PartU32 = std::uint32_t __attribute__((vector_size(vector_bytes / 2)));
using PartU16 = std::uint16_t __attribute__((vector_size(vector_bytes / 4)));
template <class S>
using Part = std::conditional_t<std::is_same_v<S, float>, PartF, VecD>;

TS_INLINE VecD wide_part(const double* x) { return load<VecD>(x); }
TS_INLINE VecD wide_part(const float* x) { return __builtin_convertvector(load<PartF>(x), VecD); }
TS_INLINE VecD wide_part(const bfloat16* x) {
  const auto bits = __builtin_convertvector(load<PartU16>(x), PartU32) << 16;
  return wide_part(reinterpret_cast<const float*>(&bits));
}
TS_INLINE VecD wide_part(const float16* x) {
  const auto bits = __builtin_convertvector(load<PartU16>(x), PartU32);
  const auto magnitude = (bits & 0x7fffu) << 13, sign = (bits & 0x8000u) << 16;
  PartF value;
  __builtin_memcpy(&value, &magnitude, sizeof value);
  value *= 0x1p112f;  // see widen(float16); these numbers are finite
  PartU32 signed_value;
  __builtin_memcpy(&signed_value, &value, sizeof value);
  signed_value |= sign;
  return wide_part(reinterpret_cast<const float*>(&signed_value));
}

/// `count` numbers, and zeros for the rest of the vector.
template <class V, class S>
TS_INLINE V load_first(const S* p, index_t count) {
  constexpr int n = sizeof(V) / sizeof(S);
  if (count >= n) return load<V>(p);
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(S) == 8)
    return __builtin_bit_cast(V, _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1U << count) - 1), p));
  if constexpr (sizeof(V) == 32 && sizeof(S) == 4)
    return __builtin_bit_cast(V, _mm256_maskz_loadu_epi32(static_cast<__mmask8>((1U << count) - 1), p));
#endif
  S some[n] = {};
  for (index_t l = 0; l < count; ++l) some[l] = p[l];
  return load<V>(some);
}
/// (x factor - shift) scale in float64, then rounded to S.
template <class S, bool scaled, class T>
TS_INLINE typename Types<S>::Vec centred_part(const T* x, double factor, const Packing<S>& p, index_t j) {
  constexpr int step = lanes<double>;
  S out[lanes<S>];
  for (int q = 0; q < lanes<S> / step; ++q) {
    VecD v = wide_part(x + q * step);
    if constexpr (scaled) v *= broadcast<VecD>(factor);
    v = (v - load<VecD>(p.shift + j + q * step)) * broadcast<VecD>(p.scale);
    store(out + q * step, __builtin_convertvector(v, Part<S>));
  }
  return load<typename Types<S>::Vec>(out);
}
/// centred_part() for shift and scale that float32 holds: a difference rounded once is not less exact.
TS_INLINE VecF centred_part(const float* x, const Packing<float>& p, index_t j) {
  return (load<VecF>(x) - load<VecF>(p.direct_shift + j)) * broadcast<VecF>(static_cast<float>(p.scale));
}

template <class V, int... i>
TS_INLINE V interleave_low(V a, V b, std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  return __builtin_shufflevector(a, b, (i % 2 * n + i / 2)...);
}
template <class V, int... i>
TS_INLINE V interleave_high(V a, V b, std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  return __builtin_shufflevector(a, b, (i % 2 * n + n / 2 + i / 2)...);
}
/// Each step rotates the bits of (row, column) by one: log2(n) of them swap the two. Folds, not loops, so that
/// everything stays in registers.
template <int steps, class V, int n, int... i>
TS_INLINE void rotate(V (&v)[n], std::integer_sequence<int, i...> half) {
  if constexpr (steps > 0) {
    constexpr auto all = std::make_integer_sequence<int, n>{};
    V shuffled[n];
    ((shuffled[2 * i] = interleave_low(v[i], v[i + n / 2], all),
      shuffled[2 * i + 1] = interleave_high(v[i], v[i + n / 2], all)),
     ...);
    ((v[i] = shuffled[i], v[i + n / 2] = shuffled[i + n / 2]), ...);
    rotate<steps - 1>(v, half);
  }
}

/// Vectors of `lanes` elements of as many rows, transposed; l are the numbers below lanes.
template <class S, bool scaled, bool direct, class T, int... l>
TS_INLINE void pack_block(const T* const* row, const double* factor, index_t j, index_t count, const Packing<S>& p,
                          S* tile, std::integer_sequence<int, l...>) {
  using V = typename Types<S>::Vec;
  constexpr int n = sizeof...(l);
  V v[n];
  if constexpr (direct)
    ((v[l] = centred_part(row[l] + j, p, j)), ...);
  else
    ((v[l] = centred_part<S, scaled>(row[l] + j, factor[l], p, j)), ...);
  rotate<__builtin_ctz(n)>(v, std::make_integer_sequence<int, n / 2>{});
  if (count >= n)
    (store(tile + (j + l) * tile_rows<S>, v[l]), ...);
  else
    ((l < count ? store(tile + (j + l) * tile_rows<S>, v[l]) : void()), ...);
}

/// Rows whose elements lie side by side; whole vectors are read, be it of the next row.
template <class S, bool scaled, bool direct, class T>
void pack_rows(const Rows& x, const index_t* rows, const Packing<S>& p, S* tile) {
  constexpr int n = lanes<S>;
  const T* values = static_cast<const T*>(x.values());
  for (index_t r = 0; r < tile_rows<S>; r += n) {
    const T* row[n];
    double factor[n];
    for (int l = 0; l < n; ++l) {
      row[l] = values + rows[r + l] * x.row_stride();
      if constexpr (scaled) factor[l] = x.scale(rows[r + l]);
    }
    for (index_t j = 0; j < x.cols(); j += n)
      pack_block<S, scaled, direct>(row, factor, j, x.cols() - j, p, tile + r, std::make_integer_sequence<int, n>{});
  }
}

/// Rows in any other layout, element by element.
template <class S>
void pack_strided(const Rows& x, const index_t* rows, const Packing<S>& p, double* row, S* tile) {
  for (index_t r = 0; r < tile_rows<S>; ++r) {
    centred(x, rows[r], p.shift, row);
    for (index_t j = 0; j < x.cols(); ++j) tile[j * tile_rows<S> + r] = static_cast<S>(row[j] * p.scale);
  }
}

template <class S, class T>
void pack_type(const Rows& x, const index_t* rows, const Packing<S>& p, double* row, S* tile) {
  index_t last = 0;
  for (index_t r = 0; r < tile_rows<S>; ++r) last = rows[r] > last ? rows[r] : last;
  const index_t whole = (x.cols() + lanes<S> - 1) / lanes<S> * lanes<S>;
  const bool inside = last * x.row_stride() + whole <= (x.rows() - 1) * x.row_stride() + x.cols();
  if (x.col_stride() != 1 || !inside) return pack_strided(x, rows, p, row, tile);
  if (x.has_scale()) return pack_rows<S, true, false, T>(x, rows, p, tile);
  if constexpr (std::is_same_v<S, float> && std::is_same_v<T, float>)
    if (p.direct) return pack_rows<S, false, true, T>(x, rows, p, tile);
  pack_rows<S, false, false, T>(x, rows, p, tile);
}

template <class S>
void pack(const Rows& x, const index_t* rows, const Packing<S>& p, double* row, S* tile, S* squared_norms) {
  using V = typename Types<S>::Vec;
  with_values(x, [&]<class T>(const T*) TS_LAMBDA { pack_type<S, T>(x, rows, p, row, tile); });
  V norm[row_vectors] = {};
  for (index_t j = 0; j < x.cols(); ++j)
#pragma GCC unroll 4
    for (int r = 0; r < row_vectors; ++r) {
      const V v = load<V>(tile + j * tile_rows<S> + r * lanes<S>);
      norm[r] = fma(v, v, norm[r]);
    }
  for (int r = 0; r < row_vectors; ++r) store(squared_norms + r * lanes<S>, norm[r]);
}
