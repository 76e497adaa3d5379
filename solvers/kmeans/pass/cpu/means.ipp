// Means and inertias from sums in fixed point (ClusterSums::exact_sum), a vector of columns at a time: step by
// step what assign/sums/kernels/assign_means.cuh does, for the same bits. Part of kernels.ipp.

using VecU64 = std::uint64_t __attribute__((vector_size(vector_bytes)));

/// ts::Twofold in every lane.
struct Twofolds {
  VecD hi, lo;
};
TS_INLINE Twofolds sum_of(VecD a, VecD b) {
  const VecD s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
TS_INLINE Twofolds sum_of(Twofolds a, Twofolds b) {
  const Twofolds s = sum_of(a.hi, b.hi), t = sum_of(a.lo, b.lo);
  const Twofolds c = sum_of(s.hi, s.lo + t.hi);
  return sum_of(c.hi, c.lo + t.lo);
}
/// a b - p for p = a b rounded, exactly.
TS_INLINE VecD rest_of_product(VecD a, VecD b, VecD p) {
#if defined(__FMA__)
  return fma(a, b, -p);
#else
  VecD rest;
  for (int l = 0; l < lanes<double>; ++l) rest[l] = __builtin_fma(a[l], b[l], -p[l]);
  return rest;
#endif
}
/// The halves of 64-bit integers as float64: each is put into the last bits of a power of two, which is taken
/// away.
TS_INLINE VecD top(VecU64 limb) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  constexpr double far = 0x1p84;  // whose last bit is worth 2^32
  const VecU64 bits = ((limb ^ sign) >> 32) | __builtin_bit_cast(std::uint64_t, far);
  return __builtin_bit_cast(VecD, bits) - (far + 0x1p63);
}
TS_INLINE VecD bottom(VecU64 limb) {
  constexpr double far = 0x1p52;
  const VecU64 bits = (limb & std::uint64_t{0xffffffff}) | __builtin_bit_cast(std::uint64_t, far);
  return __builtin_bit_cast(VecD, bits) - far;
}
/// See join() in cluster_sums.cpp.
TS_INLINE Twofolds join(VecU64 upper, VecU64 lower, double inverse) {
  const Twofolds whole = sum_of(top(upper), bottom(upper) + top(lower) * inverse);
  return sum_of(whole.hi, whole.lo + bottom(lower) * inverse);
}

/// 32 partial sums, one for each column modulo 32, as the lanes of a warp have them.
constexpr int partial_sums = 32, partial_vectors = partial_sums / lanes<double>;

/// take(column, how many from there on, which vector of partial sums) for all columns, a vector at a time.
template <class Take>
TS_INLINE void for_vectors(index_t d, const Take& take) {
  for (index_t j = 0; j < d; j += lanes<double>) take(j, d - j, j / lanes<double> % partial_vectors);
}
/// Adds up the partial sums in the order of a warp that exchanges them.
template <class V, class Add>
TS_INLINE V sum_of_partial(V (&part)[partial_vectors], const Add& add) {
  for (int far = partial_vectors / 2; far > 0; far /= 2)
    for (int q = 0; q < far; ++q) part[q] = add(part[q], part[q + far]);
  return part[0];
}
TS_INLINE VecD lanes_from(VecD v, int step) {
  VecD moved = v;
  for (int l = 0; l + step < lanes<double>; ++l) moved[l] = v[l + step];
  return moved;
}

/// See ClusterSums::mean().
void means(const SumsOfCluster& s, double* mean) {
  const VecD share_hi = broadcast<VecD>(s.share_hi), share_lo = broadcast<VecD>(s.share_lo);
  for_vectors(s.d, [&](index_t j, index_t left, index_t) {
    const Twofolds sum = join(load_first<VecU64>(s.upper + j, left), load_first<VecU64>(s.lower + j, left), s.inverse);
    const VecD from = load_first<VecD>(s.from_units + j, left), p = sum.hi * share_hi;
    const VecD rest = rest_of_product(sum.hi, share_hi, p) + (sum.hi * share_lo + sum.lo * share_hi);
    const Twofolds found = sum_of(p * from, load_first<VecD>(s.shift + j, left));
    const VecD rounded = found.hi + (found.lo + rest * from);
    if (left >= lanes<double>)
      store(mean + j, rounded);
    else
      for (index_t l = 0; l < left; ++l) mean[j + l] = rounded[l];
  });
}

double squared_step(const double* a, const double* b, index_t d) {
  VecD part[partial_vectors] = {};
  for_vectors(d, [&](index_t j, index_t left, index_t q) {
    const VecD step = load_first<VecD>(a + j, left) - load_first<VecD>(b + j, left);
    part[q] += step * step;
  });
  VecD sum = sum_of_partial(part, [](VecD x, VecD y) { return x + y; });
  for (int far = lanes<double> / 2; far > 0; far /= 2) sum += lanes_from(sum, far);
  return sum[0];
}

/// (c - shift) ((c - shift) W - 2 S) column by column, each product and sum with what its rounding lost
/// (Ogita, Rump, Oishi 2005, "Accurate sum and dot product").
void inertia_term(const SumsOfCluster& s, const double* centroid, double* hi_lo) {
  const VecD weight_hi = broadcast<VecD>(s.weight_hi * s.inverse), weight_lo = broadcast<VecD>(s.weight_lo * s.inverse);
  Twofolds part[partial_vectors] = {};
  for_vectors(s.d, [&](index_t j, index_t left, index_t q) {
    const Twofolds sum = join(load_first<VecU64>(s.upper + j, left), load_first<VecU64>(s.lower + j, left), s.inverse);
    const VecD minus_twice = load_first<VecD>(s.from_units + j, left) * (-2 * s.inverse);
    const Twofolds c = sum_of(load_first<VecD>(centroid + j, left), -load_first<VecD>(s.shift + j, left));
    const VecD p = c.hi * weight_hi;
    const VecD rest = rest_of_product(c.hi, weight_hi, p) + (c.hi * weight_lo + c.lo * weight_hi);
    const Twofolds factor = sum_of(p, sum.hi * minus_twice);
    const VecD factor_lo = factor.lo + (rest + sum.lo * minus_twice);
    const VecD term = c.hi * factor.hi;
    const VecD term_lo = rest_of_product(c.hi, factor.hi, term) + (c.hi * factor_lo + c.lo * factor.hi);
    const Twofolds next = sum_of(part[q].hi, term);
    part[q] = {next.hi, part[q].lo + (next.lo + term_lo)};
  });
  for (Twofolds& each : part) each = sum_of(each.hi, each.lo);
  const auto add = [](Twofolds x, Twofolds y) { return sum_of(x, y); };
  Twofolds sum = sum_of_partial(part, add);
  for (int far = lanes<double> / 2; far > 0; far /= 2)
    sum = add(sum, Twofolds{lanes_from(sum.hi, far), lanes_from(sum.lo, far)});
  hi_lo[0] = sum.hi[0], hi_lo[1] = sum.lo[0];
}
