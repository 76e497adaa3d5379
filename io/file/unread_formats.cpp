#include "tallskinny/io/unread_formats.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/text/csv_rows.hpp"

namespace ts::inline v0::io {

namespace {

using std::string_view_literals::operator""sv;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& cause) {
  throw Error(Errc::bad_input, file.string() + " " + cause);
}

/// A name to repeat in a command; a pipe has none.
std::string name_of(const std::filesystem::path& file) {
  return file.parent_path() == "/proc/self/fd" ? "FILE" : file.filename().string();
}

void refuse_compressed(const std::filesystem::path& file, const std::string& by, const std::string& tool) {
  refuse(file, "is compressed by " + by + ", which is not undone here: " + tool + " " + name_of(file) +
                   " | tskmeans - reads what is in it, and so does tssolve -");
}

bool is_spreadsheet(std::string_view start) {
  if (start.starts_with("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv)) return true;  // .xls
  if (!start.starts_with("PK\3\4"sv) || start.size() < 31) return false;
  const std::string_view member = start.substr(30);  // the name of the first one
  constexpr std::array names = {"[Content_Types].xml"sv, "_rels/"sv, "xl/"sv, "docProps/"sv,
                                "mimetypeapplication/vnd.oasis"sv};
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return member.starts_with(name); });
}

}  // namespace

void refuse_zarr(const std::filesystem::path& folder) {
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed)) return;
  for (const char* mark : {"zarr.json", ".zgroup", ".zarray"})
    if (std::filesystem::exists(folder / mark, failed))
      refuse(folder, "is a Zarr store, which is not read: numpy.save(\"array.npy\", zarr.open(\"" +
                         folder.filename().string() +
                         "\")[NAME][:]) makes a file that is, and anndata.read_zarr(...).write_h5ad(\"cells.h5ad\")");
}

void refuse_unread(const std::filesystem::path& file, std::string_view start) {
  const std::string name = lower_case(file.filename().string());
  if (start.starts_with("BZh"sv) && start.substr(4).starts_with("1AY&SY"sv)) refuse_compressed(file, "bzip2", "bzcat");
  if (start.starts_with("\xfd"
                        "7zXZ\0"sv))
    refuse_compressed(file, "xz", "xzcat");
  if (start.starts_with("\x28\xb5\x2f\xfd"sv)) refuse_compressed(file, "Zstandard", "zstdcat");
  if (start.starts_with("\x04\x22\x4d\x18"sv)) refuse_compressed(file, "LZ4", "lz4cat");
  if (is_spreadsheet(start))
    refuse(file,
           "is a spreadsheet, which is not read: save its sheet as csv, or have pandas do it (pandas.read_excel(\"" +
               name_of(file) + "\").to_csv(\"table.csv\", index=False))");
  const bool arrow = start.starts_with("ARROW1") || start.starts_with("FEA1") || name.ends_with(".arrow") ||
                     name.ends_with(".feather");
  if (arrow || start.starts_with("PAR1") || name.ends_with(".parquet"))
    refuse(file, std::string(arrow ? "is an Arrow" : "is a Parquet") +
                     " file, which is not read: docs/parquet.py turns it into .npy (python3 parquet.py " +
                     name_of(file) + " table.npy), or pandas writes it as csv (pandas.read_" +
                     (arrow ? "feather" : "parquet") + "(...).to_csv(\"table.csv\", index=False))");
}

void refuse_unknown(const std::filesystem::path& file, std::string_view start) {
  if (start.starts_with("\x1f\x8b"sv)) refuse_compressed(file, "gzip", "zcat");
  const auto end = std::min(start.find('\n'), start.rfind(' '));  // a word may go on behind the bytes that are there
  refuse_svmlight(file, fields_of(start.substr(0, end), ' '));
}

void refuse_svmlight(const std::filesystem::path& file, const std::vector<std::string_view>& words) {
  const auto is_pair = [](std::string_view word) {
    const auto colon = word.find(':');
    return colon != std::string_view::npos && (word.starts_with("qid:") || to_integer(word.substr(0, colon))) &&
           to_number(word.substr(colon + 1));
  };
  if (words.size() < 2 || !to_number(words.front()) || !std::all_of(words.begin() + 1, words.end(), is_pair)) return;
  refuse(file,
         "is in svmlight's format, which is not read: scipy.sparse.save_npz(\"points.npz\", "
         "sklearn.datasets.load_svmlight_file(\"" +
             name_of(file) + "\")[0]) makes a file that is");
}

}  // namespace ts::inline v0::io
