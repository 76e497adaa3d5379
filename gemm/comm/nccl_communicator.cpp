#include "tallskinny/gemm/comm/nccl_communicator.hpp"

#include <exception>
#include <string>
#include <vector>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/driver.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::inline v0 {

namespace {

/// The part of NCCL's C interface, the same since its version 2.7, that is used here (nccl.h, which Debian
/// does not have).
struct Nccl {
  using Comm = ::ncclComm*;
  static constexpr int success = 0, bytes = 0, words = 5, sum = 0;  // ncclSuccess, ncclInt8, ncclUint64, ncclSum

  const char* (*error_text)(int) = nullptr;
  int (*new_id)(NcclId*) = nullptr;
  int (*init_rank)(Comm*, int, NcclId, int) = nullptr;
  int (*destroy)(Comm) = nullptr;
  int (*count)(Comm, int*) = nullptr;
  int (*user_rank)(Comm, int*) = nullptr;
  int (*device)(Comm, int*) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, Comm, CUstream) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Comm, CUstream) = nullptr;
  int (*send)(const void*, std::size_t, int, int, Comm, CUstream) = nullptr;  // these two since 2.7
  int (*receive)(void*, std::size_t, int, int, Comm, CUstream) = nullptr;
  bool found = false;

  Nccl() {
    static const cuda::SharedLibrary library(std::array<const char*, 1>{"libnccl.so.2"}, cuda::toolkit_folders());
    found = library.bind(error_text, "ncclGetErrorString") && library.bind(new_id, "ncclGetUniqueId") &&
            library.bind(init_rank, "ncclCommInitRank") && library.bind(destroy, "ncclCommDestroy") &&
            library.bind(count, "ncclCommCount") && library.bind(user_rank, "ncclCommUserRank") &&
            library.bind(device, "ncclCommCuDevice") && library.bind(group_start, "ncclGroupStart") &&
            library.bind(group_end, "ncclGroupEnd") && library.bind(broadcast, "ncclBroadcast") &&
            library.bind(all_reduce, "ncclAllReduce") && library.bind(send, "ncclSend") &&
            library.bind(receive, "ncclRecv");
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
      : rank_(rank), size_(ranks), device_(device), stream_(device), ours_(true) {
    const cuda::Active active(device);
    check(nccl().init_rank(&comm_, ranks, id, rank), "ncclCommInitRank");
  }
  NcclCommunicator(Nccl::Comm theirs, const cuda::Stream& stream)
      : device_(stream.device().index), stream_(stream.another()), comm_(theirs) {
    int device = 0;
    check(nccl().device(comm_, &device), "ncclCommCuDevice");
    if (device != device_)
      throw Error(Errc::invalid_argument, "nccl_communicator: the communicator is on device " + std::to_string(device) +
                                              ", the stream on device " + std::to_string(device_));
    check(nccl().count(comm_, &size_), "ncclCommCount");
    check(nccl().user_rank(comm_, &rank_), "ncclCommUserRank");
  }
  ~NcclCommunicator() override {
    if (!ours_) return;
    // After an error it is left to the end of the process: to destroy it waits for the ranks of this machine, which may
    // wait for this one.
    if (std::uncaught_exceptions() > 0) return;
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

  using Communicator::add;
  void add(const cuda::Stream& stream, std::span<std::uint64_t> values) override {
    const cuda::Active active(device_);
    check(
        nccl().all_reduce(values.data(), values.data(), values.size(), Nccl::words, Nccl::sum, comm_, stream.handle()),
        "ncclAllReduce");
  }

  using Communicator::begin_exchange;
  /// All pieces in one kernel, which is in the stream already: nothing is left to wait for.
  [[nodiscard]] std::unique_ptr<Exchange> begin_exchange(const cuda::Stream& stream, std::span<const Outgoing> out,
                                                         std::span<const Incoming> in) override {
    const cuda::Active active(device_);
    check(nccl().group_start(), "ncclGroupStart");
    for (const Outgoing& piece : out)
      check(nccl().send(piece.data.data(), piece.data.size(), Nccl::bytes, piece.to, comm_, stream.handle()),
            "ncclSend");
    for (const Incoming& piece : in)
      check(nccl().receive(piece.data.data(), piece.data.size(), Nccl::bytes, piece.from, comm_, stream.handle()),
            "ncclRecv");
    check(nccl().group_end(), "ncclGroupEnd");
    class InStream final : public Exchange {
      void wait() override {}
    };
    return std::make_unique<InStream>();
  }

 private:
  struct Range {
    std::size_t begin, end;
  };
  [[nodiscard]] Range own(std::span<const std::size_t> offsets) const {
    return {offsets[static_cast<std::size_t>(rank_)], offsets[static_cast<std::size_t>(rank_) + 1]};
  }

  int rank_ = 0, size_ = 1, device_;
  cuda::Stream stream_;  ///< of what comes from host memory
  cuda::Memory there_;
  Nccl::Comm comm_ = nullptr;
  bool ours_ = false;
};

/// What is in host memory goes one way, what is on the device another.
class TwoWays final : public Communicator {
 public:
  TwoWays(std::shared_ptr<Communicator> hosts, std::shared_ptr<Communicator> devices)
      : hosts_(std::move(hosts)),
        devices_(std::move(devices)),
        nothing_(static_cast<std::size_t>(hosts_->size()) + 1) {}
  [[nodiscard]] int rank() const noexcept override { return hosts_->rank(); }
  [[nodiscard]] int size() const noexcept override { return hosts_->size(); }
  [[nodiscard]] bool all_gather(std::byte* data, std::span<const std::size_t> offsets) override {
    return hosts_->all_gather(data, offsets);
  }
  [[nodiscard]] bool all_gather(const cuda::Stream& stream, std::byte* data,
                                std::span<const std::size_t> offsets) override {
    meet();
    const bool all = devices_->all_gather(stream, data, offsets);
    meet();
    return all;
  }
  void add(std::span<std::uint64_t> values) override { hosts_->add(values); }
  void add(const cuda::Stream& stream, std::span<std::uint64_t> values) override {
    meet();
    devices_->add(stream, values);
    meet();
  }
  [[nodiscard]] std::unique_ptr<Exchange> begin_exchange(std::span<const Outgoing> out,
                                                         std::span<const Incoming> in) override {
    return hosts_->begin_exchange(out, in);
  }
  [[nodiscard]] std::unique_ptr<Exchange> begin_exchange(const cuda::Stream& stream, std::span<const Outgoing> out,
                                                         std::span<const Incoming> in) override {
    meet();
    auto under_way = devices_->begin_exchange(stream, out, in);
    meet();
    return under_way;
  }
  [[nodiscard]] std::optional<int> open_mpi() const noexcept override { return hosts_->open_mpi(); }

 private:
  /// In one process who frees memory may wait for the kernels of all devices, and those of NCCL wait for each other:
  /// so no rank does while some have started theirs, and others have not.
  void meet() const {
    if (hosts_->in_one_process()) (void)hosts_->all_gather(nullptr, nothing_);
  }

  std::shared_ptr<Communicator> hosts_, devices_;
  std::vector<std::size_t> nothing_;  ///< of every rank
};

/// Ways between GPUs are made when something goes there for the first time, which takes tenths of a second: here those
/// of collective calls, and to the ranks beside this one.
void make_ways(Communicator& devices, int device) {
  const cuda::Stream stream(device);
  const auto ranks = static_cast<std::size_t>(devices.size());
  const cuda::Memory words(stream, 8 * (ranks + 1));
  auto* const bytes = static_cast<std::byte*>(words.data());
  std::vector<std::size_t> offsets;
  for (std::size_t r = 0; r <= ranks; ++r) offsets.push_back(8 * r);
  (void)devices.all_gather(stream, bytes, offsets);
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (const int other : {devices.rank() - 1, devices.rank() + 1}) {
    if (other < 0 || other >= devices.size()) continue;
    out.push_back({other, std::span(bytes, 8)});
    in.push_back({other, std::span(bytes + 8 * (in.size() + 1), 8)});
  }
  devices.begin_exchange(stream, out, in)->wait();
  stream.synchronize();
}

}  // namespace

