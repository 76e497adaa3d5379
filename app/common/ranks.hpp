// Ranks that work together: processes that a launcher (mpirun, srun) has started, or threads of one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tallskinny/gemm/comm/rank_session.hpp"

namespace ts::app {

/// Number of ranks and own rank, as a launcher (mpirun, srun) has put them into the environment of each process.
struct Launch {
  int ranks = 1, rank = 0;
  bool without_mpi = false;  ///< by srun --mpi=none
};
/// Reads the variables of Open MPI's mpirun, MPICH's mpiexec and srun.
[[nodiscard]] Launch launch_of(const std::function<const char*(const char*)>& variable);
/// The launch of this process.
[[nodiscard]] Launch launch_of_environment();

/// End of a rank; `sentence` is the error message, empty without an error.
struct Ending {
  int code = 0;
  std::string sentence = {};
  bool follows = false;  ///< the end of another rank caused this one, whatever the sentence
};

/// Division of the work among ranks; decided before anything is read, alike on all.
struct RanksPlan {
  bool together = true;
  std::string why_alone = {};  ///< why rank 0 works and the others wait: the end of a sentence
  std::string factors = {};    ///< of those that work together: who factorises; empty: nobody
  /// Text for results of a run of several ranks.
  [[nodiscard]] std::string text() const {
    if (!together) return "rank 0 alone: " + why_alone;
    return factors.empty() ? "together" : "together, factors by " + factors;
  }
};

/// The ranks of one run, of which this process or thread is one. Without a launcher there is one rank, and MPI is not
/// looked for.
class Ranks {
 public:
  Ranks() = default;
  /// Ranks that are threads of this process; they share its processors and memory already.
  explicit Ranks(std::shared_ptr<const RankSession> threads);
  /// Starts MPI, and shares processors and memory of each machine among its processes: those with equal affinity masks
  /// get as many threads each as fit.
  /// @throws Error(no_device) where MPI is not found, or is another one than the launcher's.
  explicit Ranks(const Launch& launch);

  [[nodiscard]] int rank() const noexcept { return world_->rank(); }
  [[nodiscard]] int size() const noexcept { return world_->size(); }
  [[nodiscard]] bool first() const noexcept { return rank() == 0; }
  /// Number of ranks on this machine before this one.
  [[nodiscard]] int rank_on_machine() const noexcept { return rank_on_machine_; }
  [[nodiscard]] const std::shared_ptr<Communicator>& communicator() const noexcept { return world_; }

  /// True if this rank works; one that does not goes to agree() and sleeps there.
  [[nodiscard]] bool works(const RanksPlan& plan) const noexcept { return plan.together || first(); }
  /// Gives rank 0 all processors and memory of its machine.
  void work_alone() const;
  /// Checks that ranks agree; all call it before they work together. @throws Error(no_device) on all where processors
  /// have other vector instructions, or OpenBLAS takes other kernels: small problems, which all solve, would differ in
  /// the last bits. Where ranks are threads, also if OpenBLAS is built for one thread.
  void work_together() const;

  /// The ranks of a run on GPUs, of which this one has number `device`. Sums go from GPU to GPU by NCCL where that is
  /// found and no two ranks share one, else through host memory, and `note` receives the reason. All call it.
  [[nodiscard]] std::shared_ptr<Communicator> on_devices(int device,
                                                         const std::function<void(const std::string&)>& note) const;

  /// Waits for the other ranks and returns the exit status of all: that of the first that failed, which alone reports
  /// its error. If others do not come within two seconds after this rank has failed, it ends all of them.
  /// @param report writes an error message
  [[nodiscard]] int agree(const Ending& mine, const std::function<void(const std::string&)>& report) const;

 private:
  std::shared_ptr<const RankSession> session_;  ///< null: alone
  std::shared_ptr<Communicator> world_ = self_communicator();
  int rank_on_machine_ = 0;
  bool threads_ = false;
};

}  // namespace ts::app
