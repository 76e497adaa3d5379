// The base of a struct whose members are the functions of a library that is loaded while the program runs.
#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::inline v0::cuda {

/// struct Cublas : VendorLibrary { decltype(&cublasCreate_v2) create = find("cublasCreate_v2"); ... };
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
      : library_({files.begin(), files.size()}, toolkit_folders()), complete_(library_.loaded()) {}
  [[nodiscard]] Function find(const char* name) {
    const Function found{library_.symbol(name)};
    complete_ = complete_ && found.address != nullptr;
    return found;
  }

 private:
  SharedLibrary library_;
  bool complete_;
};

/// "13.1.0", of the library whose function xxxGetProperty this is: parts 0 to 2 are major, minor and patch.
template <class Status, class Part>
[[nodiscard]] std::string version_by(Status (*property)(Part, int*)) {
  std::array<int, 3> version{};
  for (int part = 0; part < 3; ++part) property(static_cast<Part>(part), &version[static_cast<std::size_t>(part)]);
  return std::to_string(version[0]) + "." + std::to_string(version[1]) + "." + std::to_string(version[2]);
}

/// @throws Error(device_failure) unless `status` is a success, which is 0 in all of NVIDIA's libraries.
inline void expect_success(const char* library, int status) {
  if (status != 0)
    throw Error(Errc::device_failure, std::string(library) + " failed with status " + std::to_string(status));
}

}  // namespace ts::inline v0::cuda
