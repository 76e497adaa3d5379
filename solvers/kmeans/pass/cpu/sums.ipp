// Sums of rows, of squares and of distances, with the same bits for every instruction set. Part of kernels.ipp.

/// A row, in float64, and what it weighs.
template <class T, bool plain>
struct RowToAdd {
  const T* x;
  index_t stride;
  double scale, weight;

  TS_INLINE double operator[](index_t j) const {
    if constexpr (plain)
      return widen(x[j]);
    else
      return widen(x[j * stride]) * scale;
  }
};

/// use(q, row) for rows one by one; `number` and `weight` are those of the q-th.
template <class T, bool plain, class Number, class Weight, class Use>
TS_INLINE void for_rows_of(const Rows& x, index_t count, const Number& number, const Weight& weight, const Use& use) {
  for (index_t q = 0; q < count; ++q) {
    const index_t i = number(q);
    use(q, RowToAdd<T, plain>{static_cast<const T*>(x.values()) + i * x.row_stride(), x.col_stride(), x.scale(i),
                              weight(q)});
  }
}
template <class Number, class Weight, class Use>
TS_INLINE void for_rows(const Rows& x, index_t count, const Number& number, const Weight& weight, const Use& use) {
  const bool plain = x.col_stride() == 1 && !x.has_scale();
  with_values(x, [&]<class T>(const T*) TS_LAMBDA {
    if (plain)
      for_rows_of<T, true>(x, count, number, weight, use);
    else
      for_rows_of<T, false>(x, count, number, weight, use);
  });
}

struct Limbs {
  std::uint64_t upper, lower;
};
/// See split() in cluster_sums.cpp.
TS_INLINE Limbs limbs_of(double v, double weight, double shift, double unit, double one) {
  constexpr double magic = 0x1.8p52;
  constexpr auto magic_bits = __builtin_bit_cast(std::uint64_t, magic);
  const double p = weight * ((v - shift) * unit) * one;
  const double rounded = p + magic;
  const double rest = (p - (rounded - magic)) * one + magic;
  return {__builtin_bit_cast(std::uint64_t, rounded) - magic_bits,
          __builtin_bit_cast(std::uint64_t, rest) - magic_bits};
}

template <class Row>
void accumulate_row(const double* __restrict shift, const double* __restrict to_units, double one, index_t d,
                    std::uint64_t* __restrict upper, std::uint64_t* __restrict lower, Row row) {
  for (index_t j = 0; j < d; ++j) {
    const Limbs limbs = limbs_of(row[j], row.weight, shift[j], to_units[j], one);
    upper[j] += limbs.upper, lower[j] += limbs.lower;
  }
}
void accumulate(const RowsToAdd& rows, const double* shift, const double* to_units, double one, std::uint64_t* upper,
                std::uint64_t* lower) {
  for_rows(
      rows.x, rows.count, [&](index_t q) TS_LAMBDA { return rows.rows[q]; },
      [&](index_t q) TS_LAMBDA { return rows.weights[q]; },
      [&](index_t, auto row) TS_LAMBDA { accumulate_row(shift, to_units, one, rows.x.cols(), upper, lower, row); });
}

/// Limbs of -w v are those of w v, negated.
template <class Row>
TS_INLINE void move_limbs(const double* __restrict shift, const double* __restrict to_units, double one, index_t d,
                          std::uint64_t* __restrict to_upper, std::uint64_t* __restrict to_lower,
                          std::uint64_t* __restrict from_upper, std::uint64_t* __restrict from_lower, Row row) {
  for (index_t j = 0; j < d; ++j) {
    const Limbs limbs = limbs_of(row[j], row.weight, shift[j], to_units[j], one);
    to_upper[j] += limbs.upper, to_lower[j] += limbs.lower;
    from_upper[j] -= limbs.upper, from_lower[j] -= limbs.lower;
  }
}
void move(const RowsToMove& rows, const double* shift, const double* to_units, double one, std::uint64_t* upper,
          std::uint64_t* lower) {
  const index_t d = rows.x.cols();
  for_rows(
      rows.x, rows.count, [&](index_t q) TS_LAMBDA { return rows.rows[q].row; },
      [&](index_t q) TS_LAMBDA { return rows.rows[q].weight * rows.weight_to_units; },
      [&](index_t q, auto row) TS_LAMBDA {
        const index_t to = rows.rows[q].to * d, from = rows.rows[q].from * d;
        if (from < 0)
          accumulate_row(shift, to_units, one, d, upper + to, lower + to, row);
        else
          move_limbs(shift, to_units, one, d, upper + to, lower + to, upper + from, lower + from, row);
      });
}

double squared_distance(const double* a, const double* b, index_t d) {
  constexpr int vectors = 8 / lanes<double>;
  VecD sums[vectors] = {};
  for (index_t j = 0; j < d; j += 8)
    for (int q = 0; q < vectors; ++q)
      if (const index_t from = j + q * lanes<double>; from < d) {
        const VecD difference = load_first<VecD>(a + from, d - from) - load_first<VecD>(b + from, d - from);
        sums[q] += difference * difference;
      }
  double sum[8];
  for (int q = 0; q < vectors; ++q) store(sum + q * lanes<double>, sums[q]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

void own_squared_distances(const Rows& x, const index_t* rows, index_t count, const OwnCentroids& of, double* scratch,
                           double* out) {
  const index_t d = x.cols();
  for (index_t q = 0; q < count; ++q) {
    centred(x, rows[q], of.shift, scratch);
    for (index_t j = 0; j < d; ++j) scratch[j] *= of.scale;
    out[q] = squared_distance(scratch, of.centroids + of.labels[rows[q]] * d, d);
  }
}

void add(const Rows& x, index_t first, index_t count, double* sum) {
  for_rows(
      x, count, [&](index_t q) TS_LAMBDA { return first + q; }, [](index_t) TS_LAMBDA { return 1.0; },
      [&](index_t, auto row) TS_LAMBDA {
        for (index_t j = 0; j < x.cols(); ++j) sum[j] += row[j];
      });
}

template <class Row>
void spread_row(const double* __restrict shift, const double* __restrict mean, index_t d, double* __restrict max_abs,
                double* __restrict squares, Row row) {
  for (index_t j = 0; j < d; ++j) {
    const double v = row[j], from_shift = __builtin_fabs(v - shift[j]), from_mean = v - mean[j];
    max_abs[j] = max_abs[j] > from_shift ? max_abs[j] : from_shift;
    squares[j] += from_mean * from_mean;
  }
}
void spread(const Rows& x, index_t first, index_t count, const double* shift, const double* mean, double* max_abs,
            double* squares) {
  for_rows(
      x, count, [&](index_t q) TS_LAMBDA { return first + q; }, [](index_t) TS_LAMBDA { return 1.0; },
      [&](index_t, auto row) TS_LAMBDA { spread_row(shift, mean, x.cols(), max_abs, squares, row); });
}
