#include "tallskinny/gemm/comm/mpi_communicator.hpp"

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"

namespace ts {

namespace {

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(Errc::device_failure, std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm theirs) {
    check(MPI_Comm_dup(theirs, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  ~MpiCommunicator() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&comm_);
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  using Communicator::all_gather;
  [[nodiscard]] bool all_gather(std::byte* data, std::span<const std::size_t> offsets) override {
    if (offsets.back() > INT_MAX) {
      broadcast_all(data, offsets);
      return true;
    }
    counts_.clear(), begins_.clear();
    for (std::size_t r = 0; r + 1 < offsets.size(); ++r) {
      counts_.push_back(static_cast<int>(offsets[r + 1] - offsets[r]));
      begins_.push_back(static_cast<int>(offsets[r]));
    }
    check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts_.data(), begins_.data(), MPI_BYTE, comm_),
          "MPI_Allgatherv");
    return true;
  }

 private:
  /// What 32-bit counts cannot number goes in pieces.
  void broadcast_all(std::byte* data, std::span<const std::size_t> offsets) {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (int r = 0; r < size_; ++r)
      for (std::size_t at = offsets[static_cast<std::size_t>(r)], end = offsets[static_cast<std::size_t>(r) + 1];
           at < end; at += most)
        check(MPI_Bcast(data + at, static_cast<int>(std::min(most, end - at)), MPI_BYTE, r, comm_), "MPI_Bcast");
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<int> counts_, begins_;
};

}  // namespace

std::shared_ptr<Communicator> mpi_communicator(int fortran_handle) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  expects(initialized != 0, "mpi_communicator: MPI_Init has not been called");
  return std::make_shared<MpiCommunicator>(MPI_Comm_f2c(static_cast<MPI_Fint>(fortran_handle)));
}

}  // namespace ts
