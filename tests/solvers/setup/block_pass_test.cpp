#include "tallskinny/solvers/setup/block_pass.hpp"

#include "tallskinny/tests/support/test.hpp"

using solvers::BlockSteps;
using solvers::pass_over_blocks;

namespace {

constexpr index_t empty = -1;

void rest(int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

/// A host and a device whose memory holds nothing but the number of the block in each buffer; a copy happens
/// when it is waited for, the latest moment at which it may.
struct Machine {
  explicit Machine(index_t host_buffers) : host(static_cast<std::size_t>(host_buffers), empty) {}
  std::vector<index_t> host;
  std::vector<index_t> device = {empty, empty};
  std::vector<index_t> used, under_way;
  std::atomic<int> reading{0}, both{0};

  [[nodiscard]] BlockSteps steps(int read_time, int use_time, bool to_device) {
    const auto buffers = static_cast<index_t>(host.size());
    BlockSteps s;
    s.read = [=, this](index_t b) {
      ++reading;
      rest(read_time);
      host[static_cast<std::size_t>(b % buffers)] = b;
      --reading;
    };
    if (to_device) {
      s.send = [this](index_t b) { under_way.push_back(b); };
      s.arrive = [=, this](index_t b) {
        CHECK(under_way == std::vector{b});  // one at a time
        under_way.clear();
        device[static_cast<std::size_t>(b % 2)] = host[static_cast<std::size_t>(b % buffers)];
        CHECK(device[static_cast<std::size_t>(b % 2)] == b);
      };
    }
    s.use = [=, this](index_t b) {
      for (int part = 0; part < 4; ++part) {
        if (reading > 0) ++both;
        rest(use_time / 4);
        CHECK((to_device ? device[static_cast<std::size_t>(b % 2)] : host[static_cast<std::size_t>(b % buffers)]) == b);
      }
      used.push_back(b);
    };
    return s;
  }
};

std::vector<index_t> numbers(index_t count) {
  std::vector<index_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), index_t{0});
  return all;
}

}  // namespace

TEST_CASE("every block is used once and in order, from buffers that nothing overwrites", "[tskmeans]") {
  for (const bool to_device : {false, true})
    for (const index_t buffers : {1, 2, 3})
      for (const index_t blocks : {0, 1, 2, 3, 7, 20})
        for (const auto& [read_time, use_time] : {std::pair{0, 0}, {400, 0}, {0, 400}, {200, 200}}) {
          Machine machine(buffers);
          pass_over_blocks(blocks, buffers, machine.steps(read_time, use_time, to_device));
          CHECK(machine.used == numbers(blocks));
          CHECK(machine.under_way.empty());
        }
}

TEST_CASE("blocks are read while others are used", "[tskmeans]") {
  for (const bool to_device : {false, true}) {
    Machine machine(2);
    pass_over_blocks(10, 2, machine.steps(4000, 4000, to_device));
    CHECK(machine.both > 0);
  }
}

TEST_CASE("what a step throws comes out, whichever it is", "[tskmeans]") {
  for (const bool to_device : {false, true})
    for (const index_t bad : {0, 1, 5, 9})
      for (int which = 0; which < 4; ++which) {
        Machine machine(2);
        BlockSteps steps = machine.steps(50, 50, to_device);
        auto* const step = which == 0   ? &steps.read
                           : which == 1 ? &steps.use
                           : which == 2 ? &steps.send
                                        : &steps.arrive;
        if (!*step) continue;
        *step = [before = *step, bad](index_t b) {
          if (b == bad) throw std::runtime_error("this one");
          before(b);
        };
        CHECK_THROWS_AS(pass_over_blocks(10, 2, steps), std::runtime_error);
        CHECK(machine.used == numbers(static_cast<index_t>(machine.used.size())));
        CHECK(static_cast<index_t>(machine.used.size()) <= bad);
      }
}
