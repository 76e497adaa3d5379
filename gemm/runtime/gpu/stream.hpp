// The GPU side of a Context: a device, a stream of work on it, and memory that operations share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kept.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

struct CUstream_st;  // CUDA's own declaration: a CUstream or cudaStream_t points to one

namespace ts::inline v0::cuda {

class Staging;
struct StreamHome;

/// Where the device memory of a stream comes from, instead of the driver (cuMemAlloc): a pool of the program's, such as
/// cudaMallocAsync and cudaFreeAsync. Called while the stream's device is current, and never while the stream is being
/// captured into a graph. Copied with the stream; what it refers to must outlive all memory that was taken.
struct DeviceAllocator {
  /// At least `bytes` bytes, aligned to 256, for work that is given to `stream` from now on. Null or std::bad_alloc:
  /// there is not enough.
  std::function<void*(std::size_t bytes, CUstream_st* stream)> allocate;
  /// Takes back what was allocated for the same stream, once work given to it so far is done. Must not throw.
  std::function<void(void* data, std::size_t bytes, CUstream_st* stream)> release;
  /// How many bytes it can still give, by which runs are planned; empty: what the driver has free.
  std::function<std::uint64_t()> available = {};
};

/// What a stream that rehearses has been asked for.
struct Rehearsal {
  std::vector<KernelPlan> kernels;        ///< in the order of their starts
  std::uintptr_t next_address = 1 << 20;  ///< of memory that is not there
};

/// A handle; copies share the stream and its workspace. Work in one stream runs in the order it was given.
/// One thread at a time gives work to a stream.
class Stream {
 public:
  /// No device: operations on device views refuse to run.
  Stream() noexcept = default;
  /// A new stream on device number `device`. @param memory where its memory comes from; empty: the driver
  /// @throws Error(no_device) with the reason when there is no such device; Error(out_of_memory) when 1.1 MB cannot be
  /// had, Error(invalid_argument) for an allocator with one function of two.
  explicit Stream(int device, DeviceAllocator memory = {});
  /// A stream that belongs to somebody else and outlives this handle and all memory taken through it; nullptr is the
  /// device's default stream. @throws as above.
  Stream(int device, CUstream_st* theirs, DeviceAllocator memory = {});

  /// A new stream on the same device, with memory from where this one takes it; of a rehearsal, itself.
  [[nodiscard]] Stream another() const;
  /// Such a stream whose kernels have their blocks started before those that wait in ordinary streams.
  [[nodiscard]] Stream urgent() const;

  /// A stream that carries nothing out and needs no GPU: operations plan for `device` and note the kernels
  /// that they would start, so that these can be looked at, or compiled in parallel before the real run
  /// (`prepare`). Its memory has addresses but no bytes.
  [[nodiscard]] static Stream rehearsing(const DeviceInfo& device);
  /// Null unless this stream rehearses.
  [[nodiscard]] Rehearsal* rehearsal() const;

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  /// @throws Error(no_device) for a handle without a device (as all of what follows).
  [[nodiscard]] const DeviceInfo& device() const;
  [[nodiscard]] CUstream_st* handle() const;
  /// What memory taken for this stream keeps; null unless there is a device that is no rehearsal's.
  [[nodiscard]] const std::shared_ptr<const StreamHome>& home() const;

  /// Lets plans of this stream take their choices among kernels from this table instead of the device's own.
  void choose_by(std::shared_ptr<const TunedTable> table) const;

  /// Whether plans of this stream may name NVIDIA's libraries; they may unless this says no.
  void use_libraries(bool may) const;

  /// Calls f while the stream's device is current on this thread, as CUDA's own libraries want it.
  void with_device(const std::function<void()>& f) const;

  /// Waits until all work given so far is done. @throws Error(device_failure) if any of it failed.
  void synchronize() const;

  /// Device memory of at least `bytes` (aligned to 256) for the partial results of one operation. The next
  /// operation of this stream may overwrite it. Grows when needed, which allocates and waits: ask for the
  /// most that will be needed before a steady loop. @throws Error(out_of_memory), and Error(invalid_argument)
  /// if it had to grow while the stream is being captured into a graph.
  [[nodiscard]] void* workspace(std::size_t bytes) const;

  /// `counter_count` unsigned integers in device memory that are zero before and after every kernel: tickets
  /// by which the last block of a grid is known.
  [[nodiscard]] unsigned* counters() const;
  static constexpr int counter_count = 4096;
  /// So many numbers, all bits of which are zero before and after every kernel: what clusters of blocks send
  /// to each other.
  [[nodiscard]] double* mailboxes() const;
  static constexpr int mailbox_count = 1 << 17;

  /// What a library keeps for this stream: T(stream), made when it is first asked for, gone with the stream.
  template <class T>
  [[nodiscard]] T& kept() const {
    return all_kept().get<T>(*this);
  }

  /// Where small matrices of the host pass on their way to operations of this stream and back.
  [[nodiscard]] Staging& staging() const;

 private:
  struct State;
  Stream(const DeviceInfo& device, std::shared_ptr<const StreamHome> home);
  [[nodiscard]] State& state() const;
  [[nodiscard]] Kept& all_kept() const;
  std::shared_ptr<State> state_;
};

}  // namespace ts::inline v0::cuda
