#include "tallskinny/app/common/read_options.hpp"

#include "tallskinny/app/common/memory.hpp"

namespace ts::app {

void add_read_options(Options& options, io::ReadOptions& target) {
  options
      .custom("layout", "csr|csc", {}, "how a sparse matrix is compressed, for files that do not say", "one of csr|csc",
              [&target](std::string_view text) {
                if (text != "csr" && text != "csc") return false;
                target.layout = text == "csr" ? io::SparseLayout::csr : io::SparseLayout::csc;
                return true;
              })
      .flag("transpose", target.transpose, "read the transposed matrix")
      .flag("accept-unsorted", target.accept_unsorted,
            "sort unsorted column numbers and add up duplicates instead of refusing them")
      .flag("missing-as-fill", target.missing_as_fill,
            "read rows that an HDF5 file has no data for as its fill value instead of refusing them")
      .flag("drop-index", target.drop_index, "leave out the first column of a csv file, which has no name")
      .flag("keep-index", target.keep_index,
            "read the first column of a csv file also if it has no name and counts the rows, instead of "
            "refusing it")
      .flag("trust-input", target.trusted,
            "let HDF5 open the input in this process instead of one without rights, and take data from the "
            "other files that it names: only for files whose writer you trust");
}

void add_reading_memory_option(Options& options, io::ReadOptions& target) {
  options.custom("memory", "BYTES", {}, "memory that reading may take, like 500M or 4G; default what is free",
                 "a number of bytes like 500M or 4G",
                 [&target](std::string_view text) { return parse_bytes(text, target.memory_limit); });
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
