#include "tallskinny/gemm/runtime/gpu/nvrtc.hpp"

#include <array>
#include <filesystem>

#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::inline v0::cuda {

namespace {

/// NVRTC loads its built-in functions by name alone; from a folder outside the system's search path that
/// fails, unless they are loaded already.
void load_builtins(const std::filesystem::path& nvrtc, int major, int minor) {
  const std::string name = "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
  const std::array<std::string, 1> beside = {nvrtc.parent_path().string()};
  const SharedLibrary stays_loaded(std::array<const char*, 1>{name.c_str()}, beside);
}

Nvrtc load_nvrtc() {
  Nvrtc n;
  static const SharedLibrary library(std::array<const char*, 3>{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"},
                                     toolkit_folders());
  if (!library.loaded()) {
    n.missing =
        "CUDA's run-time compiler (libnvrtc.so.13 or .12) was not found; install it, or name its folder in "
        "LD_LIBRARY_PATH";
    return n;
  }
  bool complete = true;
#define TS_BIND(member, function) complete = library.bind(n.member, #function) && complete;
  TS_FOR_EACH_NVRTC_FUNCTION(TS_BIND)
#undef TS_BIND
  if (!complete || n.version(&n.major, &n.minor) != NVRTC_SUCCESS) {
    n.missing = "CUDA's run-time compiler (libnvrtc) is too old: CUDA 11.2 or later is needed";
    return n;
  }
  load_builtins(library.path_of("nvrtcVersion"), n.major, n.minor);
  return n;
}

}  // namespace

const Nvrtc& find_nvrtc() {
  static const Nvrtc n = load_nvrtc();
  return n;
}

}  // namespace ts::inline v0::cuda
