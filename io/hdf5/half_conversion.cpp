// HDF5 1.10 converts 16-bit floats bit by bit, about 5 million a second. The conversions registered here
// (of every 16-bit element type, in either byte order, to float and double) run some hundred times faster.
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/hdf5/h5.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

/// State of a registered conversion; HDF5 keeps it between calls.
struct Path {
  DType from;
  bool swap;
  bool to_double;
};

constexpr std::size_t block = 1024;

constexpr std::size_t bias_of(std::size_t exponent_bits) { return (std::size_t{1} << (exponent_bits - 1)) - 1; }

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) void widen_f16c(const std::uint16_t* in, float* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  for (; i < n; ++i) out[i] = to_float(float16::from_bits(in[i]));
}
#endif

void widen(const Path& path, std::uint16_t* in, float* out, std::size_t n) {
  if (path.swap)
    for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<std::uint16_t>(in[i] << 8 | in[i] >> 8);
#if defined(__x86_64__)
  // Every processor with AVX2 has F16C; clang 14 cannot ask for F16C itself.
  static const bool fast = __builtin_cpu_supports("avx2") != 0;
  if (fast && path.from == DType::float16) return widen_f16c(in, out, n);
#endif
  by_real_type(path.from, [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 2)
      for (std::size_t i = 0; i < n; ++i) out[i] = to_float(T::from_bits(in[i]));
  });
}

/// Converts in place, 2 bytes to 4 or 8: from the last block to the first, so that nothing unread is overwritten.
/// `stride` is the distance of elements inside a compound, 0 when they are packed.
void convert(const Path& path, std::size_t count, std::size_t stride, unsigned char* buffer) {
  const std::size_t in_step = stride != 0 ? stride : 2;
  const std::size_t out_step = stride != 0 ? stride : (path.to_double ? 8 : 4);
  std::uint16_t in[block];
  float out[block];
  for (std::size_t end = count; end > 0;) {
    const std::size_t n = end < block ? end : block, begin = end - n;
    const unsigned char* from = buffer + begin * in_step;
    unsigned char* to = buffer + begin * out_step;
    if (stride == 0)
      std::memcpy(in, from, 2 * n);
    else
      for (std::size_t i = 0; i < n; ++i) std::memcpy(in + i, from + i * in_step, 2);
    widen(path, in, out, n);
    for (std::size_t i = 0; i < n; ++i) {
      if (path.to_double) {
        const double wide = out[i];
        std::memcpy(to + i * out_step, &wide, 8);
      } else {
        std::memcpy(to + i * out_step, out + i, 4);
      }
    }
    end = begin;
  }
}

/// The type of a 16-bit float that can be converted here.
std::optional<DType> known_half(hid_t type) {
  if (H5Tget_class(type) != H5T_FLOAT || H5Tget_size(type) != 2 || H5Tget_offset(type) != 0 ||
      H5Tget_precision(type) != 16)
    return std::nullopt;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0) return std::nullopt;
  if (sign != 15 || mantissa != 0 || exponent != mantissa_bits || exponent_bits + mantissa_bits != 15 ||
      H5Tget_norm(type) != H5T_NORM_IMPLIED || H5Tget_ebias(type) != bias_of(exponent_bits))
    return std::nullopt;
  for (const DType known : every_dtype)
    if (size_of(known) == 2 && mantissa_bits == mantissa_bits_of(known)) return known;
  return std::nullopt;
}

/// Conversion function for HDF5. Ignores the background, its stride and the properties.
template <class... Unused>
herr_t convert_half(hid_t from, hid_t to, H5T_cdata_t* state, std::size_t count, std::size_t stride, std::size_t,
                    void* buffer, Unused...) {
  switch (state->command) {
    case H5T_CONV_INIT: {
      const std::optional<DType> half = known_half(from);
      const bool to_double = H5Tequal(to, H5T_NATIVE_DOUBLE) > 0;
      if (!half || (!to_double && H5Tequal(to, H5T_NATIVE_FLOAT) <= 0)) return -1;
      state->need_bkg = H5T_BKG_NO;
      state->priv = new Path{*half, H5Tget_order(from) != H5Tget_order(H5T_NATIVE_FLOAT), to_double};
      return 0;
    }
    case H5T_CONV_CONV:
      convert(*static_cast<const Path*>(state->priv), count, stride, static_cast<unsigned char*>(buffer));
      return 0;
    case H5T_CONV_FREE:
      delete static_cast<Path*>(state->priv);
      state->priv = nullptr;
      return 0;
  }
  return -1;
}

}  // namespace

unsigned mantissa_bits_of(DType type) {
  return by_real_type(type, []<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 2)  // infinity has all bits of the exponent, and no others
      return static_cast<unsigned>(std::countr_zero(narrowed<T>(std::numeric_limits<double>::infinity()).bits));
    else
      return static_cast<unsigned>(std::numeric_limits<T>::digits - 1);
  });
}

Handle sixteen_bit_float(unsigned mantissa_bits) {
  Handle type = own_type(H5Tcopy(H5T_IEEE_F32LE));
  const std::size_t exponent_bits = 15 - mantissa_bits;
  H5Tset_fields(type.id(), 15, mantissa_bits, exponent_bits, 0, mantissa_bits);
  H5Tset_size(type.id(), 2);
  H5Tset_ebias(type.id(), bias_of(exponent_bits));
  return type;
}

void register_half_conversion() {
  // Soft: offered every pair of float types, it takes those it knows and leaves the others to HDF5.
  H5Tregister(H5T_PERS_SOFT, "half to float", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, convert_half);
}

}  // namespace ts::inline v0::io::hdf5