std::shared_ptr<Communicator> nccl_beside(const std::shared_ptr<Communicator>& hosts, int device) {
  const auto ranks = static_cast<std::size_t>(hosts->size());
  std::vector<std::size_t> offsets(ranks + 1, sizeof(NcclId));
  offsets[0] = 0;
  NcclId id = hosts->rank() == 0 ? new_nccl_id() : NcclId{};
  expects(hosts->all_gather(reinterpret_cast<std::byte*>(id.data()), offsets),
          "slabs one after the other have no GPUs of their own");
  auto both = std::make_shared<TwoWays>(hosts, nccl_communicator(id, hosts->rank(), hosts->size(), device));
  make_ways(*both, device);
  return both;
}

std::string why_no_nccl() {
  try {
    (void)nccl();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

NcclId new_nccl_id() {
  NcclId id{};
  check(nccl().new_id(&id), "ncclGetUniqueId");
  return id;
}

std::shared_ptr<Communicator> nccl_communicator(const NcclId& id, int rank, int ranks, int device) {
  expects(0 <= rank && rank < ranks, "nccl_communicator: rank must be one of 0 to ranks - 1");
  return std::make_shared<NcclCommunicator>(id, rank, ranks, device);
}

std::shared_ptr<Communicator> nccl_communicator(ncclComm* theirs, const cuda::Stream& stream) {
  expects(theirs != nullptr, "nccl_communicator: the ncclComm_t is null");
  return std::make_shared<NcclCommunicator>(theirs, stream);
}

}  // namespace ts::inline v0
