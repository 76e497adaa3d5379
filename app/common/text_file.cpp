#include "tallskinny/app/common/text_file.hpp"

#include "tallskinny/io/write/new_file.hpp"

namespace ts::app {

void write_text_file(const std::filesystem::path& file, std::string_view text) {
  io::NewFile out(file);
  out.write(text);
  out.commit();
}

}  // namespace ts::app
