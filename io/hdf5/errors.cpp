#include "tallskinny/io/hdf5/h5.hpp"

#include <cerrno>
#include <system_error>

namespace ts::inline v0::io::hdf5 {

std::recursive_mutex& library_lock() {
  static std::recursive_mutex lock;
  return lock;
}

Quiet::Quiet() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
Quiet::~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

std::string last_error() {
  std::string text;
  const auto keep_first = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    auto& kept = *static_cast<std::string*>(out);
    if (kept.empty() && error->desc != nullptr) kept = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  // Of a failed system call only what the system says.
  const std::string key = "error message = '";
  if (const auto at = text.find(key); at != std::string::npos) {
    const auto begin = at + key.size();
    return text.substr(begin, text.find('\'', begin) - begin);
  }
  return text;
}

std::string cause_of_failure(const std::string& words) {
  const std::string why = last_error();
  return why == std::generic_category().message(EIO) ? why : words + " (" + why + ")";
}

}  // namespace ts::inline v0::io::hdf5
