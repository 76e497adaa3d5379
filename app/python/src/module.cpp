// The module: contexts, errors, devices.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "arrays.hpp"
#include "tallskinny/gemm/adaptors/dlpack.hpp"
#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::python {

namespace {

Operand operand_of_handle(void* data, const In& a, const char* name) {
  const auto fail = [&](const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(name) + " " + what);
  };
  if (a.ndim() != 2) fail("has " + std::to_string(a.ndim()) + " dimensions where a matrix is needed");
  Operand o;
  o.data = data;
  o.rows = static_cast<index_t>(a.shape(0)), o.cols = static_cast<index_t>(a.shape(1));
  o.row_stride = a.stride(0), o.col_stride = a.stride(1);
  if (o.cols == 1) o.col_stride = 1;  // of one line libraries say anything
  if (o.rows == 1) o.row_stride = o.col_stride == 1 ? o.cols : 1;
  const nb::dlpack::dtype t = a.dtype();
  const auto* const type = std::find_if(std::begin(every_dtype), std::end(every_dtype), [&t](DType each) {
    const DLDataType wanted = by_type(each, []<class T>(std::type_identity<T>) { return dl_type<T>(); });
    return t.code == wanted.code && t.bits == wanted.bits;
  });
  if (type == std::end(every_dtype)) fail("has a type of elements that is none of " + dtype_names());
  o.type = *type;
  const int kind = a.device_type();
  if (kind == nb::device::cuda::value || kind == nb::device::cuda_managed::value)
    o.space = Space::device, o.device = a.device_id();
  else if (kind != nb::device::cpu::value && kind != nb::device::cuda_host::value)
    fail("lies on a device that is neither a processor nor an NVIDIA GPU");
  return o;
}

void raise(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& e) {
    static constexpr const char* names[] = {"InvalidArgument", "BadInput", "FileError",     "OutOfMemory",
                                            "OutOfRange",      "NoDevice", "DeviceFailure", "Interrupted"};
    const nb::object errors = nb::module_::import_("tallskinny._errors");
    PyErr_SetString(errors.attr(names[static_cast<std::size_t>(e.code())]).ptr(), e.what());
  }
}

}  // namespace

Operand operand_of(const In& a, const char* name) {
  return operand_of_handle(const_cast<void*>(static_cast<const void*>(a.data())), a, name);
}
Operand operand_of(const Out& a, const char* name) { return operand_of_handle(a.data(), In(a), name); }

namespace {

/// Streams that no thread has at the moment: of the process, to its end.
struct IdleStreams {
  std::mutex mutex;
  std::multimap<int, cuda::Stream> streams;
};
IdleStreams& idle_streams() {
  static auto* const idle = new IdleStreams;
  return *idle;
}

/// Streams of one thread, since a stream takes work from one thread at a time.
struct ThreadStreams {
  std::map<int, cuda::Stream> streams;

  ThreadStreams() = default;
  ThreadStreams(const ThreadStreams&) = delete;
  ThreadStreams& operator=(const ThreadStreams&) = delete;
  ~ThreadStreams() {
    const std::lock_guard lock(idle_streams().mutex);
    for (auto& [device, stream] : streams) idle_streams().streams.emplace(device, std::move(stream));
  }
};

}  // namespace

cuda::Stream stream_of(int device) {
  thread_local ThreadStreams mine;
  cuda::Stream& stream = mine.streams[device];
  if (stream) return stream;
  {
    const std::lock_guard lock(idle_streams().mutex);
    if (auto idle = idle_streams().streams.extract(device)) stream = std::move(idle.mapped());
  }
  if (!stream) stream = cuda::Stream(device);
  return stream;
}

Context context_at(const Context& ctx, const Operand& where) {
  Context there = ctx;
  if (where.space == Space::device) there.stream = stream_of(where.device);
  return there;
}

}  // namespace ts::python

/// The symbol by which threadpoolctl tells this module from others of its name.
extern "C" NB_EXPORT const char tallskinny_python[] = "tallskinny";

NB_MODULE(_core, m) {
  using namespace ts;
  using namespace ts::python;
  m.doc() = "Bindings of the library; use the package tallskinny.";
  nb::set_leak_warnings(false);  // what other modules keep of this one at the end, threadpoolctl for one
  nb::register_exception_translator(raise);
  nb::class_<Context>(m, "Context")
      .def(nb::init<>())
      .def_rw("threads", &Context::threads)
      .def("thread_count", &Context::thread_count)
      .def("limited",
           [](const Context& ctx, int limit) {
             Context less = ctx;
             less.threads = ctx.threads > 0 ? std::min(ctx.threads, limit) : limit;
             return less;
           })
      .def("use_device", [](Context& ctx, int device) { ctx.stream = stream_of(device); })
      .def_prop_ro("device",
                   [](const Context& ctx) -> nb::object {
                     if (!ctx.stream) return nb::none();
                     return nb::int_(ctx.stream.device().index);
                   })
      .def_prop_rw(
          "gpu_to_gpu", [](const Context& ctx) { return ctx.determinism == Determinism::gpu_to_gpu; },
          [](Context& ctx, bool on) { ctx.determinism = on ? Determinism::gpu_to_gpu : Determinism::run_to_run; });
  m.def("devices", [] {
    const cuda::DeviceList list = cuda::list_devices();
    std::vector<std::string> names;
    names.reserve(list.devices.size());
    for (const cuda::DeviceInfo& d : list.devices) names.push_back(d.name);
    return nb::make_tuple(names, list.reason);
  });
  add_engine(m);
  add_kmeans(m);
  add_eigen(m);
  add_files(m);
}
