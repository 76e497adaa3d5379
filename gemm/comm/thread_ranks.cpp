#include "tallskinny/gemm/comm/thread_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/host_memory.hpp"

namespace ts::inline v0 {

namespace {

using Clock = std::chrono::steady_clock;
/// How long a thread looks for others before it sleeps: about what sleep and waking up cost.
constexpr Clock::duration spin_time = std::chrono::microseconds(50);

/// Where threads meet.
class Meeting {
 public:
  explicit Meeting(int ranks)
      : states_(static_cast<std::size_t>(ranks), at_work), contributions_(static_cast<std::size_t>(ranks)) {}

  struct Contribution {
    const std::byte* data = nullptr;
    std::size_t size = 0;
  };

  /// Returns when all have called it. @throws RankEnded once one has ended that has not.
  void meet() {
    std::unique_lock lock(mutex_);
    const std::uint64_t turn = turn_;
    if (++here_ == contributions_.size()) {
      here_ = 0, ++turn_;
      changed_.notify_all();
      return;
    }
    const auto over = [&] { return !all_at_work_ || turn_ != turn; };
    lock.unlock();
    for (const auto until = Clock::now() + spin_time; !over() && Clock::now() < until;) std::this_thread::yield();
    lock.lock();
    changed_.wait(lock, over);
    if (turn_ != turn) return;
    --here_;
    throw RankEnded();
  }
  [[nodiscard]] std::vector<Contribution>& contributions() { return contributions_; }

  void send(int from, const Outgoing& piece) {
    const std::lock_guard lock(mutex_);
    under_way_[{from, piece.to}].emplace_back(piece.data.begin(), piece.data.end());
    changed_.notify_all();
  }
  /// Returns when it is there. @throws RankEnded where the one it is to come from has ended.
  void receive(int to, const Incoming& piece) {
    std::unique_lock lock(mutex_);
    auto& queue = under_way_[{piece.from, to}];
    changed_.wait(lock, [&] { return states_[static_cast<std::size_t>(piece.from)] != at_work || !queue.empty(); });
    if (queue.empty()) throw RankEnded();
    expects(queue.front().size() == piece.data.size(), "what a rank sends is not as long as what another expects");
    std::copy(queue.front().begin(), queue.front().end(), piece.data.begin());
    queue.pop_front();
  }

  enum State : char { at_work, at_end, gone };
  /// Nothing is to be waited for from this rank. Those at their end sleep until nobody is at work, or for so long; then
  /// they may begin anew. @return whether nobody was
  bool end(int rank, State state, std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    const std::uint64_t life = life_;
    const auto count = [&](State which) {
      return static_cast<std::size_t>(std::count(states_.begin(), states_.end(), which));
    };
    states_[static_cast<std::size_t>(rank)] = state;
    if (count(at_work) == 0) {
      std::replace(states_.begin(), states_.end(), at_end, at_work);
      under_way_.clear();
      ++life_;
    }
    all_at_work_ = count(at_work) == states_.size();
    changed_.notify_all();
    return changed_.wait_for(lock, longest, [&] { return life_ != life; });
  }
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!failed_) failed_ = std::move(error);
  }
  [[nodiscard]] const std::exception_ptr& failed() const { return failed_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t here_ = 0;
  std::atomic<bool> all_at_work_ = true;  ///< changed under the mutex, as all
  std::atomic<std::uint64_t> turn_ = 0;
  std::uint64_t life_ = 0;
  std::vector<State> states_;
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
  [[nodiscard]] bool in_one_process() const noexcept override { return true; }

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

class ThreadSession final : public RankSession {
 public:
  ThreadSession(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  [[nodiscard]] std::shared_ptr<Communicator> world() const override {
    return std::make_shared<ThreadCommunicator>(meeting_, rank_);
  }
  [[nodiscard]] bool all_are_here(std::chrono::milliseconds patience) const override {
    return meeting_.end(rank_, Meeting::at_end, patience);
  }
  void abort(int) const override {}  // all are of this process

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace

void run_sessions_on_threads(int ranks, const std::function<void(const std::shared_ptr<RankSession>&)>& body) {
  expects(ranks >= 1, "there must be at least one rank");
  Meeting meeting(ranks);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  const auto run = [&, memory = host_memory()](int rank) {
    const UseHostMemory use(memory);
    try {
      body(std::make_shared<ThreadSession>(meeting, rank));
    } catch (...) {
      meeting.fail(std::current_exception());
    }
    (void)meeting.end(rank, Meeting::gone, std::chrono::milliseconds(0));
  };
  for (int rank = 1; rank < ranks; ++rank) threads.emplace_back(run, rank);
  run(0);
  for (std::thread& thread : threads) thread.join();
  if (meeting.failed()) std::rethrow_exception(meeting.failed());
}

void run_on_threads(int ranks, const std::function<void(const std::shared_ptr<Communicator>&)>& body) {
  run_sessions_on_threads(ranks, [&body](const std::shared_ptr<RankSession>& session) { body(session->world()); });
}

}  // namespace ts::inline v0
