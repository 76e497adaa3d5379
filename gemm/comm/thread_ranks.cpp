#include "tallskinny/gemm/comm/thread_ranks.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"

namespace ts {

namespace {

/// Where threads meet.
class Meeting {
 public:
  explicit Meeting(int ranks) : contributions_(static_cast<std::size_t>(ranks)) {}

  struct Contribution {
    const std::byte* data = nullptr;
    std::size_t size = 0;
  };

  /// Returns when all have called it. @throws Error once one has failed.
  void meet() {
    std::unique_lock lock(mutex_);
    expects(!failed_, "a rank ended with an error while others waited for it");
    const std::uint64_t turn = turn_;
    if (++here_ == contributions_.size()) {
      here_ = 0, ++turn_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return failed_ || turn_ != turn; });
    expects(turn_ != turn, "a rank ended with an error while others waited for it");
  }
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!failed_) failed_ = std::move(error);
    changed_.notify_all();
  }
  [[nodiscard]] const std::exception_ptr& failed() const { return failed_; }
  [[nodiscard]] std::vector<Contribution>& contributions() { return contributions_; }

  void send(int from, const Outgoing& piece) {
    const std::lock_guard lock(mutex_);
    under_way_[{from, piece.to}].emplace_back(piece.data.begin(), piece.data.end());
    changed_.notify_all();
  }
  /// Returns when it is there. @throws Error once one has failed.
  void receive(int to, const Incoming& piece) {
    std::unique_lock lock(mutex_);
    auto& queue = under_way_[{piece.from, to}];
    changed_.wait(lock, [&] { return failed_ || !queue.empty(); });
    expects(!queue.empty(), "a rank ended with an error while others waited for it");
    expects(queue.front().size() == piece.data.size(), "what a rank sends is not as long as what another expects");
    std::copy(queue.front().begin(), queue.front().end(), piece.data.begin());
    queue.pop_front();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t here_ = 0;
  std::uint64_t turn_ = 0;
  std::exception_ptr failed_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> under_way_;
  std::vector<Contribution> contributions_;  ///< each thread writes its own before a meeting, all read after it
};

class ThreadExchange final : public Exchange {
 public:
  ThreadExchange(Meeting& meeting, int rank, std::span<const Incoming> in)
      : meeting_(meeting), rank_(rank), in_(in.begin(), in.end()) {}
  void wait() override {
    for (const Incoming& piece : in_) meeting_.receive(rank_, piece);
  }

 private:
  Meeting& meeting_;
  int rank_;
  std::vector<Incoming> in_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(meeting_.contributions().size()); }

  using Communicator::all_gather;
  [[nodiscard]] bool all_gather(std::byte* data, std::span<const std::size_t> offsets) override {
    auto& all = meeting_.contributions();
    all[static_cast<std::size_t>(rank_)] = {data, offsets.back()};
    meeting_.meet();
    const bool fits = std::all_of(all.begin(), all.end(), [&](const auto& one) { return one.size == offsets.back(); });
    for (std::size_t r = 0; fits && r < all.size(); ++r)
      if (r != static_cast<std::size_t>(rank_))
        std::copy(all[r].data + offsets[r], all[r].data + offsets[r + 1], data + offsets[r]);
    meeting_.meet();  // nobody changes what others still read
    expects(fits, "ranks must make the same calls in the same order");
    return true;
  }
  using Communicator::begin_exchange;
  [[nodiscard]] std::unique_ptr<Exchange> begin_exchange(std::span<const Outgoing> out,
                                                         std::span<const Incoming> in) override {
    for (const Outgoing& piece : out) meeting_.send(rank_, piece);
    return std::make_unique<ThreadExchange>(meeting_, rank_, in);
  }

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace

void run_on_threads(int ranks, const std::function<void(const std::shared_ptr<Communicator>&)>& body) {
  expects(ranks >= 1, "there must be at least one rank");
  Meeting meeting(ranks);
  std::vector<std::thread> threads;
  const auto run = [&](int rank) {
    try {
      body(std::make_shared<ThreadCommunicator>(meeting, rank));
    } catch (...) {
      meeting.fail(std::current_exception());
    }
  };
  for (int rank = 1; rank < ranks; ++rank) threads.emplace_back(run, rank);
  run(0);
  for (std::thread& thread : threads) thread.join();
  if (meeting.failed()) std::rethrow_exception(meeting.failed());
}

}  // namespace ts
