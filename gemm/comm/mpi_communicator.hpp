// Ranks that are processes of an MPI program. Open MPI or MPICH is found when a program runs: nothing of them serves
// the build.
#pragma once

#include "tallskinny/gemm/comm/rank_session.hpp"

namespace ts::inline v0 {

/// MPI of this process, from MPI_Init_thread to MPI_Finalize, for a program that does not start it itself.
class MpiSession final : public RankSession {
 public:
  /// @throws Error(no_device) where neither is found; Error(device_failure) with MPI's words.
  MpiSession();
  ~MpiSession() override;

  [[nodiscard]] std::shared_ptr<Communicator> world() const override;
  [[nodiscard]] bool all_are_here(std::chrono::milliseconds patience) const override;
  /// MPI_Abort, which ends all processes.
  void abort(int code) const override;

 private:
  int (*finalize_)() = nullptr;
};

/// A communicator of its own for the processes of an MPI communicator, which is named by its Fortran handle:
/// mpi_communicator(MPI_Comm_c2f(MPI_COMM_WORLD)). All of them make it together, after MPI_Init and before
/// MPI_Finalize. Device memory goes through the host.
/// @throws Error(no_device) where MPI is not found, Error(invalid_argument) when it is not initialised;
/// Error(device_failure) with MPI's words, then and in all_gather, when MPI fails.
[[nodiscard]] std::shared_ptr<Communicator> mpi_communicator(int fortran_handle);

}  // namespace ts::inline v0
