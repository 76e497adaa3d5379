// NVIDIA's run-time compiler, loaded when it is first needed. Included only by compile.cpp.
#pragma once

#include <nvrtc.h>

#include <string>

namespace ts::inline v0::cuda {

#define TS_FOR_EACH_NVRTC_FUNCTION(X)      \
  X(version, nvrtcVersion)                 \
  X(error_text, nvrtcGetErrorString)       \
  X(create, nvrtcCreateProgram)            \
  X(destroy, nvrtcDestroyProgram)          \
  X(compile, nvrtcCompileProgram)          \
  X(log_size, nvrtcGetProgramLogSize)      \
  X(log, nvrtcGetProgramLog)               \
  X(cubin_size, nvrtcGetCUBINSize)         \
  X(cubin, nvrtcGetCUBIN)                  \
  X(arch_count, nvrtcGetNumSupportedArchs) \
  X(archs, nvrtcGetSupportedArchs)

struct Nvrtc {
#define TS_MEMBER(member, function) decltype(&::function) member = nullptr;
  TS_FOR_EACH_NVRTC_FUNCTION(TS_MEMBER)
#undef TS_MEMBER
  int major = 0, minor = 0;
  std::string missing;  ///< a clause that says why it cannot be used; empty when it can
};

/// The compiler, or an object with `missing` set.
[[nodiscard]] const Nvrtc& find_nvrtc();

}  // namespace ts::inline v0::cuda
