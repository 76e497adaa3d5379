// Files with matrices, also in layouts that OutputFile does not write.
#pragma once

#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace ts::test {

inline void write_parts(io::OutputFile&) {}
template <class T, class... More>
void write_parts(io::OutputFile& out, const std::string& name, const T& value, const More&... more) {
  if constexpr (requires { out.write_binsparse(name, value); })
    out.write_binsparse(name, value);
  else
    out.write(name, value);
  write_parts(out, more...);
}

/// An HDF5 file of these names and what stands under each: name, value, name, value, ... The file.
template <class... Parts>
std::string write_h5(const std::string& file, const io::OutputOptions& options, const Parts&... parts) {
  io::OutputFile out(file, options);
  write_parts(out, parts...);
  out.commit();
  return file;
}
template <class... Parts>
std::string write_h5(const std::string& file, const std::string& name, const Parts&... parts) {
  return write_h5(file, io::OutputOptions{}, name, parts...);
}

/// "COOR", "COOC", "CSC", "DCSC" or "DCSR" of Binsparse, of the whole matrix or one triangle ("hermitian_lower").
template <class T>
void write_layout(io::OutputFile& out, const std::string& group, const CsrMatrix<T>& a, const std::string& layout,
                  const std::string& structure = "general") {
  const bool by_columns = layout.ends_with("C"), pairs = layout.starts_with("COO"), sparse_lines = layout[0] == 'D';
  const index_t count = by_columns ? a.cols : a.rows;
  std::vector<std::vector<std::pair<std::int64_t, T>>> lines(static_cast<std::size_t>(count));
  for_each_entry(a.view(), [&](index_t i, index_t j, const T& value) {
    if ((structure.ends_with("_lower") && j > i) || (structure.ends_with("_upper") && j < i)) return;
    lines[static_cast<std::size_t>(by_columns ? j : i)].emplace_back(by_columns ? i : j, value);
  });
  std::vector<std::int64_t> major, pointers = {0}, minor;
  std::vector<T> values;
  for (index_t line = 0; line < count; ++line) {
    const auto& entries = lines[static_cast<std::size_t>(line)];
    for (const auto& [index, value] : entries) {
      minor.push_back(index), values.push_back(value);
      if (pairs) major.push_back(line);
    }
    if (sparse_lines && entries.empty()) continue;
    if (sparse_lines) major.push_back(line);
    pointers.push_back(std::ssize(minor));
  }
  if (pairs || sparse_lines) out.write(group + "/indices_0", major);
  if (!pairs) out.write(group + "/pointers_to_1", pointers);
  out.write(group + "/indices_1", minor);
  out.write(group + "/values", values);
  out.attribute(group, "binsparse",
                R"({"version": "0.1", "format": ")" + layout + R"(", "shape": [)" + std::to_string(a.rows) + ", " +
                    std::to_string(a.cols) + R"(], "structure": ")" + structure + R"("})");
}

/// Matrix Market, `structure` "general", or "symmetric" or "hermitian": then the lower triangle. Entries from the last
/// one to the first.
template <class T>
void write_matrix_market(const std::string& file, const CsrMatrix<T>& a, const std::string& structure = "general") {
  std::vector<std::string> entries;
  for_each_entry(a.view(), [&](index_t i, index_t j, const T& value) {
    if (structure != "general" && j > i) return;
    char text[96];
    if constexpr (is_complex<T>)
      std::snprintf(text, sizeof text, " %.17g %.17g\n", double(value.real()), double(value.imag()));
    else
      std::snprintf(text, sizeof text, " %.17g\n", double(value));
    entries.push_back(std::to_string(i + 1) + " " + std::to_string(j + 1) + text);
  });
  std::reverse(entries.begin(), entries.end());
  std::ofstream out(file);
  out << "%%MatrixMarket matrix coordinate " << (is_complex<T> ? "complex " : "real ") << structure << "\n"
      << a.rows << " " << a.cols << " " << entries.size() << "\n";
  for (const std::string& entry : entries) out << entry;
}

}  // namespace ts::test
