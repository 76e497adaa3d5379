#include "tallskinny/gemm/comm/mpi_communicator.hpp"

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "tallskinny/gemm/comm/mpi_library.hpp"

namespace ts::inline v0 {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;  ///< of a message: counts of MPI have 32 bits

template <class Handle>
class MpiExchange final : public Exchange {
 public:
  MpiExchange(const mpi::Interface<Handle>& library, Handle comm, std::span<const Outgoing> out,
              std::span<const Incoming> in)
      : mpi_(library) {
    for (const Incoming& piece : in)
      for (std::size_t at = 0; at < piece.data.size(); at += most_bytes)
        mpi_.check(mpi_.receive(piece.data.data() + at, length(piece.data.size() - at), mpi_.byte, piece.from, 0, comm,
                                &requests_.emplace_back()),
                   "MPI_Irecv");
    receiving_ = requests_.size();
    for (const Outgoing& piece : out)
      for (std::size_t at = 0; at < piece.data.size(); at += most_bytes)
        mpi_.check(mpi_.send(piece.data.data() + at, length(piece.data.size() - at), mpi_.byte, piece.to, 0, comm,
                             &requests_.emplace_back()),
                   "MPI_Isend");
  }
  /// Unwinding: nothing is to arrive in memory that goes.
  ~MpiExchange() override {
    for (std::size_t r = 0; r < std::min(receiving_, requests_.size()); ++r) mpi_.cancel(&requests_[r]);
  }
  void wait() override {
    mpi_.check(mpi_.wait_all(static_cast<int>(requests_.size()), requests_.data(), mpi_.no_status), "MPI_Waitall");
    requests_.clear();
  }
  /// Looks now and then: a wait of MPI takes a whole processor.
  void wait_asleep() override {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    for (int done = 0; done == 0;) {
      mpi_.check(mpi_.test_all(static_cast<int>(requests_.size()), requests_.data(), &done, mpi_.no_status),
                 "MPI_Testall");
      const auto a_tenth = (steady_clock::now() - begin) / 10;
      if (done == 0) std::this_thread::sleep_for(std::clamp<nanoseconds>(a_tenth, microseconds{50}, milliseconds{20}));
    }
    requests_.clear();
  }

 private:
  static int length(std::size_t left) { return static_cast<int>(std::min(most_bytes, left)); }

  const mpi::Interface<Handle>& mpi_;
  std::vector<Handle> requests_;
  std::size_t receiving_ = 0;
};

template <class Handle>
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(const mpi::Interface<Handle>& library, Handle theirs) : mpi_(library) {
    mpi_.check(mpi_.dup(theirs, &comm_), "MPI_Comm_dup");
    mpi_.check(mpi_.set_handler(comm_, mpi_.errors_return), "MPI_Comm_set_errhandler");
    mpi_.check(mpi_.rank(comm_, &rank_), "MPI_Comm_rank");
    mpi_.check(mpi_.size(comm_, &size_), "MPI_Comm_size");
  }
  ~MpiCommunicator() override {
    int finalized = 0;
    mpi_.finalized(&finalized);
    if (finalized == 0) mpi_.free(&comm_);
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  using Communicator::all_gather;
  [[nodiscard]] bool all_gather(std::byte* data, std::span<const std::size_t> offsets) override {
    if (offsets.back() > std::numeric_limits<int>::max()) {
      broadcast_all(data, offsets);
      return true;
    }
    counts_.clear(), begins_.clear();
    for (std::size_t r = 0; r + 1 < offsets.size(); ++r) {
      counts_.push_back(static_cast<int>(offsets[r + 1] - offsets[r]));
      begins_.push_back(static_cast<int>(offsets[r]));
    }
    mpi_.check(mpi_.all_gather(mpi_.in_place, 0, mpi_.no_type, data, counts_.data(), begins_.data(), mpi_.byte, comm_),
               "MPI_Allgatherv");
    return true;
  }

  using Communicator::add;
  void add(std::span<std::uint64_t> values) override {
    for (std::size_t at = 0; at < values.size(); at += most_bytes)
      mpi_.check(
          mpi_.all_reduce(mpi_.in_place, values.data() + at, static_cast<int>(std::min(most_bytes, values.size() - at)),
                          mpi_.uint64, mpi_.sum, comm_),
          "MPI_Allreduce");
  }

  using Communicator::begin_exchange;
  [[nodiscard]] std::unique_ptr<Exchange> begin_exchange(std::span<const Outgoing> out,
                                                         std::span<const Incoming> in) override {
    return std::make_unique<MpiExchange<Handle>>(mpi_, comm_, out, in);
  }

  [[nodiscard]] std::optional<int> open_mpi() const noexcept override {
    if (mpi_.to_fortran == nullptr) return std::nullopt;
    return mpi_.to_fortran(comm_);
  }

 private:
  /// What 32-bit counts cannot number goes in pieces.
  void broadcast_all(std::byte* data, std::span<const std::size_t> offsets) {
    for (int r = 0; r < size_; ++r)
      for (std::size_t at = offsets[static_cast<std::size_t>(r)], end = offsets[static_cast<std::size_t>(r) + 1];
           at < end; at += most_bytes)
        mpi_.check(mpi_.broadcast(data + at, static_cast<int>(std::min(most_bytes, end - at)), mpi_.byte, r, comm_),
                   "MPI_Bcast");
  }

  const mpi::Interface<Handle>& mpi_;
  Handle comm_{};
  int rank_ = 0, size_ = 1;
  std::vector<int> counts_, begins_;
};

template <class Handle>
std::shared_ptr<Communicator> communicator_of(const mpi::Interface<Handle>& library, Handle theirs) {
  return std::make_shared<MpiCommunicator<Handle>>(library, theirs);
}

}  // namespace

MpiSession::MpiSession() {
  mpi::with_library([this](const auto& library) {
    finalize_ = library.finalize;
    constexpr int one_thread_at_a_time = 2;  // MPI_THREAD_SERIALIZED
    int provided = 0;
    library.check(library.init(nullptr, nullptr, one_thread_at_a_time, &provided), "MPI_Init_thread");
  });
}

MpiSession::~MpiSession() { finalize_(); }

std::shared_ptr<Communicator> MpiSession::world() const {
  std::shared_ptr<Communicator> all;
  mpi::with_library([&all](const auto& library) { all = communicator_of(library, library.world); });
  return all;
}

bool MpiSession::all_are_here(std::chrono::milliseconds patience) const {
  bool all = false;
  mpi::with_library([&](const auto& library) {
    using namespace std::chrono;
    auto request = library.no_type;  // of the same kind
    library.check(library.barrier(library.world, &request), "MPI_Ibarrier");
    int here = 0;
    const auto begin = steady_clock::now();
    for (milliseconds nap{1};; nap = std::min(2 * nap, milliseconds{32})) {
      library.check(library.test(&request, &here, library.no_status), "MPI_Test");
      if (here != 0 || steady_clock::now() - begin > patience) break;
      std::this_thread::sleep_for(nap);
    }
    all = here != 0;
  });
  return all;
}

void MpiSession::abort(int code) const {
  mpi::with_library([code](const auto& library) { library.abort(library.world, code); });
}

std::shared_ptr<Communicator> mpi_communicator(int fortran_handle) {
  std::shared_ptr<Communicator> theirs;
  mpi::with_library([&](const auto& library) {
    int initialized = 0;
    library.initialized(&initialized);
    expects(initialized != 0, "mpi_communicator: MPI_Init has not been called");
    theirs = communicator_of(library, library.of_fortran(fortran_handle));
  });
  return theirs;
}

}  // namespace ts::inline v0
