// The JSON text that describes a Binsparse matrix, read and written. Only its .cpp includes a JSON library.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::io {

struct BinsparseDescriptor {
  std::string version;  ///< "0.1", "0.1.0"; "" if the text does not say
  std::string format;   ///< "CSR", "COOR", "DMAT", ...
  std::vector<index_t> shape;
  std::optional<index_t> stored_values;
  std::map<std::string, std::string> data_types;  ///< "values" -> "complex[float64]"
  std::string structure;                          ///< "symmetric_lower", or ""
  bool fill = false;
  index_t index_base = 0;
};

/// Accepts the descriptor at the top level and under the key "binsparse".
/// @throws Error(bad_input) with a cause that starts with a verb ("has a Binsparse descriptor that ...").
[[nodiscard]] BinsparseDescriptor parse_binsparse(std::string_view text);

/// The descriptor at both levels, which the C and all Python reference readers accept.
[[nodiscard]] std::string format_binsparse(const BinsparseDescriptor& descriptor);

}  // namespace ts::inline v0::io
