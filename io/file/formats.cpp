#include "tallskinny/io/file/formats.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/hdf5/node.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/text/table.hpp"

namespace ts::inline v0::io {

namespace {

/// Bytes at the beginning of a file that show its format, zeros behind its end.
constexpr std::size_t bytes_of_start = 64;

/// The order in which they are tried.
constexpr std::array in_order = {&formats::mtx,   &formats::npy,  &formats::npz, &formats::mat,
                                 &formats::petsc, &formats::arff, &formats::csv};

using std::string_view_literals::operator""sv;

void refuse_compressed(const std::filesystem::path& file, const std::string& by, const std::string& tool) {
  refuse(file, "is compressed by " + by + ", which is not supported: " + tool + " " + name_for_commands(file) +
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

/// Refuses a folder that is a Zarr store.
void refuse_zarr(const std::filesystem::path& folder) {
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed)) return;
  for (const char* mark : {"zarr.json", ".zgroup", ".zarray"})
    if (std::filesystem::exists(folder / mark, failed))
      refuse(folder, "is a Zarr store, which is not read: numpy.save(\"array.npy\", zarr.open(\"" +
                         folder.filename().string() +
                         "\")[NAME][:]) makes a file that is, and anndata.read_zarr(...).write_h5ad(\"cells.h5ad\")");
}

/// Refuses a file whose first bytes, or whose name, show a compressed file other than gzip, a spreadsheet, Parquet or
/// Arrow.
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
               name_for_commands(file) + "\").to_csv(\"table.csv\", index=False))");
  const bool arrow = start.starts_with("ARROW1") || start.starts_with("FEA1") || name.ends_with(".arrow") ||
                     name.ends_with(".feather");
  if (arrow || start.starts_with("PAR1") || name.ends_with(".parquet"))
    refuse(file, joined(arrow ? "is an Arrow" : "is a Parquet",
                        " file, which is not read: docs/parquet.py turns it into .npy (python3 parquet.py ",
                        name_for_commands(file), " table.npy), or pandas writes it as csv (pandas.read_",
                        (arrow ? "feather" : "parquet"), "(...).to_csv(\"table.csv\", index=False))"));
}

/// Refuses gzip and svmlight in a file that nothing recognised.
void refuse_unknown(const std::filesystem::path& file, std::string_view start) {
  if (start.starts_with("\x1f\x8b"sv)) refuse_compressed(file, "gzip", "zcat");
  const auto end = std::min(start.find('\n'), start.rfind(' '));  // a word may go on behind the bytes that are there
  refuse_svmlight(file, fields_of(start.substr(0, end), ' '));
}

/// The format of text in a file that has no name; what has no mark is csv.
const char* format_of_text(const std::filesystem::path& file) {
  LineReader in(file);  // which also reads what gzip has packed
  for (auto line = in.next(); line; line = in.next()) {
    if (line->starts_with("%%MatrixMarket")) return "mtx";
    const auto text = trimmed(*line);
    if (text.empty() || text.starts_with('#')) continue;
    if (text.starts_with('@') || text.starts_with('%')) return "arff";
    if (std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' ' && c != '\t'; })) return "csv";
    break;
  }
  refuse(file, "is in no known format: name it with --format");
}

const Format* format_of(const std::filesystem::path& file, const std::string& given) {
  if (!given.empty()) {
    for (const Format* format : in_order)
      if (format->name == given) return format;
    throw Error(Errc::invalid_argument, "there is no format '" + given + "'");
  }
  std::string first(bytes_of_start, '\0');  // zeros behind the end of a short file
  (void)FileBytes(file).read(0, std::as_writable_bytes(std::span(first)));
  refuse_unread(file, first);
  const std::string name = lower_case(file.filename().string());
  for (const Format* format : in_order)
    if (format->matches(name, first)) return format;
  if (file.parent_path() == "/proc/self/fd") return format_of(file, format_of_text(file));  // a pipe has no name
  refuse_unknown(file, first);
  refuse(file,
         "is not an HDF5 file, and its name is none of .mtx, .mtx.gz, .npy, .npz, .csv, .tsv, "
         ".txt, .arff; --format says what it is");
}

}  // namespace

bool require_file(const std::filesystem::path& file) {
  refuse_zarr(file);
  if (FileBytes(file).size() == 0) refuse(file, "is empty");
  return hdf5::has_signature(file);
}

const Format* format_of(const Location& where, const ReadOptions& options) {
  if (require_file(where.file)) return nullptr;
  const Format* format = format_of(where.file, options.format);
  if (!where.object.empty() && format->list == nullptr)
    refuse(where.file, joined("is not an HDF5 file, so it has no object '", where.object, "'"));
  return format;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  names.reserve(in_order.size());
  for (const Format* format : in_order) names.emplace_back(format->name);
  return names;
}

}  // namespace ts::inline v0::io
