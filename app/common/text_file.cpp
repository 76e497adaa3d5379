#include "tallskinny/app/common/text_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

void write_text_file(const std::filesystem::path& file, std::string_view text) {
  const std::filesystem::path unfinished = file.string() + ".part" + std::to_string(::getpid());
  errno = 0;
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  std::error_code failed;
  if (!out)
    failed.assign(errno != 0 ? errno : EIO, std::generic_category());
  else
    std::filesystem::rename(unfinished, file, failed);
  if (!failed) return;
  std::error_code ignored;
  std::filesystem::remove(unfinished, ignored);
  throw Error(Errc::io_failure, file.string() + " cannot be written: " + failed.message());
}

}  // namespace ts::app
