// Whole files written and read.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace ts::test {

/// Writes a file, and the folders that it lies in.
inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace ts::test
