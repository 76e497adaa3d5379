// The part of MPI's C interface that is used here, of Open MPI and of MPICH, whose binary interfaces differ. For the
// .cpp files of this folder alone.
#pragma once

#include <array>
#include <string>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::inline v0::mpi {

/// Handles are addresses in Open MPI, numbers in MPICH. What else differs are the values of constants.
template <class Handle>
struct Interface {
  int (*init)(int*, char***, int, int*) = nullptr;
  int (*initialized)(int*) = nullptr;
  int (*finalize)() = nullptr;
  int (*finalized)(int*) = nullptr;
  int (*error_text)(int, char*, int*) = nullptr;
  int (*dup)(Handle, Handle*) = nullptr;
  int (*free)(Handle*) = nullptr;
  int (*set_handler)(Handle, Handle) = nullptr;
  int (*rank)(Handle, int*) = nullptr;
  int (*size)(Handle, int*) = nullptr;
  int (*all_gather)(const void*, int, Handle, void*, const int*, const int*, Handle, Handle) = nullptr;
  int (*broadcast)(void*, int, Handle, int, Handle) = nullptr;
  int (*all_reduce)(const void*, void*, int, Handle, Handle, Handle) = nullptr;
  int (*send)(const void*, int, Handle, int, int, Handle, Handle*) = nullptr;  ///< MPI_Isend
  int (*receive)(void*, int, Handle, int, int, Handle, Handle*) = nullptr;     ///< MPI_Irecv
  int (*wait_all)(int, Handle*, void*) = nullptr;
  int (*test_all)(int, Handle*, int*, void*) = nullptr;
  int (*cancel)(Handle*) = nullptr;
  int (*barrier)(Handle, Handle*) = nullptr;  ///< MPI_Ibarrier
  int (*test)(Handle*, int*, void*) = nullptr;
  int (*abort)(Handle, int) = nullptr;
  Handle (*of_fortran)(int) = nullptr;  ///< a macro in MPICH: its handles are Fortran's
  int (*to_fortran)(Handle) = nullptr;  ///< of Open MPI
  Handle world{}, byte{}, no_type{}, uint64{}, sum{}, errors_return{};
  void *in_place = nullptr, *no_status = nullptr;

  [[nodiscard]] bool bind(const cuda::SharedLibrary& library) {
    return library.bind(init, "MPI_Init_thread") && library.bind(initialized, "MPI_Initialized") &&
           library.bind(finalize, "MPI_Finalize") && library.bind(finalized, "MPI_Finalized") &&
           library.bind(error_text, "MPI_Error_string") && library.bind(dup, "MPI_Comm_dup") &&
           library.bind(free, "MPI_Comm_free") && library.bind(set_handler, "MPI_Comm_set_errhandler") &&
           library.bind(rank, "MPI_Comm_rank") && library.bind(size, "MPI_Comm_size") &&
           library.bind(all_gather, "MPI_Allgatherv") && library.bind(broadcast, "MPI_Bcast") &&
           library.bind(all_reduce, "MPI_Allreduce") && library.bind(send, "MPI_Isend") &&
           library.bind(receive, "MPI_Irecv") && library.bind(wait_all, "MPI_Waitall") &&
           library.bind(test_all, "MPI_Testall") && library.bind(cancel, "MPI_Cancel") &&
           library.bind(barrier, "MPI_Ibarrier") && library.bind(test, "MPI_Test") && library.bind(abort, "MPI_Abort");
  }
  void check(int status, const char* call) const {
    if (status == 0) return;
    std::array<char, 2048> text{};  // longer than MPI_MAX_ERROR_STRING of either
    int length = 0;
    error_text(status, text.data(), &length);
    throw Error(Errc::device_failure,
                std::string(call) + ": " + std::string(text.data(), static_cast<std::size_t>(length)));
  }
};

using OpenMpi = Interface<void*>;
using Mpich = Interface<int>;

/// The one of this process, which the program itself is linked with, else that whose mpirun started it, else the first
/// one that is there; the other is null.
[[nodiscard]] const OpenMpi* open_mpi();
[[nodiscard]] const Mpich* mpich();

/// use(library). @throws Error(no_device) where there is none.
void with_library(const auto& use) {
  if (const OpenMpi* const open = open_mpi(); open != nullptr) return use(*open);
  if (const Mpich* const other = mpich(); other != nullptr) return use(*other);
  throw Error(
      Errc::no_device,
      "MPI was not found, neither Open MPI (libmpi.so.40) nor MPICH (libmpich.so.12, libmpi.so.12): install one "
      "or put its folder into LD_LIBRARY_PATH");
}

}  // namespace ts::inline v0::mpi
