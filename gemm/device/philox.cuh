// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) and what is made of its words, with the bits of core/philox.hpp.
// Stands on its own: a test compiles it for the host too.
#pragma once

struct PhiloxWords {
  unsigned int word[4];
};

__device__ __forceinline__ PhiloxWords philox(unsigned long long counter, unsigned long long stream,
                                              unsigned long long key) {
  unsigned int c0 = static_cast<unsigned int>(counter), c1 = static_cast<unsigned int>(counter >> 32);
  unsigned int c2 = static_cast<unsigned int>(stream), c3 = static_cast<unsigned int>(stream >> 32);
  unsigned int k0 = static_cast<unsigned int>(key), k1 = static_cast<unsigned int>(key >> 32);
#ifdef __CUDACC_RTC__
#pragma unroll
#endif
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = static_cast<unsigned int>(b >> 32) ^ c1 ^ k0, c1 = static_cast<unsigned int>(b);
    c2 = static_cast<unsigned int>(a >> 32) ^ c3 ^ k1, c3 = static_cast<unsigned int>(a);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// Uniform in [0, 1), a multiple of 2^-53.
__device__ __forceinline__ double uniform(const PhiloxWords& r) {
  const unsigned long long bits = static_cast<unsigned long long>(r.word[1]) << 32 | r.word[0];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Nearly normal, of mean 0 and variance 1.
__device__ __forceinline__ double near_normal(const PhiloxWords& r) {
  unsigned long long sum = r.word[0];
  for (int k = 1; k < 4; ++k) sum += r.word[k];
  const long long odd = static_cast<long long>(2 * sum) - ((1ll << 34) - 5);
  return static_cast<double>(odd) * 0x1.bb67ae8584caap-33;  // sqrt(3) 2^-33
}
