// Scores of rows against centroids: the best two of each row, and those below a limit. Part of kernels.ipp.

template <class S>
TS_INLINE void products(const S* tile, const S* centroids, index_t length, Asking& asking,
                        typename Types<S>::Vec (&acc)[group_size][row_vectors]) {
  using V = typename Types<S>::Vec;
  for (index_t j = 0; j < length; ++j) {
    asking.step();
    V x[row_vectors];
    for (int r = 0; r < row_vectors; ++r) x[r] = load<V>(tile + j * tile_rows<S> + r * lanes<S>);
#pragma GCC unroll 8
    for (int m = 0; m < group_size; ++m) {
      const V c = broadcast<V>(centroids[j * group_size + m]);
#pragma GCC unroll 4
      for (int r = 0; r < row_vectors; ++r) acc[m][r] = fma(c, x[r], acc[m][r]);
    }
  }
}

/// take(g, scores) for the scores of a tile and each group of centroids.
template <class S, class Take>
TS_INLINE void for_scores(const S* tile, index_t d, const GroupedCentroids<S>& centroids, const NextRows& next,
                          const Take& take) {
  using V = typename Types<S>::Vec;
  const auto [negated, half_norms, groups] = centroids;
  Asking asking(next, groups * d);
  for (index_t g = 0; g < groups; ++g) {
    const S* c = negated + g * d * group_size;
    V acc[group_size][row_vectors];
#pragma GCC unroll 8
    for (int m = 0; m < group_size; ++m)
#pragma GCC unroll 4
      for (int r = 0; r < row_vectors; ++r) acc[m][r] = broadcast<V>(half_norms[g * group_size + m]);
    products<S>(tile, c, d < block ? d : block, asking, acc);
    for (index_t j = block; j < d; j += block) {
      V part[group_size][row_vectors] = {};
      products<S>(tile + j * tile_rows<S>, c + j * group_size, d - j < block ? d - j : block, asking, part);
      for (int m = 0; m < group_size; ++m)
        for (int r = 0; r < row_vectors; ++r) acc[m][r] += part[m][r];
    }
    take(g, acc);
  }
}

/// The best two of the rows of a tile, to which scores of a group of centroids are added.
template <class S>
struct BestOfTile {
  BestSoFar<S> found[row_vectors];

  TS_INLINE void operator()(index_t g, const typename Types<S>::Vec (&score)[group_size][row_vectors]) {
#pragma GCC unroll 8
    for (int m = 0; m < group_size; ++m) {
      const auto number = typename Types<S>::VecIndex{} + static_cast<typename Types<S>::Index>(g * group_size + m);
#pragma GCC unroll 4
      for (int r = 0; r < row_vectors; ++r) found[r].take(score[m][r], number);
    }
  }
};

/// Rows of a tile with scores below their limits, for each centroid of a group.
template <class S>
struct BelowOfTile {
  typename Types<S>::Vec limit[row_vectors];
  std::uint64_t* rows;

  TS_INLINE BelowOfTile(const S* limits, std::uint64_t* out) : rows(out) {
    for (int r = 0; r < row_vectors; ++r) limit[r] = load<typename Types<S>::Vec>(limits + r * lanes<S>);
  }
  TS_INLINE void operator()(index_t g, const typename Types<S>::Vec (&score)[group_size][row_vectors]) const {
#pragma GCC unroll 8
    for (int m = 0; m < group_size; ++m) {
      std::uint64_t found = 0;
#pragma GCC unroll 4
      for (int r = 0; r < row_vectors; ++r) found |= lanes_below(score[m][r], limit[r]) << (r * lanes<S>);
      rows[g * group_size + m] = found;
    }
  }
};

template <class S>
void best_two(const S* tile, index_t d, const GroupedCentroids<S>& centroids, const NextRows& next, const Out<S>& out) {
  BestOfTile<S> best;
  for_scores<S>(tile, d, centroids, next, [&](index_t g, const auto& score) TS_LAMBDA { best(g, score); });
  store_all<S>(best.found, out);
}

template <class S>
void below(const S* tile, index_t d, const GroupedCentroids<S>& centroids, const NextRows& next, const S* limits,
           std::uint64_t* rows) {
  const BelowOfTile<S> below_limits(limits, rows);
  for_scores<S>(tile, d, centroids, next, [&](index_t g, const auto& score) TS_LAMBDA { below_limits(g, score); });
}

template <class S>
void best_two_sparse(const SparseRow<S>& row, const TransposedCentroids<S>& centroids, S* scores, const Out<S>& out) {
  using V = typename Types<S>::Vec;
  using I = typename Types<S>::VecIndex;
  const auto [values, columns, entries] = row;
  const auto [transposed, half_norms, padded] = centroids;
  BestSoFar<S> found;
  I number{};
  for (int l = 0; l < lanes<S>; ++l) number[l] = l;
  // Panels of four vectors stay in registers while the row's entries go by.
  for (index_t m = 0; m < padded;) {
    const int width = padded - m >= 4 * lanes<S> ? 4 : 1;
    V acc[4];
    for (int q = 0; q < width; ++q) acc[q] = load<V>(half_norms + m + q * lanes<S>);
    if (width == 4) {
      for (index_t p = 0; p < entries; ++p) {
        const V x = broadcast<V>(values[p]);
        const S* c = transposed + columns[p] * padded + m;
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) acc[q] = fma(x, load<V>(c + q * lanes<S>), acc[q]);
      }
    } else {
      for (index_t p = 0; p < entries; ++p)
        acc[0] = fma(broadcast<V>(values[p]), load<V>(transposed + columns[p] * padded + m), acc[0]);
    }
    for (int q = 0; q < width; ++q) {
      store(scores + m + q * lanes<S>, acc[q]);
      found.take(acc[q], number);
      number += static_cast<typename Types<S>::Index>(lanes<S>);
    }
    m += width * lanes<S>;
  }
  S best = found.best[0], second = found.second[0];
  auto which = found.which[0];
  for (int l = 1; l < lanes<S>; ++l) {
    const S b = found.best[l];
    const bool wins = b < best || (b == best && found.which[l] < which);
    const S loser = wins ? best : b;
    if (loser < second) second = loser;
    if (found.second[l] < second) second = found.second[l];
    if (wins) best = b, which = found.which[l];
  }
  *out.best = best, *out.second = second, *out.which = which;
}
