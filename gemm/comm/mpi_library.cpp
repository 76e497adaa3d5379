#include "tallskinny/gemm/comm/mpi_library.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace ts::inline v0::mpi {

namespace {

/// One of them is complete, or neither.
struct Found {
  OpenMpi open;
  Mpich other;
  bool is_open = false, is_other = false;

  void take(const cuda::SharedLibrary& library) {
    void* const world = library.symbol("ompi_mpi_comm_world");
    if (world == nullptr) {
      is_other = other.bind(library);
      // mpi.h of MPICH 3 and 4, whose binary interface Intel MPI and others share.
      other.world = 0x44000000, other.byte = 0x4c00010d, other.no_type = 0x0c000000, other.errors_return = 0x54000001;
      other.uint64 = 0x4c00083e, other.sum = 0x58000003;
      other.in_place = reinterpret_cast<void*>(-1);  // NOLINT(performance-no-int-to-ptr): MPI_IN_PLACE
      other.no_status = reinterpret_cast<void*>(1);  // NOLINT(performance-no-int-to-ptr): MPI_STATUSES_IGNORE
      other.of_fortran = [](int handle) { return handle; };
      return;
    }
    open.world = world, open.byte = library.symbol("ompi_mpi_byte");
    open.no_type = library.symbol("ompi_mpi_datatype_null");
    open.errors_return = library.symbol("ompi_mpi_errors_return");
    open.uint64 = library.symbol("ompi_mpi_uint64_t"), open.sum = library.symbol("ompi_mpi_op_sum");
    open.in_place = reinterpret_cast<void*>(1);
    is_open = open.bind(library) && library.bind(open.of_fortran, "MPI_Comm_f2c") &&
              library.bind(open.to_fortran, "MPI_Comm_c2f") && open.byte != nullptr && open.no_type != nullptr &&
              open.errors_return != nullptr && open.uint64 != nullptr && open.sum != nullptr;
  }

  Found() {
    constexpr std::array<const char*, 1> program = {nullptr};
    if (const cuda::SharedLibrary own(program); own.symbol("MPI_Allgatherv") != nullptr) {
      take(own);
      return;
    }
    std::vector<const char*> names = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"};
    if (std::getenv("PMI_SIZE") != nullptr && std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr)  // MPICH's mpirun
      std::rotate(names.begin(), names.begin() + 1, names.end());
    if (const cuda::SharedLibrary library(names); library.loaded()) take(library);
  }
};

const Found& found() {
  static const Found one;
  return one;
}

}  // namespace

const OpenMpi* open_mpi() { return found().is_open ? &found().open : nullptr; }
const Mpich* mpich() { return found().is_other ? &found().other : nullptr; }

}  // namespace ts::inline v0::mpi
