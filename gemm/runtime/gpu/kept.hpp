// What belongs to an object without its knowing: prepared by a library, gone with the object.
#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <typeinfo>

namespace ts::inline v0::cuda {

/// One of each type. One thread at a time.
class Kept {
 public:
  /// The T kept here, T(arguments...) when it is asked for the first time.
  template <class T, class... Arguments>
  [[nodiscard]] T& get(const Arguments&... arguments) {
    std::shared_ptr<void>& found = all_[typeid(T)];
    if (found == nullptr) found = std::make_shared<T>(arguments...);
    return *static_cast<T*>(found.get());
  }
  void clear() noexcept { all_.clear(); }

 private:
  std::map<std::type_index, std::shared_ptr<void>> all_;
};

}  // namespace ts::inline v0::cuda
