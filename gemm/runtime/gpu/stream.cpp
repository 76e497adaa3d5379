#include "tallskinny/gemm/runtime/gpu/stream.hpp"

#include <algorithm>
#include <cstdint>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/driver.hpp"
#include "tallskinny/gemm/runtime/gpu/staging.hpp"
#include "tallskinny/gemm/runtime/gpu/stream_home.hpp"

namespace ts::inline v0::cuda {

struct Stream::State {
  DeviceInfo device;
  std::shared_ptr<const StreamHome> home;  ///< goes after what it gave
  Memory workspace, counters, mailboxes;
  Staging staging;
  std::unique_ptr<Rehearsal> rehearsal;
  Kept kept;

  ~State() {
    if (home == nullptr) return;
    try {
      const Active active(device.index);
      kept.clear();
    } catch (const Error&) {  // the driver is gone
    }
  }
};

namespace {

DeviceInfo find_device(int index) {
  const DeviceList list = list_devices();
  if (list.devices.empty()) throw Error(Errc::no_device, "no GPU can be used: " + list.reason);
  if (index < 0 || index >= static_cast<int>(list.devices.size()))
    throw Error(Errc::no_device, "there is no device " + std::to_string(index) + ": they are numbered from 0 to " +
                                     std::to_string(list.devices.size() - 1));
  return list.devices[static_cast<std::size_t>(index)];
}

/// A new stream of the device.
std::shared_ptr<const StreamHome> new_home(int device, DeviceAllocator memory, bool urgent) {
  const Active active(device);
  int least = 0, greatest = 0;
  if (urgent) check(driver().priorities(&least, &greatest), "tell the priorities of streams");
  CUstream stream = nullptr;
  check(urgent ? driver().urgent_stream(&stream, CU_STREAM_NON_BLOCKING, greatest)
               : driver().stream_create(&stream, CU_STREAM_NON_BLOCKING),
        "make a stream");
  return std::make_shared<const StreamHome>(device, stream, true, std::move(memory));
}

}  // namespace

Stream::Stream(int device, DeviceAllocator memory) {
  const DeviceInfo info = find_device(device);
  *this = Stream(info, new_home(device, std::move(memory), false));
}

Stream::Stream(int device, CUstream_st* theirs, DeviceAllocator memory)
    : Stream(find_device(device), std::make_shared<const StreamHome>(device, theirs, false, std::move(memory))) {}

Stream Stream::another() const {
  if (rehearsal() != nullptr) return *this;
  return Stream(state().device, new_home(device().index, state().home->allocator, false));
}

Stream Stream::urgent() const {
  if (rehearsal() != nullptr) return *this;
  return Stream(state().device, new_home(device().index, state().home->allocator, true));
}

Stream::Stream(const DeviceInfo& device, std::shared_ptr<const StreamHome> home) : state_(std::make_shared<State>()) {
  state_->device = device;
  state_->home = std::move(home);
  state_->counters = Memory(*this, counter_count * sizeof(unsigned));
  state_->mailboxes = Memory(*this, mailbox_count * sizeof(double));
  for (const Memory* zeros : {&state_->counters, &state_->mailboxes})
    fill_bytes(*this, zeros->data(), 0, zeros->bytes());
  synchronize();  // what comes next may run in another stream
}

Stream Stream::rehearsing(const DeviceInfo& device) {
  Stream stream;
  stream.state_ = std::make_shared<State>();
  stream.state_->device = device;
  stream.state_->rehearsal = std::make_unique<Rehearsal>();
  return stream;
}

Rehearsal* Stream::rehearsal() const { return state().rehearsal.get(); }

Stream::State& Stream::state() const {
  if (state_ == nullptr)
    throw Error(Errc::no_device, "this Context has no device: set Context::stream to cuda::Stream(device)");
  return *state_;
}

const DeviceInfo& Stream::device() const { return state().device; }

CUstream_st* Stream::handle() const { return state().home == nullptr ? nullptr : state().home->stream; }

const std::shared_ptr<const StreamHome>& Stream::home() const { return state().home; }

void Stream::choose_by(std::shared_ptr<const TunedTable> table) const { state().device.tuned = std::move(table); }

void Stream::use_libraries(bool may) const { state().device.libraries = may; }

void Stream::with_device(const std::function<void()>& f) const {
  const Active active(state().device.index);
  f();
}

void Stream::synchronize() const {
  if (rehearsal() != nullptr) return;
  const Active active(state().device.index);
  check(driver().stream_synchronize(handle()), "finish its work");
}

void* Stream::workspace(std::size_t bytes) const {
  State& s = state();
  if (bytes > s.workspace.bytes() && s.rehearsal == nullptr) {
    const Active active(s.device.index);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    check(driver().stream_is_capturing(handle(), &status), "tell whether it is being captured");
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
      throw Error(Errc::invalid_argument, "a stream that is being captured has a workspace of " +
                                              std::to_string(s.workspace.bytes()) + " bytes and needs " +
                                              std::to_string(bytes) + ": call Stream::workspace before");
    check(driver().stream_synchronize(handle()), "finish its work");  // the old workspace may be in use
    s.workspace = Memory();
    s.workspace = Memory(*this, std::max(bytes, std::size_t{1} << 20));
  }
  return s.workspace.data();
}

unsigned* Stream::counters() const { return static_cast<unsigned*>(state().counters.data()); }

Kept& Stream::all_kept() const { return state().kept; }

Staging& Stream::staging() const { return state().staging; }

double* Stream::mailboxes() const { return static_cast<double*>(state().mailboxes.data()); }

}  // namespace ts::inline v0::cuda
