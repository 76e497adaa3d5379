// Pairs of a row and a centroid that bounds of their own leave (scores/pairs.hpp). Part of kernels.ipp.

constexpr int rows_at_once = 8;

/// Of `some` rows and a centroid; the next centroid is fetched meanwhile.
template <int some>
TS_INLINE void products_of_rows(const std::uint8_t* c, const std::uint8_t* next, index_t columns,
                                const std::int8_t* const* rows, VecI32* sums) {
  constexpr int n = vector_bytes, step = quads_at_once;
  VecI32 acc[some] = {};
  for (index_t j = 0; j < columns; j += step * n) {
    VecI32 v[step];
#pragma GCC unroll 2
    for (int q = 0; q < step; ++q) v[q] = load<VecI32>(c + j + q * n);
    __builtin_prefetch(next + j);
#pragma GCC unroll 8
    for (int r = 0; r < some; ++r) {
      VecI32 x[step];
#pragma GCC unroll 2
      for (int q = 0; q < step; ++q) x[q] = load<VecI32>(rows[r] + j + q * n);
      add_products_of_bytes(acc[r], v, x);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < some; ++r) sums[r] = acc[r];
}

/// products[r] = start[r] + x_r c of pairs, one by one.
void products_of_pairs(const PairsToMeet& p, std::int32_t* products) {
  for (index_t q = 0; q < p.count; ++q) {
    const index_t m = p.ids[q];
    const std::uint8_t* const c = p.centroids + m * p.columns;
    const std::uint8_t* const next = p.centroids + p.ids[q + 1 < p.count ? q + 1 : q] * p.columns;
    for (auto which = p.asked[m]; which != 0;) {
      const std::int8_t* row[rows_at_once];
      int number[rows_at_once], count = 0;
      VecI32 sums[rows_at_once];
      for (; count < rows_at_once && which != 0; ++count, which &= which - 1)
        number[count] = __builtin_ctzll(which), row[count] = p.rows + number[count] * p.stride;
      for (int r = count; r < rows_at_once; ++r) row[r] = row[0];
      if (count > rows_at_once / 2)
        products_of_rows<rows_at_once>(c, next, p.columns, row, sums);
      else if (count > rows_at_once / 4)
        products_of_rows<rows_at_once / 2>(c, next, p.columns, row, sums);
      else
        products_of_rows<rows_at_once / 4>(c, next, p.columns, row, sums);
      for (int r = 0; r < count; ++r) products[m * head_piece + number[r]] = p.start[number[r]] + sum_of(sums[r]);
    }
  }
}

/// The same of head_rows rows and a group of centroids, those of row r from products + r head_group on.
void products_of_group(const std::uint8_t* quads, index_t columns, const std::int8_t* const* rows, int count,
                       const std::int32_t* start, std::int32_t* products) {
  GroupSums acc;
  meet_group(quads, rows, count, start, columns, acc);
  const int there = with_tiles ? count : head_rows;
#pragma GCC unroll 8
  for (int r = 0; r < there; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < group_vectors; ++v)
      store(products + r * head_group + v * lanes<float>, with_start(acc[r][v], start[r]));
}

/// About the score of each row, and how far it may be off.
TS_INLINE void score_of_pairs(const CentroidOfPairs& c, const RowsOfPairs& rows, const std::int32_t* products, int r,
                              VecF& near, VecF& off) {
  const VecF product = __builtin_convertvector(load<VecI32>(products + r), VecF) * load<VecF>(rows.scale + r);
  near = fma(product, broadcast<VecF>(c.scale), broadcast<VecF>(c.half_norm));
  off = load<VecF>(rows.radius + r) * broadcast<VecF>(c.radius);
}

/// limit[r] becomes the greatest score that c may have with row r, plus floor[r], if that is less.
void lower_limits(const CentroidOfPairs& c, const RowsOfPairs& rows, const std::int32_t* products, std::uint64_t met) {
  for (int r = 0; r < head_piece; r += lanes<float>) {
    const Mask those = static_cast<Mask>(met >> r);
    VecF near, off;
    score_of_pairs(c, rows, products, r, near, off);
    const VecF limit = load<VecF>(rows.limit + r), most = near + off + load<VecF>(rows.floor + r);
    store(rows.limit + r, unless(those, limit, smaller(limit, most)));
  }
}

/// Bounds of the rows that met c; returns those whose nearest centroid it may be.
std::uint64_t settle_pairs(const CentroidOfPairs& c, const RowsOfPairs& rows, const std::int32_t* products,
                           std::uint64_t met, std::uint16_t* bounds) {
  std::uint64_t candidates = 0;
  for (int r = 0; r < head_piece; r += lanes<float>) {
    const Mask those = static_cast<Mask>(met >> r);
    VecF near, off;
    score_of_pairs(c, rows, products, r, near, off);
    const VecF lower = near - off, square = load<VecF>(rows.least_square + r) + 2 * lower;
    const VecF bound = smaller(root(larger(VecF{}, square)) * broadcast<VecF>(down), broadcast<VecF>(65504.0f));
    store_halves(bounds + r, unless(those, of_halves(bounds + r), bound));
    candidates |= static_cast<std::uint64_t>(at_most(lower, load<VecF>(rows.limit + r))) << r;
  }
  return candidates & met;
}

constexpr PairKernels of_pairs = {with_tiles      ? 0.06
                                  : head_rows > 2 ? 0.32
                                                  : 0.55,
                                  products_of_pairs, products_of_group, lower_limits, settle_pairs};
