#include "tallskinny/app/common/read_options.hpp"

#include <algorithm>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/text.hpp"

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
      .custom("layout", "csr|csc", {}, "how a sparse matrix is compressed, for files that do not say", "one of csr|csc",
              [&target](std::string_view text) {
                if (text != "csr" && text != "csc") return false;
                target.layout = text == "csr" ? io::SparseLayout::csr : io::SparseLayout::csc;
                return true;
              })
      .custom("format", io_formats(), {}, "what the input is; default what its name and its first bytes say",
              "one of " + io_formats(),
              [&target](std::string_view text) {
                const auto names = io::format_names();
                return std::find(names.begin(), names.end(), text) != names.end() && parse_value(text, target.format);
              })
      .custom("scalars", "float64|complex128|float32|complex64", {},
              "elements of a binary file of PETSc, which does not say; default what fits its length",
              "float64, complex128, float32 or complex64",
              [&target](std::string_view text) {
                target.scalars = dtype_named(text);
                return target.scalars && size_of(*target.scalars) >= 4;
              })
      .flag("transpose", target.transpose, "read the transposed matrix")
      .flag("accept-unsorted", target.accept_unsorted,
            "sort unsorted column numbers and add up duplicates instead of refusing them")
      .flag("missing-as-fill", target.missing_as_fill,
            "read rows that an HDF5 file has no data for as its fill value instead of refusing them")
      .custom(
          "comment", "TEXT|none", {},
          "lines of a csv file that begin with TEXT are comments, or none is; default # before the first other line",
          "the beginning of a line, or none",
          [&target](std::string_view text) {
            target.comment = text == "none" ? "" : std::string(text);
            return !text.empty();
          })
      .flag("drop-index", target.drop_index, "leave out the first column of a csv file, which has no name")
      .flag("keep-index", target.keep_index,
            "read the first column of a csv file also if it has no name and counts the rows, instead of "
            "refusing it")
      .flag("trust-input", target.trusted,
            "let HDF5 open the input in this process instead of one without rights, and take data from the "
            "other files that it names: only for files whose writer you trust");
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
              "read these columns of a table only: names in its first line, numbers from 0 (from -1 at the end), or "
              "ranges of numbers like 3-7. Of a dense matrix that is no table: numbers",
              "names or numbers of columns between commas", list(table.columns))
      .custom("drop", "NAME,...", {}, "leave out these columns, named as in --columns",
              "names or numbers of columns between commas", list(table.drop))
      .choice(
          "missing", table.missing,
          "what becomes of a row of a table or dense matrix in which a value is missing (NaN; in text also an empty "
          "field, NA, null): an error; the row is left out; or the mean of the column in all of the file is taken",
          {{"refuse", io::Missing::refuse}, {"drop", io::Missing::drop}, {"mean", io::Missing::mean}})
      .choice("decimal", table.decimal_comma,
              "how a csv file writes 1.5; with comma its columns are separated by semicolons, tabs or blanks",
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
  add_memory_option(options, target.memory_limit,
                    "memory that reading may take, like 500M or 4G; default what is free");
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

}  // namespace ts::app
