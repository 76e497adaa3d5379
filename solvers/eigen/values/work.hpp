// What a Krylov method costs.
#pragma once

#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::solvers {

/// Where the time of a Krylov method went, in seconds.
struct KrylovSeconds {
  double applying = 0, orthogonalising = 0, restarting = 0, small = 0;

  KrylovSeconds& operator+=(const KrylovSeconds& more) noexcept {
    applying += more.applying, orthogonalising += more.orthogonalising;
    restarting += more.restarting, small += more.small;
    return *this;
  }
};

/// Block steps, columns that the operator was applied to, directions that died, and the time of it all.
struct KrylovWork {
  index_t steps = 0, applications = 0, dead = 0;
  KrylovSeconds seconds;

  KrylovWork& operator+=(const KrylovWork& more) noexcept {
    steps += more.steps, applications += more.applications, dead += more.dead;
    seconds += more.seconds;
    return *this;
  }
};

/// Adds the seconds of a scope to `total`.
class Timed {
 public:
  explicit Timed(double& total) : total_(total) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { total_ += watch_.seconds(); }

 private:
  double& total_;
  Stopwatch watch_;
};

}  // namespace ts::inline v0::solvers
