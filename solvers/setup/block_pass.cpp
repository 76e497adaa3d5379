#include "tallskinny/solvers/setup/block_pass.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace ts::inline v0::solvers {

namespace {

/// Reads ahead on a thread, into as many buffers as there are.
class Reader {
 public:
  Reader(index_t blocks, index_t buffers, const std::function<void(index_t)>& read)
      : thread_([this, blocks, buffers, &read] {
          for (index_t b = 0; b < blocks; ++b) {
            {
              std::unique_lock lock(mutex_);
              changed_.wait(lock, [&] { return stop_ || b < free_ + buffers; });
              if (stop_) return;
            }
            try {
              read(b);
            } catch (...) {
              const std::lock_guard lock(mutex_);
              failure_ = std::current_exception();
              changed_.notify_all();
              return;
            }
            const std::lock_guard lock(mutex_);
            read_ = b + 1;
            changed_.notify_all();
          }
        }) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// Returns when the block has been read.
  void wait_for(index_t block) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return read_ > block || failure_ != nullptr; });
    if (read_ <= block) std::rethrow_exception(failure_);
  }
  /// The buffers of all blocks before this one may be filled again.
  void free_before(index_t block) {
    const std::lock_guard lock(mutex_);
    free_ = block;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  index_t read_ = 0, free_ = 0;
  bool stop_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // the last member: it begins when the others are there
};

}  // namespace

void pass_over_blocks(index_t blocks, index_t buffers, const BlockSteps& steps) {
  Reader reader(blocks, buffers, steps.read);
  if (!steps.send) {
    for (index_t b = 0; b < blocks; ++b) {
      reader.wait_for(b);
      steps.use(b);
      reader.free_before(b + 1);
    }
    return;
  }
  for (index_t b = -1; b < blocks; ++b) {
    if (b >= 0) {
      steps.arrive(b);
      reader.free_before(b + 1);
    }
    if (b + 1 < blocks) {
      reader.wait_for(b + 1);
      steps.send(b + 1);
    }
    if (b >= 0) steps.use(b);
  }
}

}  // namespace ts::inline v0::solvers
