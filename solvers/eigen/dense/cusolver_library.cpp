#include "tallskinny/solvers/eigen/dense/cusolver_library.hpp"

#include <map>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"

namespace ts::inline v0::solvers {

bool has_cusolver(DenseTask task) {
  return cusolver::library().complete() && (task != DenseTask::general || cusolver::general_library().complete());
}

namespace cusolver {

const Library& library() {
  static const Library found;
  return found;
}

const GeneralLibrary& general_library() {
  static const GeneralLibrary found;
  return found;
}

void check(int status, const char* what) {
  constexpr int all_well = 0, lacks_memory = 2;
  if (status == all_well) return;
  if (status == lacks_memory)
    throw Error(Errc::out_of_memory, "the GPU has too little memory for cuSOLVER to " + std::string(what));
  throw Error(Errc::device_failure,
              "cuSOLVER failed to " + std::string(what) + ": its status " + std::to_string(status));
}

namespace {

std::mutex& of_sessions() {
  static std::mutex one;
  return one;
}

}  // namespace

Session::Session(const cuda::Stream& stream) : lock_(of_sessions()) {
  struct Handle {
    Pointer object = nullptr, params = nullptr;
  };
  static std::map<int, Handle> of_devices;
  stream.with_device([&] {
    Handle& h = of_devices[stream.device().index];
    if (h.object == nullptr) check(library().create(&h.object), "start");
    if (h.params == nullptr) check(library().create_params(&h.params), "start");
    check(library().set_stream(h.object, stream.handle()), "take a stream");
    handle_ = h.object, params_ = h.params;
  });
}

}  // namespace cusolver

}  // namespace ts::inline v0::solvers
