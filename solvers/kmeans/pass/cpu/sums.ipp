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

/// See split() in cluster_sums.cpp.
template <class... Row>
void accumulate_few(const double* __restrict shift, const double* __restrict to_units, double one, index_t d,
                    std::uint64_t* __restrict upper, std::uint64_t* __restrict lower, Row... row) {
  constexpr double magic = 0x1.8p52;
  constexpr auto magic_bits = __builtin_bit_cast(std::uint64_t, magic);
  for (index_t j = 0; j < d; ++j) {
    const double from = shift[j], unit = to_units[j];
    std::uint64_t up = upper[j], low = lower[j];
    const auto add = [&](double v, double w) TS_LAMBDA {
      const double p = w * ((v - from) * unit) * one;
      const double rounded = p + magic;
      const double rest = (p - (rounded - magic)) * one + magic;
      up += __builtin_bit_cast(std::uint64_t, rounded) - magic_bits;
      low += __builtin_bit_cast(std::uint64_t, rest) - magic_bits;
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

/// Eight partial sums in as many vectors as they fill.
struct EightSums {
  VecD part[8 / lanes<double>] = {};

  TS_INLINE double of(const double* rest, int count) const {
    double sum[8];
    for (int q = 0; q < 8 / lanes<double>; ++q) store(sum + q * lanes<double>, part[q]);
    for (int q = 0; q < count; ++q) sum[q] += rest[q];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
};

/// ||a - b||^2, of what `part` has as vectors of both, and `one` as numbers.
template <class Part, class One>
TS_INLINE double squared_distance_of(index_t d, const Part& part, const One& one) {
  EightSums sums;
  double rest[8];
  index_t j = 0;
  for (; j + 8 <= d; j += 8)
    for (int q = 0; q < 8 / lanes<double>; ++q) {
      const VecD difference = part(j + q * lanes<double>);
      sums.part[q] += difference * difference;
    }
  for (index_t q = j; q < d; ++q) rest[q - j] = one(q) * one(q);
  return sums.of(rest, static_cast<int>(d - j));
}
double squared_distance(const double* a, const double* b, index_t d) {
  return squared_distance_of(
      d, [=](index_t j) TS_LAMBDA { return load<VecD>(a + j) - load<VecD>(b + j); },
      [=](index_t j) TS_LAMBDA { return a[j] - b[j]; });
}
template <class T>
double squared_distance_of_plain(const Rows& x, index_t a, index_t b, const double* shift, double scale) {
  const T *const values = static_cast<const T*>(x.values()), *const u = values + a * x.row_stride(),
                 *const v = values + b * x.row_stride();
  const VecD by = broadcast<VecD>(scale);
  const auto part = [&](const T* of, index_t j) TS_LAMBDA { return (wide_part(of + j) - load<VecD>(shift + j)) * by; };
  const auto one = [&](const T* of, index_t j) TS_LAMBDA { return (widen(of[j]) - shift[j]) * scale; };
  return squared_distance_of(
      x.cols(), [&](index_t j) TS_LAMBDA { return part(u, j) - part(v, j); },
      [&](index_t j) TS_LAMBDA { return one(u, j) - one(v, j); });
}
double squared_distance_of_rows(const Rows& x, index_t a, index_t b, const double* shift, double scale, double* room) {
  const index_t d = x.cols();
  if (x.col_stride() != 1 || x.has_scale()) {
    centred(x, a, shift, room), centred(x, b, shift, room + d);
    for (index_t j = 0; j < 2 * d; ++j) room[j] *= scale;
    return squared_distance(room, room + d, d);
  }
  return with_values(x,
                     [&]<class T>(const T*) TS_LAMBDA { return squared_distance_of_plain<T>(x, a, b, shift, scale); });
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
