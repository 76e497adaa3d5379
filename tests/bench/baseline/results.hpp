// Lines of results: a name, and a hash of all bits.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tallskinny/gemm/plan/processor_info.hpp"
#include "tallskinny/tests/bench/baseline/hash.hpp"

namespace ts::baseline {

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
void print_eigen();
/// Matrices that are not Hermitian, pencils, singular values, orthonormalisation.
void print_general();
void print_kmeans();

}  // namespace ts::baseline
