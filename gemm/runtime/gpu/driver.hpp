// NVIDIA's driver, loaded at run time: a program built with the CUDA backend starts on machines without one.
// Included only by the files that call it; cuda.h is needed to build, nothing else of CUDA.
#pragma once

#include <cuda.h>

#include <string>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0::cuda {

// member, symbol (spelled out where cuda.h renames it), declaration
#define TS_FOR_EACH_DRIVER_FUNCTION(X)                                             \
  X(init, "cuInit", cuInit)                                                        \
  X(driver_version, "cuDriverGetVersion", cuDriverGetVersion)                      \
  X(error_name, "cuGetErrorName", cuGetErrorName)                                  \
  X(error_text, "cuGetErrorString", cuGetErrorString)                              \
  X(device_count, "cuDeviceGetCount", cuDeviceGetCount)                            \
  X(device_get, "cuDeviceGet", cuDeviceGet)                                        \
  X(device_name, "cuDeviceGetName", cuDeviceGetName)                               \
  X(device_memory, "cuDeviceTotalMem_v2", cuDeviceTotalMem)                        \
  X(device_attribute, "cuDeviceGetAttribute", cuDeviceGetAttribute)                \
  X(retain_context, "cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain)          \
  X(push_context, "cuCtxPushCurrent_v2", cuCtxPushCurrent)                         \
  X(pop_context, "cuCtxPopCurrent_v2", cuCtxPopCurrent)                            \
  X(stream_create, "cuStreamCreate", cuStreamCreate)                               \
  X(urgent_stream, "cuStreamCreateWithPriority", cuStreamCreateWithPriority)       \
  X(priorities, "cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange)        \
  X(stream_destroy, "cuStreamDestroy_v2", cuStreamDestroy)                         \
  X(stream_synchronize, "cuStreamSynchronize", cuStreamSynchronize)                \
  X(stream_wait_event, "cuStreamWaitEvent", cuStreamWaitEvent)                     \
  X(stream_is_capturing, "cuStreamIsCapturing", cuStreamIsCapturing)               \
  X(stream_begin_capture, "cuStreamBeginCapture_v2", cuStreamBeginCapture)         \
  X(stream_end_capture, "cuStreamEndCapture", cuStreamEndCapture)                  \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags) \
  X(graph_launch, "cuGraphLaunch", cuGraphLaunch)                                  \
  X(graph_exec_destroy, "cuGraphExecDestroy", cuGraphExecDestroy)                  \
  X(graph_destroy, "cuGraphDestroy", cuGraphDestroy)                               \
  X(event_create, "cuEventCreate", cuEventCreate)                                  \
  X(event_destroy, "cuEventDestroy_v2", cuEventDestroy)                            \
  X(event_record, "cuEventRecord", cuEventRecord)                                  \
  X(event_synchronize, "cuEventSynchronize", cuEventSynchronize)                   \
  X(event_elapsed, "cuEventElapsedTime", cuEventElapsedTime)                       \
  X(mem_alloc, "cuMemAlloc_v2", cuMemAlloc)                                        \
  X(mem_free, "cuMemFree_v2", cuMemFree)                                           \
  X(host_alloc, "cuMemHostAlloc", cuMemHostAlloc)                                  \
  X(host_free, "cuMemFreeHost", cuMemFreeHost)                                     \
  X(mem_info, "cuMemGetInfo_v2", cuMemGetInfo)                                     \
  X(mem_copy, "cuMemcpyAsync", cuMemcpyAsync)                                      \
  X(mem_copy_2d, "cuMemcpy2DAsync_v2", cuMemcpy2DAsync)                            \
  X(mem_set, "cuMemsetD8Async", cuMemsetD8Async)                                   \
  X(mem_set_words, "cuMemsetD32Async", cuMemsetD32Async)                           \
  X(module_load, "cuModuleLoadData", cuModuleLoadData)                             \
  X(module_function, "cuModuleGetFunction", cuModuleGetFunction)                   \
  X(function_set, "cuFuncSetAttribute", cuFuncSetAttribute)                        \
  X(launch_kernel, "cuLaunchKernel", cuLaunchKernel)

struct Driver {
#define TS_MEMBER(member, symbol, declaration) decltype(&::declaration) member = nullptr;
  TS_FOR_EACH_DRIVER_FUNCTION(TS_MEMBER)
#undef TS_MEMBER
  /// Since CUDA 12.4; nullptr before: the offset and size of a kernel's parameter.
  CUresult (*param_info)(CUfunction, std::size_t, std::size_t*, std::size_t*) = nullptr;
  /// Since CUDA 11.8, and used from 12.3 on, whose graphs know kernels that overlap; nullptr before.
  decltype(&::cuLaunchKernelEx) launch_with = nullptr;
  /// Since CUDA 12; nullptr before.
  decltype(&::cuTensorMapEncodeTiled) tensor_map = nullptr;
  std::string missing;  ///< a clause that says why the driver cannot be used; empty when it can
};

/// The driver, or an object with `missing` set. Never throws; cuInit has been called.
[[nodiscard]] const Driver& find_driver();
/// @throws Error(no_device) with the reason when there is none.
[[nodiscard]] const Driver& driver(Place where = Place::current());

/// Throws unless `code` is success: "the GPU failed to WHAT: (the driver's words)".
void check(CUresult code, const std::string& what, Place where = Place::current());

/// Makes a device's primary context current, and what was current before when it goes.
class Active {
 public:
  explicit Active(int device);
  ~Active();
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;
};

}  // namespace ts::inline v0::cuda
