// Products of rows in signed bytes and a group of centroids in unsigned ones. Part of kernels.ipp.

// TS_TILES: there is AMX; compilers do not agree on a name for it.
constexpr int group_vectors = group_centroids / lanes<float>;
#if defined(TS_TILES)
constexpr bool with_tiles = true;
constexpr int batch_rows = 32, most_byte = 127;
#elif defined(__AVX512VNNI__)
constexpr bool with_tiles = false;
constexpr int batch_rows = 8, most_byte = 127;  // 16 accumulators of 32 registers
#else
constexpr bool with_tiles = false;
constexpr int batch_rows = 2, most_byte = 63;  // sums of two products have 16 bits here
#endif
constexpr int byte_offset = most_byte + 1;

#if defined(__AVX512VNNI__)
/// acc += sum of four products of bytes; the intrinsic lets GCC 12 keep sums in memory.
TS_INLINE void add_products_of_bytes(VecI32& acc, VecI32 c, VecI32 x) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(c), "v"(x));
}
constexpr int quads_at_once = 1;
TS_INLINE void add_products_of_bytes(VecI32& acc, const VecI32* c, const VecI32* x) {
  add_products_of_bytes(acc, *c, *x);
}
#else
TS_INLINE void add_products_of_bytes(VecI32& acc, VecI32 c, VecI32 x) {
  const __m256i pairs = _mm256_maddubs_epi16(reinterpret_cast<__m256i>(c), reinterpret_cast<__m256i>(x));
  acc += reinterpret_cast<VecI32>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
constexpr int quads_at_once = 2;
/// Takes two vectors each: sums of four products fit in 16 bits, 4 * 127 * 63 < 2^15.
TS_INLINE void add_products_of_bytes(VecI32& acc, const VecI32* c, const VecI32* x) {
  const __m256i pairs =
      _mm256_add_epi16(_mm256_maddubs_epi16(reinterpret_cast<__m256i>(c[0]), reinterpret_cast<__m256i>(x[0])),
                       _mm256_maddubs_epi16(reinterpret_cast<__m256i>(c[1]), reinterpret_cast<__m256i>(x[1])));
  acc += reinterpret_cast<VecI32>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#endif

using GroupSums = VecI32[batch_rows][group_vectors];

#if defined(TS_TILES)
// Tiles of 16 x 64 bytes: 0 to 3 are sums of 32 rows and 32 centroids, 4 and 5 have 64 columns of 16 rows each, 6 and 7
// those of 16 centroids each, which lie as quads do.
constexpr int tile_side = 16, tile_columns = 64, gathered_columns = 256;

void take_tiles() {
  struct alignas(64) Config {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
  } config;
  static_assert(sizeof(Config) == 64);
  for (int t = 0; t < 8; ++t) config.row_bytes[t] = tile_columns, config.rows[t] = tile_side;
  asm volatile("" ::"r"(&config) : "memory");
  _tile_loadconfig(&config);
}
void give_tiles() { _tile_release(); }

/// Adds products of 16 rows, or of 32, in some columns. GCC 12 does not know that tiles read memory, hence the barrier.
template <bool both>
TS_INLINE void add_products_of_tiles(const std::int8_t* rows, std::ptrdiff_t stride, const std::uint8_t* quads,
                                     index_t columns) {
  asm volatile("" ::: "memory");
  for (index_t j = 0; j < columns; j += tile_columns) {
    const std::uint8_t* const of_group = quads + j * group_centroids;
    _tile_loadd(4, rows + j, stride);
    _tile_loadd(6, of_group, 4 * group_centroids);
    _tile_loadd(7, of_group + 4 * tile_side, 4 * group_centroids);
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
    if constexpr (both) {
      _tile_loadd(5, rows + tile_side * stride + j, stride);
      _tile_dpbsud(2, 5, 6);
      _tile_dpbsud(3, 5, 7);
    }
  }
}

/// Columns of `count` rows side by side, and zeros up to whole tiles.
TS_INLINE void gather_columns(const std::int8_t* const* rows, int count, index_t first, index_t columns,
                              std::int8_t* out) {
  for (int r = 0; r < count; ++r)
    for (index_t j = 0; j < columns; j += tile_columns) {
      const index_t left = columns - j;
      const __mmask64 there = left >= tile_columns ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
      _mm512_store_si512(out + r * gathered_columns + j, _mm512_maskz_loadu_epi8(there, rows[r] + first + j));
    }
}

template <bool both>
TS_INLINE void products_in_tiles(const std::uint8_t* quads, const std::int8_t* const* rows, int count, index_t columns,
                                 void* sums) {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (both) {
    _tile_zero(2);
    _tile_zero(3);
  }
  constexpr int whole = both ? 2 * tile_side : tile_side;
  const std::ptrdiff_t stride = rows[1] - rows[0];
  bool even = count == whole && columns % tile_columns == 0;
  for (int r = 2; r < count; ++r) even = even && rows[r] - rows[r - 1] == stride;
  if (even) {
    add_products_of_tiles<both>(rows[0], stride, quads, columns);
  } else {
    alignas(64) std::int8_t gathered[whole * gathered_columns];
    for (index_t j = 0; j < columns; j += gathered_columns) {
      const index_t some = columns - j < gathered_columns ? columns - j : gathered_columns;
      gather_columns(rows, count, j, some, gathered);
      add_products_of_tiles<both>(gathered, gathered_columns, quads + j * group_centroids, some);
    }
  }
  constexpr std::ptrdiff_t step = sizeof(VecI32[group_vectors]);
  std::uint8_t* const to = static_cast<std::uint8_t*>(sums);
  _tile_stored(0, to, step);
  _tile_stored(1, to + 4 * tile_side, step);
  if constexpr (both) {
    _tile_stored(2, to + tile_side * step, step);
    _tile_stored(3, to + tile_side * step + 4 * tile_side, step);
  }
  asm volatile("" ::: "memory");
}

/// Products of the first `count` of batch_rows rows and a group of centroids; with_start() completes them.
TS_INLINE void score_group(const std::uint8_t* quads, const std::int8_t* const* rows, int count, const std::int32_t*,
                           index_t columns, GroupSums& acc) {
  if (count > tile_side)
    products_in_tiles<true>(quads, rows, count, columns, acc);
  else
    products_in_tiles<false>(quads, rows, count, columns, acc);
}
TS_INLINE VecI32 with_start(VecI32 sum, std::int32_t start) { return sum + broadcast<VecI32>(start); }
#else
constexpr void (*take_tiles)() = nullptr;
constexpr void (*give_tiles)() = nullptr;

/// Products of batch_rows rows and a group of centroids.
TS_INLINE void score_group(const std::uint8_t* quads, const std::int8_t* const* rows, int, const std::int32_t* start,
                           index_t columns, GroupSums& acc) {
  constexpr int n = lanes<float>, some = quads_at_once;
#pragma GCC unroll 8
  for (int r = 0; r < batch_rows; ++r)
    for (int v = 0; v < group_vectors; ++v) acc[r][v] = broadcast<VecI32>(start[r]);
  for (index_t j = 0; j < columns; j += 4 * some, quads += 4 * some * group_centroids) {
    VecI32 x[batch_rows][some];
#pragma GCC unroll 8
    for (int r = 0; r < batch_rows; ++r)
#pragma GCC unroll 2
      for (int q = 0; q < some; ++q) {
        std::int32_t quad;
        __builtin_memcpy(&quad, rows[r] + j + 4 * q, sizeof quad);
        x[r][q] = broadcast<VecI32>(quad);
      }
#pragma GCC unroll 4
    for (int v = 0; v < group_vectors; ++v) {
      VecI32 of_group[some];
#pragma GCC unroll 2
      for (int q = 0; q < some; ++q) of_group[q] = load<VecI32>(quads + 4 * q * group_centroids + 4 * n * v);
#pragma GCC unroll 8
      for (int r = 0; r < batch_rows; ++r) add_products_of_bytes(acc[r][v], of_group, x[r]);
    }
  }
}
TS_INLINE VecI32 with_start(VecI32 sum, std::int32_t) { return sum; }
#endif
