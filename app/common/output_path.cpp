#include "tallskinny/app/common/output_path.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/write/new_file.hpp"

namespace ts::app {

namespace fs = std::filesystem;

namespace {

/// Tries to create a file: access() knows nothing of read-only mounts seen by root, quotas or network drives.
bool can_create_file(const fs::path& folder) {
  std::string name = (folder / ".tallskinny-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) return false;
  ::close(file);
  ::unlink(name.c_str());
  return true;
}

void refuse(const OutputPath& output, const std::string& why) {
  throw Error(Errc::invalid_argument, std::string(output.option) + ' ' + output.path.string() + ": " + why);
}

void expect_writable(const OutputPath& output) {
  if (output.path == "-" && output.may_be_standard_output) return;
  if (output.path == "-")
    refuse(output,
           "a file cannot be written to standard output: --json prints the result there; ./- is a file "
           "of this name");
  const fs::path path = io::behind_links(output.path);
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!path.has_filename()) refuse(output, "expected a file name, not a folder");
  if (!fs::is_directory(folder, error)) refuse(output, "the folder " + folder.string() + " does not exist");
  if (!can_create_file(folder)) refuse(output, "no file can be created in the folder " + folder.string());
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    refuse(output, "this exists and is not a regular file, so it is not replaced");
}

/// True if both names lead to one file, which need not exist.
bool same_file(const fs::path& first, const fs::path& second) {
  std::error_code error;
  const fs::path a = io::behind_links(first), b = io::behind_links(second);
  return fs::equivalent(a, b, error) ||
         fs::weakly_canonical(fs::absolute(a), error) == fs::weakly_canonical(fs::absolute(b), error);
}

}  // namespace

std::string other_format(const fs::path& file) {
  std::string ending = file.extension();
  for (const char* other :
       {".mtx", ".npy", ".npz", ".csv", ".tsv", ".txt", ".arff", ".gz", ".json", ".html", ".parquet"})
    if (ending == other) return ending;
  return {};
}

void check_output_paths(const std::vector<OutputPath>& outputs, const std::vector<std::string>& inputs) {
  std::vector<OutputPath> before;
  for (const OutputPath& output : outputs) {
    if (output.path.empty()) continue;
    expect_writable(output);
    for (const std::string& input : inputs)
      if (!input.empty() && same_file(output.path, io::parse_location(input).file))
        refuse(output, "this is also the input; choose another output");
    for (const OutputPath& other : before)
      if (same_file(output.path, other.path))
        refuse(output, std::string("this is also the file of ") + other.option + "; choose another");
    before.push_back(output);
  }
}

void write_text_file(const std::filesystem::path& file, std::string_view text) {
  io::NewFile out(file);
  out.write(text);
  out.commit();
}

void add_table_option(Options& options, const std::string& name, std::string& target, std::string help) {
  options.custom(name, "FILE.npy|FILE.csv|-", {}, std::move(help),
                 "a file name that ends in .npy or .csv, or - for text on standard output",
                 [&target](std::string_view text) {
                   return (text == standard_stream || io::is_table_name(text)) && parse_value(text, target);
                 });
}

bool takes_standard_output(std::initializer_list<std::string_view> tables, bool json) {
  const bool takes = std::find(tables.begin(), tables.end(), standard_stream) != tables.end();
  expects(!takes || !json, "--json and a table named - both write to standard output: give the table a file name");
  return takes;
}

}  // namespace ts::app
