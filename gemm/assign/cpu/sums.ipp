// Sums of rows, of squares and of distances, with the same bits for every instruction set. Part of kernels.ipp.

/// See split() in cluster_sums.cpp.
void accumulate(const double* __restrict v, double w, const double* __restrict to_units, double one, index_t d,
                std::uint64_t* __restrict upper, std::uint64_t* __restrict lower) {
  constexpr double magic = 0x1.8p52;
  constexpr auto magic_bits = __builtin_bit_cast(std::uint64_t, magic);
  for (index_t j = 0; j < d; ++j) {
    const double p = w * (v[j] * to_units[j]) * one;
    const double rounded = p + magic;
    const double rest = (p - (rounded - magic)) * one + magic;
    upper[j] += __builtin_bit_cast(std::uint64_t, rounded) - magic_bits;
    lower[j] += __builtin_bit_cast(std::uint64_t, rest) - magic_bits;
  }
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

double squared_distance(const double* a, const double* b, index_t d) {
  EightSums sums;
  double rest[8];
  index_t j = 0;
  for (; j + 8 <= d; j += 8)
    for (int q = 0; q < 8 / lanes<double>; ++q) {
      const index_t at = j + q * lanes<double>;
      const VecD difference = load<VecD>(a + at) - load<VecD>(b + at);
      sums.part[q] += difference * difference;
    }
  for (index_t q = j; q < d; ++q) rest[q - j] = (a[q] - b[q]) * (a[q] - b[q]);
  return sums.of(rest, static_cast<int>(d - j));
}

template <class S>
double sum_of_least(const S* a, const S* b, const double* weights, index_t count) {
  EightSums sums;
  double rest[8];
  index_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int q = 0; q < 8 / lanes<double>; ++q) {
      const index_t at = i + q * lanes<double>;
      const auto least = smaller(load<Part<S>>(a + at), load<Part<S>>(b + at));
      const VecD wide = __builtin_convertvector(least, VecD);
      sums.part[q] += weights == nullptr ? wide : wide * load<VecD>(weights + at);
    }
  for (index_t q = i; q < count; ++q)
    rest[q - i] = static_cast<double>(a[q] < b[q] ? a[q] : b[q]) * (weights == nullptr ? 1.0 : weights[q]);
  return sums.of(rest, static_cast<int>(count - i));
}

void add(const double* __restrict row, index_t d, double* __restrict sum) {
  for (index_t j = 0; j < d; ++j) sum[j] += row[j];
}

void spread(const double* __restrict row, const double* __restrict shift, const double* __restrict mean, index_t d,
            double* __restrict reach, double* __restrict squares) {
  for (index_t j = 0; j < d; ++j) {
    const double from_shift = __builtin_fabs(row[j] - shift[j]), from_mean = row[j] - mean[j];
    reach[j] = reach[j] > from_shift ? reach[j] : from_shift;
    squares[j] += from_mean * from_mean;
  }
}
