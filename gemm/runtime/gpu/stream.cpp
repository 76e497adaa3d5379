#include "tallskinny/gemm/runtime/gpu/stream.hpp"

#include <algorithm>
#include <cstdint>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/driver.hpp"
#include "tallskinny/gemm/runtime/gpu/staging.hpp"

namespace ts::cuda {

struct Stream::State {
  DeviceInfo device;
  CUstream stream = nullptr;
  bool ours = false;
  Memory workspace, counters, mailboxes;
  Staging staging;
  std::unique_ptr<Rehearsal> rehearsal;
  Kept kept;

  ~State() {
    if (!ours) return;
    try {
      const Active active(device.index);
      kept.clear();
      driver().stream_destroy(stream);
    } catch (const Error&) {  // the driver is gone, and the stream with it
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

}  // namespace

Stream::Stream(int device) : Stream(device, nullptr) {
  const Active active(device);
  check(driver().stream_create(&state_->stream, CU_STREAM_NON_BLOCKING), "make a stream");
  state_->ours = true;
}

Stream Stream::urgent(int device) {
  Stream stream(device, nullptr);
  const Active active(device);
  int least = 0, greatest = 0;
  check(driver().priorities(&least, &greatest), "tell the priorities of streams");
  check(driver().urgent_stream(&stream.state_->stream, CU_STREAM_NON_BLOCKING, greatest), "make a stream");
  stream.state_->ours = true;
  return stream;
}

Stream::Stream(int device, CUstream_st* theirs) : state_(std::make_shared<State>()) {
  state_->device = find_device(device);
  state_->stream = theirs;
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

CUstream_st* Stream::handle() const { return state().stream; }

void Stream::choose_by(std::shared_ptr<const TunedTable> table) const { state().device.tuned = std::move(table); }

void Stream::use_libraries(bool may) const { state().device.libraries = may; }

void Stream::with_device(const std::function<void()>& f) const {
  const Active active(state().device.index);
  f();
}

void Stream::synchronize() const {
  if (rehearsal() != nullptr) return;
  const Active active(state().device.index);
  check(driver().stream_synchronize(state().stream), "finish its work");
}

void* Stream::workspace(std::size_t bytes) const {
  State& s = state();
  if (bytes > s.workspace.bytes() && s.rehearsal == nullptr) {
    const Active active(s.device.index);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    check(driver().stream_is_capturing(s.stream, &status), "tell whether it is being captured");
    if (status != CU_STREAM_CAPTURE_STATUS_NONE)
      throw Error(Errc::invalid_argument, "a stream that is being captured has a workspace of " +
                                              std::to_string(s.workspace.bytes()) + " bytes and needs " +
                                              std::to_string(bytes) + ": call Stream::workspace before");
    check(driver().stream_synchronize(s.stream), "finish its work");  // the old workspace may be in use
    s.workspace = Memory();
    s.workspace = Memory(*this, std::max(bytes, std::size_t{1} << 20));
  }
  return s.workspace.data();
}

unsigned* Stream::counters() const { return static_cast<unsigned*>(state().counters.data()); }

Kept& Stream::all_kept() const { return state().kept; }

Staging& Stream::staging() const { return state().staging; }

double* Stream::mailboxes() const { return static_cast<double*>(state().mailboxes.data()); }

}  // namespace ts::cuda
