#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace ts::test {

/// Writes a file, and the folders that it lies in.
inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace ts::test
