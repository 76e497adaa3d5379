#include "tallskinny/gemm/comm/nccl_communicator.hpp"

#include <string>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/driver.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts {

namespace {

/// The part of NCCL's C interface, the same since its version 2.2, that is used here (nccl.h, which Debian
/// does not have).
struct Nccl {
  using Comm = struct ncclComm*;
  static constexpr int success = 0, bytes = 0;  // ncclSuccess, ncclInt8

  const char* (*error_text)(int) = nullptr;
  int (*new_id)(NcclId*) = nullptr;
  int (*init_rank)(Comm*, int, NcclId, int) = nullptr;
  int (*destroy)(Comm) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, Comm, CUstream) = nullptr;
  bool found = false;

  Nccl() {
    static const cuda::SharedLibrary library(std::array<const char*, 1>{"libnccl.so.2"}, cuda::toolkit_folders());
    found = library.bind(error_text, "ncclGetErrorString") && library.bind(new_id, "ncclGetUniqueId") &&
            library.bind(init_rank, "ncclCommInitRank") && library.bind(destroy, "ncclCommDestroy") &&
            library.bind(group_start, "ncclGroupStart") && library.bind(group_end, "ncclGroupEnd") &&
            library.bind(broadcast, "ncclBroadcast");
  }
};

const Nccl& nccl() {
  (void)cuda::driver();  // the reason why there is no GPU comes first
  static const Nccl functions;
  if (!functions.found)
    throw Error(Errc::no_device,
                "several GPUs cannot talk to each other: NVIDIA's NCCL (libnccl.so.2) was not found; install "
                "it or put "
                "its folder into LD_LIBRARY_PATH");
  return functions;
}

void check(int status, const char* call) {
  if (status == Nccl::success) return;
  throw Error(Errc::device_failure, std::string(call) + ": " + nccl().error_text(status));
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const NcclId& id, int rank, int ranks, int device)
      : rank_(rank), size_(ranks), device_(device), stream_(device) {
    const cuda::Active active(device);
    check(nccl().init_rank(&comm_, ranks, id, rank), "ncclCommInitRank");
  }
  ~NcclCommunicator() override {
    try {
      const cuda::Active active(device_);
      nccl().destroy(comm_);
    } catch (const Error&) {  // the driver is gone, and the communicator with it
    }
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  /// Host memory goes through the device.
  [[nodiscard]] bool all_gather(std::byte* data, std::span<const std::size_t> offsets) override {
    if (there_.bytes() < offsets.back()) there_ = cuda::Memory(stream_, offsets.back());
    auto* const there = static_cast<std::byte*>(there_.data());
    const auto [begin, end] = own(offsets);
    cuda::copy_bytes(stream_, there + begin, data + begin, end - begin);
    (void)all_gather(stream_, there, offsets);
    cuda::copy_bytes(stream_, data, there, offsets.back());
    stream_.synchronize();
    return true;
  }

  /// Ranks contribute different lengths, for which NCCL has no collective call of its own: every rank
  /// broadcasts what it has, all in one group, which is one kernel.
  [[nodiscard]] bool all_gather(const cuda::Stream& stream, std::byte* data,
                                std::span<const std::size_t> offsets) override {
    const cuda::Active active(device_);
    check(nccl().group_start(), "ncclGroupStart");
    for (int r = 0; r < size_; ++r) {
      const std::size_t begin = offsets[static_cast<std::size_t>(r)], end = offsets[static_cast<std::size_t>(r) + 1];
      if (begin == end) continue;
      check(nccl().broadcast(data + begin, data + begin, end - begin, Nccl::bytes, r, comm_, stream.handle()),
            "ncclBroadcast");
    }
    check(nccl().group_end(), "ncclGroupEnd");
    return true;
  }

 private:
  struct Range {
    std::size_t begin, end;
  };
  [[nodiscard]] Range own(std::span<const std::size_t> offsets) const {
    return {offsets[static_cast<std::size_t>(rank_)], offsets[static_cast<std::size_t>(rank_) + 1]};
  }

  int rank_, size_, device_;
  cuda::Stream stream_;  ///< of what comes from host memory
  cuda::Memory there_;
  Nccl::Comm comm_ = nullptr;
};

}  // namespace

NcclId new_nccl_id() {
  NcclId id{};
  check(nccl().new_id(&id), "ncclGetUniqueId");
  return id;
}

std::shared_ptr<Communicator> nccl_communicator(const NcclId& id, int rank, int ranks, int device) {
  expects(0 <= rank && rank < ranks, "nccl_communicator: rank must be one of 0 to ranks - 1");
  return std::make_shared<NcclCommunicator>(id, rank, ranks, device);
}

}  // namespace ts
