// A library that is loaded while the program runs, if the machine has it.
#pragma once

#include <span>
#include <string>

namespace ts::inline v0::cuda {

class SharedLibrary {
 public:
  /// Tries each name as the system finds it, then in each folder. `loaded()` tells whether one was found.
  SharedLibrary(std::span<const char* const> names, std::span<const std::string> folders = {});

  [[nodiscard]] bool loaded() const noexcept { return handle_ != nullptr; }
  /// The file it was loaded from.
  [[nodiscard]] std::string path_of(const char* symbol) const;
  /// The address of a symbol, nullptr if there is none.
  [[nodiscard]] void* symbol(const char* name) const noexcept;
  /// to = the function called `name`; false if there is none.
  template <class Function>
  bool bind(Function*& to, const char* name) const noexcept {
    to = reinterpret_cast<Function*>(symbol(name));
    return to != nullptr;
  }

 private:
  void* handle_ = nullptr;  // stays loaded until the process ends: CUDA's libraries have handlers of their own
};

/// Where CUDA's libraries may be beside the system's own search path: $CUDA_HOME and $CUDA_PATH, the toolkit
/// of the build, /usr/local/cuda.
[[nodiscard]] std::span<const std::string> toolkit_folders();

}  // namespace ts::inline v0::cuda
