// Lines of results: a name, and a hash of all bits.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/plan/processor_info.hpp"

namespace ts::baseline {

/// FNV-1a over bytes.
class Hash {
 public:
  void bytes(const void* data, std::size_t size) noexcept {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) state_ = (state_ ^ p[i]) * 0x100000001b3u;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> Hash& add(const T& x) noexcept {
    bytes(&x, sizeof x);
    return *this;
  }
  template <class T>
  Hash& add(std::span<const T> all) noexcept {
    add(all.size());
    bytes(all.data(), all.size_bytes());
    return *this;
  }
  template <class T>
  Hash& add(const std::vector<T>& all) noexcept {
    if constexpr (std::is_same_v<T, bool>) {
      add(all.size());
      for (const bool x : all) add(x);
      return *this;
    } else {
      return add(std::span<const T>(all));
    }
  }
  template <class T>
  Hash& add(const Matrix<T>& m) noexcept {
    add(m.rows()).add(m.cols());
    bytes(m.data(), static_cast<std::size_t>(m.rows() * m.cols()) * sizeof(T));
    return *this;
  }
  Hash& text(std::string_view words) noexcept {
    add(words.size());
    bytes(words.data(), words.size());
    return *this;
  }
  /// 16 hexadecimal digits.
  [[nodiscard]] std::string digits() const {
    char out[17];
    std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(state_));
    return out;
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

/// Prints "name: hash" of what work(hash) adds, or how it failed.
template <class Work>
void item(const std::string& name, Work&& work) {
  Hash hash;
  std::string digits;
  try {
    work(hash);
    digits = hash.digits();
  } catch (const std::exception& error) {
    digits = std::string("threw ") + error.what();
  }
  std::printf("%s: %s\n", name.c_str(), digits.c_str());
  std::fflush(stdout);
}

struct Way {
  std::string name;
  Context ctx;
};

/// The reference, each vector level of this processor on one thread, and the best one on three.
inline std::vector<Way> ways() {
  std::vector<Way> all(1);
  all[0].name = "reference";
  all[0].ctx.implementation = Implementation::reference;
  for (const Simd level : {Simd::sse2, Simd::avx2, Simd::avx512})
    if (level <= this_cpu().simd) {
      all.push_back({std::string(name_of(level)), {}});
      all.back().ctx.simd = level;
    }
  for (Way& way : all) way.ctx.threads = 1;
  all.push_back({"3 threads", {}});
  all.back().ctx.threads = 3;
  return all;
}

/// One thread, the best vector level.
inline Context plain_context() {
  Context ctx;
  ctx.threads = 1;
  return ctx;
}

/// Inner products, Gram matrices and norms.
void print_sums();
/// Operations that compute each row alone, and random numbers.
void print_rows();
/// Labels, sums of clusters and distances.
void print_assign();
void print_kmeans();

}  // namespace ts::baseline
