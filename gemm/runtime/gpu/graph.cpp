#include "tallskinny/gemm/runtime/gpu/graph.hpp"

#include "tallskinny/gemm/runtime/gpu/driver.hpp"

namespace ts::inline v0::cuda {

struct Event::State {
  int device = 0;
  CUevent event = nullptr;
  ~State() {
    if (event != nullptr) find_driver().event_destroy(event);
  }
};

Event::Event(const Stream& stream) : state_(std::make_shared<State>()) {
  state_->device = stream.device().index;
  const Active active(state_->device);
  check(driver().event_create(&state_->event, CU_EVENT_DEFAULT), "make an event");
}

void Event::record(const Stream& stream) {
  const Active active(state_->device);
  check(driver().event_record(state_->event, stream.handle()), "record an event");
}

void Event::wait() const {
  const Active active(state_->device);
  check(driver().event_synchronize(state_->event), "finish its work");
}

void Event::precede(const Stream& stream) const {
  const Active active(state_->device);
  check(driver().stream_wait_event(stream.handle(), state_->event, 0), "make a stream wait for an event");
}

double Event::seconds_since(const Event& start) const {
  const Active active(state_->device);
  float milliseconds = 0;
  wait();
  check(driver().event_elapsed(&milliseconds, start.state_->event, state_->event), "tell the time between two events");
  return 1e-3 * static_cast<double>(milliseconds);
}

struct Graph::State {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ~State() {
    if (executable != nullptr) find_driver().graph_exec_destroy(executable);
    if (graph != nullptr) find_driver().graph_destroy(graph);
  }
};

Graph::Graph(const Stream& stream, const std::function<void()>& work) : state_(std::make_shared<State>()) {
  const Active active(stream.device().index);
  check(driver().stream_begin_capture(stream.handle(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capture a stream");
  try {
    work();
  } catch (...) {
    driver().stream_end_capture(stream.handle(), &state_->graph);  // the stream must not stay in capture
    throw;
  }
  check(driver().stream_end_capture(stream.handle(), &state_->graph), "end the capture of a stream");
  check(driver().graph_instantiate(&state_->executable, state_->graph, 0), "prepare a graph");
}

void Graph::launch(const Stream& stream) const {
  const Active active(stream.device().index);
  check(driver().graph_launch(state_->executable, stream.handle()), "start a graph");
}

}  // namespace ts::inline v0::cuda
