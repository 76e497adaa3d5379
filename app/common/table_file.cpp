#include "tallskinny/app/common/table_file.hpp"

#include <algorithm>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

void add_table_option(Options& options, const std::string& name, std::string& target, std::string help) {
  options.custom(name, "FILE.npy|FILE.csv|-", {}, std::move(help),
                 "a file name that ends in .npy or .csv, or - for text on standard output",
                 [&target](std::string_view text) {
                   return (text == standard_stream || io::is_table_name(text)) && parse_value(text, target);
                 });
}

bool takes_standard_output(std::initializer_list<std::string_view> tables, bool json) {
  const bool takes = std::find(tables.begin(), tables.end(), standard_stream) != tables.end();
  expects(!takes || !json, "--json and a table named - are both for standard output: give the table a file name");
  return takes;
}

}  // namespace ts::app
