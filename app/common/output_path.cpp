#include "tallskinny/app/common/output_path.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

namespace fs = std::filesystem;

namespace {

/// Only trying tells: access() knows nothing of read-only mounts seen by root, quotas or network drives.
bool can_create_file(const fs::path& folder) {
  std::string name = (folder / ".tallskinny-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) return false;
  ::close(file);
  ::unlink(name.c_str());
  return true;
}

}  // namespace

void check_output_path(const char* option, const fs::path& path, const std::vector<fs::path>& inputs) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Errc::invalid_argument, std::string(option) + ' ' + path.string() + ": " + why);
  };
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!path.has_filename()) refuse("expected a file name, not a folder");
  if (!fs::is_directory(folder, error)) refuse("the folder " + folder.string() + " does not exist");
  if (!can_create_file(folder)) refuse("no file can be created in the folder " + folder.string());
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) refuse("this exists and is not a file that can be replaced");
  for (const fs::path& input : inputs)
    if (fs::equivalent(path, input, error)) refuse("this is also the input; choose another output");
}

}  // namespace ts::app
