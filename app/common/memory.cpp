#include "tallskinny/app/common/memory.hpp"

#include <algorithm>
#include <cctype>
#include <iomanip>
#include <limits>
#include <ostream>

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/io/memory.hpp"

namespace ts::app {

std::uint64_t available_memory() {
  const std::uint64_t bytes = io::available_memory();
  return bytes == std::numeric_limits<std::uint64_t>::max() ? 0 : bytes;
}

bool parse_bytes(std::string_view text, std::uint64_t& out) {
  constexpr std::string_view units = "KMGT";
  double factor = 1, number = 0;
  if (!text.empty() && (text.back() == 'B' || text.back() == 'b')) text.remove_suffix(1);
  if (!text.empty() && text.back() == 'i') text.remove_suffix(1);
  if (!text.empty())
    if (const auto unit = units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
        unit != std::string_view::npos) {
      for (std::size_t q = 0; q <= unit; ++q) factor *= 1024;
      text.remove_suffix(1);
    }
  if (!parse_value(text, number) || number <= 0 || number * factor > 0x1p62) return false;
  out = static_cast<std::uint64_t>(number * factor);
  return out > 0;
}

void add_memory_option(Options& options, std::uint64_t& target, std::string help) {
  options.custom("memory", "BYTES", {}, std::move(help), "a number of bytes like 500M or 4G",
                 [&target](std::string_view text) { return parse_bytes(text, target); });
}

void print_memory(std::ostream& out, const std::vector<MemoryUse>& uses, std::uint64_t available) {
  std::size_t width = 9;
  for (const MemoryUse& use : uses) width = std::max(width, use.what.size());
  const auto line = [&](const std::string& what, const std::string& amount) {
    out << "  " << std::left << std::setw(static_cast<int>(width)) << what << "  " << std::right << std::setw(10)
        << amount << '\n';
  };
  for (const MemoryUse& use : uses) line(use.what, human_bytes(use.bytes));
  line("total", human_bytes(solvers::total_bytes(uses)));
  line("available", available == 0 ? "unknown" : human_bytes(available));
}

void add_memory(JsonObject& json, const std::vector<MemoryUse>& uses, std::uint64_t available) {
  JsonObject table;
  for (const MemoryUse& use : uses) table.add(use.what, use.bytes);
  json.add("memory", table).add("memory_bytes", solvers::total_bytes(uses));
  if (available == 0)
    json.add_null("available_memory_bytes");
  else
    json.add("available_memory_bytes", available);
}

}  // namespace ts::app
