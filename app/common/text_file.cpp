#include "tallskinny/app/common/text_file.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

void write_text_file(const std::filesystem::path& file, std::string_view text) {
  const std::filesystem::path unfinished = file.string() + ".part" + std::to_string(::getpid());
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(unfinished, file, failed);
  if (out && !failed) return;
  std::error_code ignored;
  std::filesystem::remove(unfinished, ignored);
  throw Error(Errc::io_failure,
              file.string() + " cannot be written" + (failed ? ": " + failed.message() : ""));
}

}  // namespace ts::app
