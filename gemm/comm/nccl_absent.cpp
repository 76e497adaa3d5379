// Takes the place of nccl_communicator.cpp in a build without the CUDA backend.
#include "tallskinny/gemm/comm/nccl_communicator.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"

namespace ts::inline v0 {

namespace {

[[noreturn]] void refuse() { throw Error(Errc::no_device, "no GPU can be used: " + cuda::why_no_compiler()); }

}  // namespace

NcclId new_nccl_id() { refuse(); }
std::string why_no_nccl() { return "no GPU can be used: " + cuda::why_no_compiler(); }
std::shared_ptr<Communicator> nccl_communicator(const NcclId&, int rank, int ranks, int) {
  expects(0 <= rank && rank < ranks, "nccl_communicator: rank must be one of 0 to ranks - 1");
  refuse();
}

std::shared_ptr<Communicator> nccl_communicator(ncclComm*, const cuda::Stream&) { refuse(); }

std::shared_ptr<Communicator> nccl_beside(const std::shared_ptr<Communicator>&, int) { refuse(); }

}  // namespace ts::inline v0
