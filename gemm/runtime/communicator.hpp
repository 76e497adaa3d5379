// What the ranks of a distributed computation say to each other. Tall operands are distributed by rows;
// operations that sum over rows put the sums of all ranks together through the communicator of their Context,
// so that nobody else needs to know how many ranks there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tallskinny/gemm/runtime/gpu/stream.hpp"

namespace ts::inline v0 {

/// Bytes for another rank, and the room for those of another one. They are not touched before Exchange::wait.
struct Outgoing {
  int to = 0;
  std::span<const std::byte> data;
};
struct Incoming {
  int from = 0;
  std::span<std::byte> data;
};

/// Bytes that are under way between ranks.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;
  /// Returns when what was to come is there and what was to go may be changed. Once for each exchange.
  virtual void wait() = 0;
  /// The same for what takes long: leaves the processor to others meanwhile.
  virtual void wait_asleep() { wait(); }
};

/// One body for every way in which ranks can be connected. All ranks make the same calls in the same order.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// Whether ranks are threads of one process.
  [[nodiscard]] virtual bool in_one_process() const noexcept { return false; }

  /// `data` has offsets[size()] bytes, of which rank r contributes those from offsets[r] to offsets[r + 1];
  /// its own are there when it calls, all of them when true is returned. False: the other ranks have not all
  /// been here yet, and there is nothing to go on with (SlabCollector alone says so).
  [[nodiscard]] virtual bool all_gather(std::byte* data, std::span<const std::size_t> offsets) = 0;
  /// The same with data in the memory of the stream's device, in the order of its work. Unless a body knows a
  /// way from device to device, this goes through host memory and waits for the stream.
  [[nodiscard]] virtual bool all_gather(const cuda::Stream& stream, std::byte* data,
                                        std::span<const std::size_t> offsets);

  /// Every rank gets the sums of all ranks' values, modulo 2^64, so that their order does not matter.
  /// @throws Error(invalid_argument) where all_gather returns false.
  virtual void add(std::span<std::uint64_t> values);
  /// The same with values in the memory of the stream's device, in the order of its work, as all_gather.
  virtual void add(const cuda::Stream& stream, std::span<std::uint64_t> values);

  /// Begins to send and to receive, in memory of the host: not a call of all ranks, but each piece has one that
  /// answers it, as long as it. What a rank sends to another arrives in the order in which it was begun.
  /// @throws Error(invalid_argument) where ranks cannot send (SlabCollector, NCCL).
  [[nodiscard]] virtual std::unique_ptr<Exchange> begin_exchange(std::span<const Outgoing> out,
                                                                 std::span<const Incoming> in);
  /// The same in the memory of the stream's device, in the order of its work: what it was given before makes the
  /// pieces, what it is given after wait() finds those that came. As all_gather, by way of host memory or not.
  [[nodiscard]] virtual std::unique_ptr<Exchange> begin_exchange(const cuda::Stream& stream,
                                                                 std::span<const Outgoing> out,
                                                                 std::span<const Incoming> in);

  /// The Fortran handle of these ranks where they are processes of Open MPI, for libraries that are linked with it.
  [[nodiscard]] virtual std::optional<int> open_mpi() const noexcept { return std::nullopt; }
};

/// The communicator of a process that is alone, which every Context begins with.
[[nodiscard]] const std::shared_ptr<Communicator>& self_communicator();

}  // namespace ts::inline v0
