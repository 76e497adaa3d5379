// Ranks that have a GPU each and talk through NVIDIA's NCCL, in one process or in many. NCCL is loaded when
// it is asked for; nothing of it is needed to build.
#pragma once

#include <array>
#include <string>

#include "tallskinny/gemm/runtime/communicator.hpp"

struct ncclComm;  // NCCL's own declaration: an ncclComm_t points to one

namespace ts::inline v0 {

/// What the ranks of one communicator have in common: made by one of them, brought to the others by whatever
/// started them (MPI_Bcast, a file, a thread's argument).
using NcclId = std::array<char, 128>;

/// @throws Error(no_device) when there is no GPU or no libnccl.so.2, Error(device_failure) with NCCL's words.
[[nodiscard]] NcclId new_nccl_id();

/// Rank `rank` of `ranks`, on device number `device`; returns when all ranks have called it. Sums travel from
/// device to device in the order of the stream of each operation, nothing waits for the host, and a stream
/// may be captured into a graph. Give every rank a GPU of its own.
/// @throws Error(invalid_argument) unless 0 <= rank < ranks; else as new_nccl_id, then and in all_gather.
[[nodiscard]] std::shared_ptr<Communicator> nccl_communicator(const NcclId& id, int rank, int ranks, int device);

/// The ranks of an ncclComm_t of the program's, which outlives this and is not destroyed by it. Its device is the
/// stream's; what is in host memory passes through memory from where the stream takes it.
/// @throws Error(invalid_argument) for null, and for a communicator on another device, naming both; else as
/// new_nccl_id.
[[nodiscard]] std::shared_ptr<Communicator> nccl_communicator(ncclComm* theirs, const cuda::Stream& stream);

/// Empty where there are a GPU and NCCL; otherwise what new_nccl_id says.
[[nodiscard]] std::string why_no_nccl();

/// For ranks that reach each other already and have a GPU each, of their own: what is in host memory goes the way it
/// went, what is on a device goes by NCCL. All of them make it together, none without NCCL. Where they are threads of
/// one process, exchanges on devices too are begun by all together. @throws as new_nccl_id.
[[nodiscard]] std::shared_ptr<Communicator> nccl_beside(const std::shared_ptr<Communicator>& hosts, int device);

}  // namespace ts::inline v0
