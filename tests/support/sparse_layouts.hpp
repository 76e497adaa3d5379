// A sparse matrix in the layouts that files have and OutputFile does not write.
#pragma once

#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::test {

/// "COOR", "COOC", "CSC", "DCSC" or "DCSR" of Binsparse, of the whole matrix or one triangle ("hermitian_lower").
template <class T>
void write_layout(io::OutputFile& out, const std::string& group, const CsrMatrix<T>& a, const std::string& layout,
                  const std::string& structure = "general") {
  const bool by_columns = layout.ends_with("C"), pairs = layout.starts_with("COO"), sparse_lines = layout[0] == 'D';
  const index_t count = by_columns ? a.cols : a.rows;
  std::vector<std::vector<std::pair<std::int64_t, T>>> lines(static_cast<std::size_t>(count));
  for (index_t i = 0; i < a.rows; ++i)
    for (auto e = static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i) + 1]); ++e) {
      const index_t j = a.indices[e];
      if ((structure.ends_with("_lower") && j > i) || (structure.ends_with("_upper") && j < i)) continue;
      lines[static_cast<std::size_t>(by_columns ? j : i)].emplace_back(by_columns ? i : j, a.values[e]);
    }
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
  if (pairs || sparse_lines) out.write(group + "/indices_0", std::span<const std::int64_t>(major));
  if (!pairs) out.write(group + "/pointers_to_1", std::span<const std::int64_t>(pointers));
  out.write(group + "/indices_1", std::span<const std::int64_t>(minor));
  out.write(group + "/values", std::span<const T>(values));
  out.attribute(group, "binsparse",
                R"({"version": "0.1", "format": ")" + layout + R"(", "shape": [)" + std::to_string(a.rows) + ", " +
                    std::to_string(a.cols) + R"(], "structure": ")" + structure + R"("})");
}

/// Matrix Market, `structure` "general", or "symmetric" or "hermitian": then the lower triangle. Entries from the last
/// one to the first.
template <class T>
void write_matrix_market(const std::string& file, const CsrMatrix<T>& a, const std::string& structure = "general") {
  std::vector<std::string> entries;
  for (index_t i = a.rows; i-- > 0;)
    for (auto e = static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i) + 1]);
         e-- > static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i)]);) {
      if (structure != "general" && a.indices[e] > i) continue;
      char text[96];
      if constexpr (is_complex<T>)
        std::snprintf(text, sizeof text, " %.17g %.17g\n", double(a.values[e].real()), double(a.values[e].imag()));
      else
        std::snprintf(text, sizeof text, " %.17g\n", double(a.values[e]));
      entries.push_back(std::to_string(i + 1) + " " + std::to_string(a.indices[e] + 1) + text);
    }
  std::ofstream out(file);
  out << "%%MatrixMarket matrix coordinate " << (is_complex<T> ? "complex " : "real ") << structure << "\n"
      << a.rows << " " << a.cols << " " << entries.size() << "\n";
  for (const std::string& entry : entries) out << entry;
}

}  // namespace ts::test
