// Ranks that work together: processes that a launcher (mpirun, srun) has started, or threads of one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tallskinny/gemm/comm/rank_session.hpp"

namespace ts::app {

/// What a launcher has put into the environment of each process.
struct Launch {
  int ranks = 1, rank = 0;
  bool without_mpi = false;  ///< by srun, which was told of no MPI
};
/// Open MPI's mpirun, that of MPICH, and srun say so in variables of their own.
[[nodiscard]] Launch launch_of(const std::function<const char*(const char*)>& variable);
/// That of this process.
[[nodiscard]] Launch launch_of_environment();

/// How a rank ended. A sentence: by an error.
struct Ending {
  int code = 0;
  std::string sentence = {};
  bool follows = false;  ///< by that of another one, whatever the sentence
};

/// Who of several ranks does the work; decided before anything is read, by all alike.
struct RanksPlan {
  bool together = true;
  std::string why_alone = {};  ///< why rank 0 works and the others wait: the end of a sentence
  std::string factors = {};    ///< of those that work together: who factorises; empty: nobody
  /// For the results of a run of several.
  [[nodiscard]] std::string text() const {
    if (!together) return "rank 0 alone: " + why_alone;
    return factors.empty() ? "together" : "together, factors by " + factors;
  }
};

/// Those of one run, of which this process or thread is one. Alone without a launcher: then MPI is not even looked for.
class Ranks {
 public:
  Ranks() = default;
  /// Of threads of this process, which share its processors and memory already.
  explicit Ranks(std::shared_ptr<const RankSession> threads);
  /// Starts MPI, and shares processors and memory of each machine among its processes: those with equal affinity masks
  /// get as many threads each as fit.
  /// @throws Error(no_device) where MPI is not found, or is another one than the launcher's.
  explicit Ranks(const Launch& launch);

  [[nodiscard]] int rank() const noexcept { return world_->rank(); }
  [[nodiscard]] int size() const noexcept { return world_->size(); }
  [[nodiscard]] bool first() const noexcept { return rank() == 0; }
  /// How many ranks on this machine come before this one.
  [[nodiscard]] int rank_on_machine() const noexcept { return rank_on_machine_; }
  [[nodiscard]] const std::shared_ptr<Communicator>& communicator() const noexcept { return world_; }

  /// Whether this rank works; where it does not, it goes to settle() and sleeps there.
  [[nodiscard]] bool works(const RanksPlan& plan) const noexcept { return plan.together || first(); }
  /// Rank 0 has its machine for itself.
  void work_alone() const;
  /// Called by all before they work together. @throws Error(no_device) on all where their processors have other vector
  /// instructions, or OpenBLAS takes other kernels: small problems, which all solve, would differ in the last bits.
  /// Where ranks are threads also if OpenBLAS is made for one.
  void work_together() const;

  /// The ranks of a run on GPUs, of which this one has number `device`: sums go from GPU to GPU by NCCL where that is
  /// found and no two ranks share one, otherwise through host memory, of which `note` is told. All call it.
  [[nodiscard]] std::shared_ptr<Communicator> on_devices(int device,
                                                         const std::function<void(const std::string&)>& note) const;

  /// Waits for the others and returns how all end: as the first that failed, whose sentence is told by it alone. Where
  /// others do not come within two seconds after this one has failed, they wait for it: that ends all of them.
  /// @param tell what writes a sentence
  [[nodiscard]] int settle(const Ending& mine, const std::function<void(const std::string&)>& tell) const;

 private:
  std::shared_ptr<const RankSession> session_;  ///< null: alone
  std::shared_ptr<Communicator> world_ = self_communicator();
  int rank_on_machine_ = 0;
  bool threads_ = false;
};

}  // namespace ts::app
