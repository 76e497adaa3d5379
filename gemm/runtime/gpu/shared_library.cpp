#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace ts::inline v0::cuda {

SharedLibrary::SharedLibrary(std::span<const char* const> names, std::span<const std::string> folders) {
  for (const char* name : names) {
    handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
  }
  for (const std::string& folder : folders)
    for (const char* name : names) {
      handle_ = ::dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
}

void* SharedLibrary::symbol(const char* name) const noexcept {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

std::string SharedLibrary::path_of(const char* name) const {
  Dl_info info{};
  const void* address = symbol(name);
  return address != nullptr && ::dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

std::span<const std::string> toolkit_folders() {
  static const std::vector<std::string> folders = [] {
    std::vector<std::string> list;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
      if (const char* root = std::getenv(variable); root != nullptr && *root == '/')
        list.push_back(std::string(root) + "/lib64");
    list.emplace_back(TS_CUDA_LIBRARY_DIR);
    list.emplace_back("/usr/local/cuda/lib64");
    return list;
  }();
  return folders;
}

}  // namespace ts::inline v0::cuda
