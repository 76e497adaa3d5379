// Ranks that are processes of an MPI program. Part of the library tallskinny::mpi, which is built with
// TS_MPI=ON.
#pragma once

#include "tallskinny/gemm/runtime/communicator.hpp"

namespace ts {

/// A communicator of its own for the processes of an MPI communicator, which is named by its Fortran handle:
/// mpi_communicator(MPI_Comm_c2f(MPI_COMM_WORLD)). All of them make it together, after MPI_Init and before
/// MPI_Finalize. Device memory goes through the host.
/// @throws Error(invalid_argument) when MPI is not initialised; Error(device_failure) with MPI's words, then
/// and in all_gather, when MPI fails.
[[nodiscard]] std::shared_ptr<Communicator> mpi_communicator(int fortran_handle);

}  // namespace ts
