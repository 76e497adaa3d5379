// Scores of 16-bit integers: AVX-512 VNNI multiplies and adds twice as many with one instruction as float32 has,
// AVX2 with two, of which one runs where products do not. Part of kernels.ipp.

#if defined(__AVX512VNNI__)
TS_INLINE VecI32 rounded(VecF x) { return reinterpret_cast<VecI32>(_mm512_cvtps_epi32(x)); }
/// a_2i b_2i + a_2i+1 b_2i+1 of 16-bit integers.
TS_INLINE VecI32 products_of_pairs(VecI32 a, VecI32 b) {
  return reinterpret_cast<VecI32>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
/// acc += those. The intrinsic lets GCC 12 keep sums in memory.
TS_INLINE void add_products(VecI32& acc, VecI32 x, VecI32 c) {
  asm("vpdpwssd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(c));
}
#else
TS_INLINE VecI32 rounded(VecF x) { return reinterpret_cast<VecI32>(_mm256_cvtps_epi32(x)); }
/// a_2i b_2i + a_2i+1 b_2i+1 of 16-bit integers.
TS_INLINE VecI32 products_of_pairs(VecI32 a, VecI32 b) {
  return reinterpret_cast<VecI32>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
/// acc += those.
TS_INLINE void add_products(VecI32& acc, VecI32 x, VecI32 c) { acc += products_of_pairs(x, c); }
#endif

/// Addends of pairs to the squared norms of their rows, exact: integers are at most 2^15 - 1.
TS_INLINE VecF squares_of(VecI32 pairs) { return __builtin_convertvector(products_of_pairs(pairs, pairs), VecF); }

#if defined(TS_TILES)
constexpr IntegerKernels of_integers;  // those of avx512vnni serve
#else
/// Any rows, by way of a tile of float32 numbers.
void pack_pairs_of_tile(const float* tile, index_t d, float scale, std::int32_t* pairs, float* squared_norms) {
  constexpr int rows = tile_rows<float>;
  const VecF by = broadcast<VecF>(scale);
  const auto integers = [by](const float* x) { return rounded(load<VecF>(x) * by); };
  for (int r = 0; r < rows; r += lanes<float>) {
    VecF squares{};
    for (index_t j = 0; j < d; j += 2) {
      const float* const x = tile + j * rows + r;
      VecI32 both = integers(x) & 0xffff;
      if (j + 1 < d) both |= integers(x + rows) << 16;
      store(pairs + j / 2 * rows + r, both);
      squares += squares_of(both);
    }
    store(squared_norms + r, squares);
  }
}

#if defined(TS_FLOATS_OF)
constexpr auto& pack_floats = TS_FLOATS_OF::kernels.float32.pack;
#else
constexpr auto& pack_floats = pack<float>;
#endif
void pack_pairs(const Rows& x, const index_t* rows, const Packing<float>& p, float scale, double* row, float* tile,
                std::int32_t* pairs, float* squared_norms) {
  pack_floats(x, rows, p, row, tile, squared_norms);
  pack_pairs_of_tile(tile, x.cols(), scale, pairs, squared_norms);
  const VecF back = broadcast<VecF>(1 / (scale * scale));
  for (int r = 0; r < tile_rows<float>; r += lanes<float>)
    store(squared_norms + r, load<VecF>(squared_norms + r) * back);
}

TS_INLINE void integer_products(const std::int32_t* tile, const std::int32_t* centroids, index_t pairs, Asking& asking,
                                VecI32 (&acc)[group_size][row_vectors]) {
  constexpr int n = lanes<float>;
  for (index_t p = 0; p < pairs; ++p) {
    asking.step();
    VecI32 x[row_vectors];
    for (int r = 0; r < row_vectors; ++r) x[r] = load<VecI32>(tile + p * tile_rows<float> + r * n);
#pragma GCC unroll 8
    for (int m = 0; m < group_size; ++m) {
      const VecI32 both = broadcast<VecI32>(centroids[p * group_size + m]);
#pragma GCC unroll 4
      for (int r = 0; r < row_vectors; ++r) add_products(acc[m][r], x[r], both);
    }
  }
}

/// Calls take() as for_scores does. Sums of each block of columns are exact; they are scaled back for each centroid and
/// added up in float32.
template <class Take>
TS_INLINE void for_scores_of_pairs(const std::int32_t* tile, index_t pairs, const GroupedPairs& centroids,
                                   const NextRows& next, const Take& take) {
  constexpr int rows = tile_rows<float>;
  constexpr index_t step = integer_block / 2;
  Asking asking(next, centroids.groups * pairs);
  for (index_t g = 0; g < centroids.groups; ++g) {
    const std::int32_t* c = centroids.negated + g * pairs * group_size;
    const float *scale = centroids.scales + g * group_size, *half_norms = centroids.half_norms + g * group_size;
    VecF score[group_size][row_vectors];
    const auto add_block = [&](index_t p, const auto& so_far) TS_LAMBDA {
      VecI32 acc[group_size][row_vectors] = {};
      integer_products(tile + p * rows, c + p * group_size, pairs - p < step ? pairs - p : step, asking, acc);
#pragma GCC unroll 8
      for (int m = 0; m < group_size; ++m)
#pragma GCC unroll 4
        for (int r = 0; r < row_vectors; ++r)
          score[m][r] = fma(broadcast<VecF>(scale[m]), __builtin_convertvector(acc[m][r], VecF), so_far(m, r));
    };
    add_block(0, [&](int m, int) { return broadcast<VecF>(half_norms[m]); });
    for (index_t p = step; p < pairs; p += step) add_block(p, [&](int m, int r) { return score[m][r]; });
    take(g, score);
  }
}

void best_two_of_pairs(const std::int32_t* tile, index_t pairs, const GroupedPairs& centroids, const NextRows& next,
                       const Out<float>& out) {
  BestOfTile<float> best;
  for_scores_of_pairs(tile, pairs, centroids, next, [&](index_t g, const auto& score) TS_LAMBDA { best(g, score); });
  store_all<float>(best.found, out);
}

void below_of_pairs(const std::int32_t* tile, index_t pairs, const GroupedPairs& centroids, const NextRows& next,
                    const float* limits, std::uint64_t* rows) {
  const BelowOfTile<float> below_limits(limits, rows);
  for_scores_of_pairs(tile, pairs, centroids, next,
                      [&](index_t g, const auto& score) TS_LAMBDA { below_limits(g, score); });
}
constexpr IntegerKernels of_integers = {pack_pairs, best_two_of_pairs, below_of_pairs};
#endif
