// Bodies of NVIDIA's libraries.
#pragma once

#include <library_types.h>

#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::bench {

template <class T>
void add_cublas_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);
/// Every algorithm that cuBLASLt's heuristic proposes.
template <class T>
void add_cublaslt_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);
/// Every algorithm for sparse times dense.
template <class T>
void add_cusparse_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);

/// The base of a struct whose members are the functions of a library, each found by its name.
class VendorLibrary {
 public:
  /// Whether the library and all of its functions are there.
  [[nodiscard]] bool complete() const noexcept { return complete_; }

 protected:
  struct Function {
    void* address;
    template <class F>
    operator F*() const {  // NOLINT(google-explicit-constructor): becomes the member that it initialises
      return reinterpret_cast<F*>(address);
    }
  };

  /// The first of these files that is there.
  explicit VendorLibrary(std::initializer_list<const char*> files)
      : library_({files.begin(), files.size()}, cuda::toolkit_folders()), complete_(library_.loaded()) {}
  [[nodiscard]] Function find(const char* name) {
    const Function found{library_.symbol(name)};
    complete_ = complete_ && found.address != nullptr;
    return found;
  }

 private:
  cuda::SharedLibrary library_;
  bool complete_;
};

/// "13.1.0"; empty where there is none.
[[nodiscard]] std::string cublas_version();
[[nodiscard]] std::string cusparse_version();

/// Of a library whose function this is.
template <class Property>
[[nodiscard]] std::string version_by(Property* property) {
  int major = 0, minor = 0, patch = 0;
  property(MAJOR_VERSION, &major), property(MINOR_VERSION, &minor), property(PATCH_LEVEL, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

/// Throws unless `status` is a success, which is 0 in all of NVIDIA's libraries.
inline void expect_success(const char* library, int status) {
  if (status != 0)
    throw Error(Errc::device_failure, std::string(library) + " failed with status " + std::to_string(status));
}

}  // namespace ts::bench
