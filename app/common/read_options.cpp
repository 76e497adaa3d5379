#include "tallskinny/app/common/read_options.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::app {

namespace {

std::string io_formats() {
  std::string words;
  for (const std::string& name : io::format_names()) words += (words.empty() ? "" : "|") + name;
  return words;
}

}  // namespace

void add_read_options(Options& options, io::ReadOptions& target) {
  options
      .custom("layout", "csr|csc", {}, "compression of a sparse matrix, for files that do not declare it",
              "one of csr|csc",
              [&target](std::string_view text) {
                if (text != "csr" && text != "csc") return false;
                target.layout = text == "csr" ? io::SparseLayout::csr : io::SparseLayout::csc;
                return true;
              })
      .custom("format", io_formats(), {}, "format of the input; default: by its name and first bytes",
              "one of " + io_formats(),
              [&target](std::string_view text) {
                const auto names = io::format_names();
                return std::find(names.begin(), names.end(), text) != names.end() && parse_value(text, target.format);
              })
      .custom("scalars", "float64|complex128|float32|complex64", {},
              "element type of a PETSc binary file, which does not store it; default: by its length",
              "float64, complex128, float32 or complex64",
              [&target](std::string_view text) {
                target.scalars = dtype_named(text);
                return target.scalars && size_of(*target.scalars) >= 4;
              })
      .flag("transpose", target.transpose, "read the transposed matrix")
      .flag("accept-unsorted", target.accept_unsorted,
            "sort unsorted column numbers and add up duplicates instead of refusing them")
      .flag("missing-as-fill", target.missing_as_fill,
            "read rows without data in an HDF5 file as its fill value, instead of refusing the file")
      .custom("comment", "TEXT|none", {},
              "lines of a csv file that begin with TEXT are comments; none: no line is. Default: #, before the first "
              "other line",
              "the beginning of a line, or none",
              [&target](std::string_view text) {
                target.comment = text == "none" ? "" : std::string(text);
                return !text.empty();
              })
      .flag("drop-index", target.drop_index, "leave out the unnamed first column of a csv file")
      .flag("keep-index", target.keep_index,
            "read the unnamed first column of a csv file even if it counts the rows, instead of refusing it")
      .flag("trust-input", target.trusted,
            "let HDF5 open the input in this process instead of a sandboxed one, and read other files that it refers "
            "to: only for files from sources that you trust");
}

namespace {

/// Words between commas.
auto list(std::vector<std::string>& target) {
  return [&target](std::string_view text) {
    target.clear();
    for (;;) {
      const auto comma = text.find(',');
      if (comma == 0 || text.empty()) return false;
      target.emplace_back(text.substr(0, comma));
      if (comma == std::string_view::npos) return true;
      text.remove_prefix(comma + 1);
    }
  };
}

}  // namespace

void add_table_options(Options& options, io::ReadOptions& target) {
  io::TableOptions& table = target.table;
  options
      .custom("columns", "NAME,...", {},
              "read only these columns of a table: names in its first line, numbers from 0 (from -1 at the end), or "
              "ranges of numbers like 3-7. Other dense matrices have numbers only",
              "names or numbers of columns, separated by commas", list(table.columns))
      .custom("drop", "NAME,...", {}, "leave out these columns, named as in --columns",
              "names or numbers of columns, separated by commas", list(table.drop))
      .choice("missing", table.missing,
              "treatment of rows of a table or dense matrix with missing values (NaN; in text also empty fields, NA, "
              "null): report an error; leave the row out; or use the mean of the column over the whole file",
              {{"refuse", io::Missing::refuse}, {"drop", io::Missing::drop}, {"mean", io::Missing::mean}})
      .choice("decimal", table.decimal_comma,
              "decimal mark of a csv file; with comma, its columns are separated by semicolons, tabs or blanks",
              {{"point", false}, {"comma", true}});
}

std::string axes_text(const io::Description& d) {
  return d.note.starts_with("rows are ") ? d.note.substr(0, d.note.find(':')) : "";
}

std::string missing_text(const io::Description& d) {
  if (d.rows_dropped > 0)
    return grouped(d.rows_dropped) + (d.rows_dropped == 1 ? " row that lacks" : " rows that lack") +
           " a value left out";
  if (d.values_filled > 0)
    return grouped(d.values_filled) + " missing value" + (d.values_filled == 1 ? "" : "s") +
           " replaced by means of columns";
  return {};
}

void add_missing(JsonObject& json, const io::ReadOptions& read, const io::Description& d) {
  if (read.table.missing != io::Missing::refuse)
    json.add("rows_dropped", d.rows_dropped).add("values_filled", d.values_filled);
}

void add_reading_memory_option(Options& options, io::ReadOptions& target) {
  add_memory_option(options, target.memory_limit, "memory for reading, like 500M or 4G; default: free memory");
}

void add_rows_option(Options& options, io::ReadOptions& target) {
  options.custom("rows", "A:B", {}, "only rows A to B - 1, counted from 0",
                 "two numbers like 0:1000, the second larger, or left out for the end",
                 [&target](std::string_view text) {
                   const auto colon = text.find(':');
                   index_t begin = 0, end = -1;
                   if (colon == std::string_view::npos) return false;
                   const auto first = text.substr(0, colon), second = text.substr(colon + 1);
                   if (!first.empty() && !parse_value(first, begin)) return false;
                   if (!second.empty() && !parse_value(second, end)) return false;
                   if (begin < 0 || (!second.empty() && end < begin)) return false;
                   target.row_begin = begin;
                   target.row_end = end;
                   return true;
                 });
}

namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error(Errc::io_failure, "standard input " + what + ": " + std::generic_category().message(error));
}

/// A file that nobody else can open, and that goes with its descriptor.
int nameless_file() {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  if (failed)
    for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
      if (const char* const set = std::getenv(variable))
        throw Error(Errc::io_failure, "standard input cannot be kept: " + std::string(set) + ", which " + variable +
                                          " names for temporary files, is no folder: set " + variable + " to one");
  if (failed) fail("cannot be kept in " + folder.string(), failed.value());
  std::string name = (folder / "tallskinny-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail("cannot be kept in " + folder.string(), errno);
  ::unlink(name.c_str());
  return file;
}

void copy_to(int file) {
  const EndsOnSignal reading;
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read", errno);
    if (got == 0) return;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(file, piece.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno != EINTR) fail("cannot be kept in the folder for temporary files", errno);
      done += put > 0 ? put : 0;
    }
  }
}

}  // namespace

StandardInput::StandardInput(std::string& input, const Ranks& ranks) {
  if (input != standard_stream) return;
  expects(ranks.size() == 1, "- is the standard input of one process, and a launcher has started several: name a file");
  expects(::isatty(STDIN_FILENO) == 0, "- is standard input, and that is a terminal: name a file, or pipe one in");
  struct stat status {};
  const bool is_file =
      ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) && ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
  if (!is_file) copy_to(descriptor_ = nameless_file());
  input = "/proc/self/fd/" + std::to_string(is_file ? STDIN_FILENO : descriptor_);
  io::show_path_as(input, "standard input");
}

StandardInput::~StandardInput() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace ts::app
