// Ranks that are processes of an MPI program. Open MPI or MPICH is found when a program runs: nothing of them serves
// the build.
#pragma once

#include <chrono>

#include "tallskinny/gemm/runtime/communicator.hpp"

namespace ts {

/// MPI of this process, from MPI_Init_thread to MPI_Finalize, for a program that does not start it itself. All
/// communicators must be gone before it goes.
class MpiSession {
 public:
  /// @throws Error(no_device) where neither is found; Error(device_failure) with MPI's words.
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// A communicator of its own for all processes of the program, which make it together.
  [[nodiscard]] std::shared_ptr<Communicator> world() const;

  /// Comes to where all processes meet at their end, and sleeps until all are there or the patience ends: then one
  /// may be in a call that it never leaves, because another has failed. Once for each process.
  [[nodiscard]] bool all_are_here(std::chrono::milliseconds patience) const;
  /// MPI_Abort, which ends all processes.
  void abort(int code) const;

 private:
  int (*finalize_)() = nullptr;
};

/// A communicator of its own for the processes of an MPI communicator, which is named by its Fortran handle:
/// mpi_communicator(MPI_Comm_c2f(MPI_COMM_WORLD)). All of them make it together, after MPI_Init and before
/// MPI_Finalize. Device memory goes through the host.
/// @throws Error(no_device) where MPI is not found, Error(invalid_argument) when it is not initialised;
/// Error(device_failure) with MPI's words, then and in all_gather, when MPI fails.
[[nodiscard]] std::shared_ptr<Communicator> mpi_communicator(int fortran_handle);

}  // namespace ts
