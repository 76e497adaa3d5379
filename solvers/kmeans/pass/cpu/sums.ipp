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

/// use(rows..) for a few rows at a time, so that what belongs to columns is read and written less often. `number` and
/// `weight` are those of the q-th row.
template <class T, bool plain, class Number, class Weight, class Use>
TS_INLINE void by_few_rows(const Rows& x, index_t count, const Number& number, const Weight& weight, const Use& use) {
  const auto row = [&](index_t q) TS_LAMBDA {
    const index_t i = number(q);
    return RowToAdd<T, plain>{static_cast<const T*>(x.values()) + i * x.row_stride(), x.col_stride(), x.scale(i),
                              weight(q)};
  };
  index_t q = 0;
  for (; q + 4 <= count; q += 4) use(row(q), row(q + 1), row(q + 2), row(q + 3));
  for (; q < count; ++q) use(row(q));
}
template <class Number, class Weight, class Use>
TS_INLINE void for_few_rows(const Rows& x, index_t count, const Number& number, const Weight& weight, const Use& use) {
  const bool plain = x.col_stride() == 1 && !x.has_scale();
  with_values(x, [&]<class T>(const T*) TS_LAMBDA {
    if (plain)
      by_few_rows<T, true>(x, count, number, weight, use);
    else
      by_few_rows<T, false>(x, count, number, weight, use);
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

template <class... Row>
void accumulate_few(const double* __restrict shift, const double* __restrict to_units, double one, index_t d,
                    std::uint64_t* __restrict upper, std::uint64_t* __restrict lower, Row... row) {
  for (index_t j = 0; j < d; ++j) {
    const double from = shift[j], unit = to_units[j];
    std::uint64_t up = upper[j], low = lower[j];
    const auto add = [&](double v, double w) TS_LAMBDA {
      const Limbs limbs = limbs_of(v, w, from, unit, one);
      up += limbs.upper, low += limbs.lower;
    };
    (add(row[j], row.weight), ...);
    upper[j] = up, lower[j] = low;
  }
}
void accumulate(const RowsToAdd& rows, const double* shift, const double* to_units, double one, std::uint64_t* upper,
                std::uint64_t* lower) {
  for_few_rows(
      rows.x, rows.count, [&](index_t q) TS_LAMBDA { return rows.rows[q]; },
      [&](index_t q) TS_LAMBDA { return rows.weights[q]; },
      [&](auto... row) TS_LAMBDA { accumulate_few(shift, to_units, one, rows.x.cols(), upper, lower, row...); });
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
template <class T, bool plain>
void move_each(const RowsToMove& rows, const double* shift, const double* to_units, double one, std::uint64_t* upper,
               std::uint64_t* lower) {
  const Rows& x = rows.x;
  const index_t d = x.cols();
  for (const MovedRow* moved = rows.rows; moved != rows.rows + rows.count; ++moved) {
    const index_t i = moved->row, to = moved->to * d, from = moved->from * d;
    const RowToAdd<T, plain> row{static_cast<const T*>(x.values()) + i * x.row_stride(), x.col_stride(), x.scale(i),
                                 moved->weight * rows.weight_to_units};
    if (moved->from < 0)
      accumulate_few(shift, to_units, one, d, upper + to, lower + to, row);
    else
      move_limbs(shift, to_units, one, d, upper + to, lower + to, upper + from, lower + from, row);
  }
}
void move(const RowsToMove& rows, const double* shift, const double* to_units, double one, std::uint64_t* upper,
          std::uint64_t* lower) {
  const bool plain = rows.x.col_stride() == 1 && !rows.x.has_scale();
  with_values(rows.x, [&]<class T>(const T*) TS_LAMBDA {
    if (plain)
      move_each<T, true>(rows, shift, to_units, one, upper, lower);
    else
      move_each<T, false>(rows, shift, to_units, one, upper, lower);
  });
}

/// ||a - b||^2 in eight partial sums; part(j, count): a - b from column j on, of which `count` columns are there, and
/// zeros.
template <class Part>
TS_INLINE double squared_distance_of(index_t d, const Part& part) {
  constexpr int vectors = 8 / lanes<double>;
  VecD sums[vectors] = {};
  for (index_t j = 0; j < d; j += 8)
    for (int q = 0; q < vectors; ++q)
      if (const index_t from = j + q * lanes<double>; from < d) {
        const VecD difference = part(from, d - from);
        sums[q] += difference * difference;
      }
  double sum[8];
  for (int q = 0; q < vectors; ++q) store(sum + q * lanes<double>, sums[q]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}
double squared_distance(const double* a, const double* b, index_t d) {
  return squared_distance_of(d, [=](index_t j, index_t count) TS_LAMBDA {
    return load_first<VecD>(a + j, count) - load_first<VecD>(b + j, count);
  });
}

/// (x - shift) scale from column j on, and zeros.
template <class T>
TS_INLINE VecD scaled_part(const T* x, const double* shift, index_t j, index_t count, VecD scale) {
  return (wide_first(x + j, count) - load_first<VecD>(shift + j, count)) * scale;
}
void own_squared_distances(const Rows& x, const index_t* rows, index_t count, const OwnCentroids& of, double* room,
                           double* out) {
  const index_t d = x.cols();
  const bool plain = x.col_stride() == 1 && !x.has_scale();
  const VecD by = broadcast<VecD>(of.scale);
  with_values(x, [&]<class T>(const T* values) TS_LAMBDA {
    for (index_t q = 0; q < count; ++q) {
      const double* const c = of.centroids + of.labels[rows[q]] * d;
      if (plain) {
        const T* const row = values + rows[q] * x.row_stride();
        out[q] = squared_distance_of(d, [&](index_t j, index_t left) TS_LAMBDA {
          return scaled_part(row, of.shift, j, left, by) - load_first<VecD>(c + j, left);
        });
      } else {
        centred(x, rows[q], of.shift, room);
        for (index_t j = 0; j < d; ++j) room[j] *= of.scale;
        out[q] = squared_distance(room, c, d);
      }
    }
  });
}

template <class... Row>
void add_few(index_t d, double* __restrict sum, Row... row) {
  for (index_t j = 0; j < d; ++j) {
    double all = sum[j];
    ((all += row[j]), ...);
    sum[j] = all;
  }
}
void add(const Rows& x, index_t first, index_t count, double* sum) {
  for_few_rows(
      x, count, [&](index_t q) TS_LAMBDA { return first + q; }, [](index_t) TS_LAMBDA { return 1.0; },
      [&](auto... row) TS_LAMBDA { add_few(x.cols(), sum, row...); });
}

template <class... Row>
void spread_few(const double* __restrict shift, const double* __restrict mean, index_t d, double* __restrict reach,
                double* __restrict squares, Row... row) {
  for (index_t j = 0; j < d; ++j) {
    double far = reach[j], sum = squares[j];
    const auto take = [&](double v) TS_LAMBDA {
      const double from_shift = __builtin_fabs(v - shift[j]), from_mean = v - mean[j];
      far = far > from_shift ? far : from_shift;
      sum += from_mean * from_mean;
    };
    (take(row[j]), ...);
    reach[j] = far, squares[j] = sum;
  }
}
void spread(const Rows& x, index_t first, index_t count, const double* shift, const double* mean, double* reach,
            double* squares) {
  for_few_rows(
      x, count, [&](index_t q) TS_LAMBDA { return first + q; }, [](index_t) TS_LAMBDA { return 1.0; },
      [&](auto... row) TS_LAMBDA { spread_few(shift, mean, x.cols(), reach, squares, row...); });
}
