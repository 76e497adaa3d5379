// An object in an open HDF5 file: its place, its attributes, its shape and element type, its elements.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/io/file_bytes.hpp"

namespace ts::inline v0::io::hdf5 {

/// Owner of one HDF5 identifier. Needs no HDF5 header: an hid_t is a 64-bit integer.
class Handle {
 public:
  using Close = int (*)(std::int64_t);

  Handle() = default;
  Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }

  [[nodiscard]] std::int64_t id() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

  /// Gives up ownership without closing.
  void release() noexcept { id_ = -1; }
  /// Closes now; the result of HDF5's close, 0 if there was nothing to close.
  int reset() noexcept {
    const auto id = std::exchange(id_, -1);
    return id >= 0 ? close_(id) : 0;
  }

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

class Remote;

/// Element type of a dataset, and the engine's type that it is read as.
struct ElementType {
  enum class Kind { integer, real, complex, other };
  Kind kind = Kind::other;
  std::string text;                ///< for people: "big-endian int16", "complex of float64", "strings"
  DType read_as = DType::float64;  ///< the element type of the engine that holds it best
  [[nodiscard]] bool numeric() const noexcept { return kind != Kind::other; }
};

/// Filters that can be undone without HDF5.
enum class Filter { deflate, shuffle, lzf };

/// Expands LZF data. Returns the number of bytes in `out`; 0 for damaged data, and for more than `out` holds.
[[nodiscard]] std::size_t expand_lzf(std::span<const char> in, std::span<char> out) noexcept;

/// The forms that elements have in memory: those of DType in its order, and integers.
enum class MemoryType { float64 = static_cast<int>(DType::float64), int32 = std::size(every_dtype), int64 };

[[nodiscard]] constexpr MemoryType memory_of(DType type) noexcept { return static_cast<MemoryType>(type); }
template <class T>
inline constexpr MemoryType memory_type_of = [] {
  if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 4 ? MemoryType::int32 : MemoryType::int64;
  else
    return memory_of(dtype_of<T>);
}();

/// Options of opening a file.
struct OpenOptions {
  bool missing_as_fill = false;    ///< elements without data are read as the file's fill value
  bool trusted = false;            ///< HDF5 opens the file in this process, and follows it into other files
  std::uint64_t memory_limit = 0;  ///< bytes that HDF5 may take for it elsewhere; 0: what the machine has free
};

class Node {
 public:
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return *file_; }
  /// The file that the object lies in, which behind an external link is another than that of its name.
  /// @throws Error(bad_input) where it cannot be opened.
  [[nodiscard]] std::shared_ptr<const FileBytes> bytes() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// "file.h5:/path"
  [[nodiscard]] std::string name() const { return file_->string() + ":" + path_; }
  [[nodiscard]] bool is_group() const noexcept { return group_; }
  [[nodiscard]] bool is_dataset() const noexcept { return !group_; }
  [[nodiscard]] bool trusted() const noexcept { return options_.trusted; }

  /// Throws Error(bad_input) "file.h5:/path CAUSE".
  [[noreturn]] void refuse(const std::string& cause, Place where = Place::current()) const;

  /// Names of the groups and datasets in a group, sorted; links that lead nowhere or outside are left out.
  [[nodiscard]] std::vector<std::string> children() const;
  /// The object under a relative or absolute path, if there is one.
  /// @throws Error(bad_input) for one that is there but that this HDF5 cannot open: it is newer, or damaged.
  [[nodiscard]] std::optional<Node> find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name).has_value(); }
  /// A dataset that the convention needs. @throws Error(bad_input) when it is missing or a group.
  [[nodiscard]] Node dataset(std::string_view name) const;
  /// The group that this object was reached through; nothing for the root.
  [[nodiscard]] std::optional<Node> parent() const;
  /// A number that is the same for two paths to one object.
  [[nodiscard]] std::uint64_t address() const;

  [[nodiscard]] std::vector<std::string> attributes() const;  ///< their names, sorted
  [[nodiscard]] bool has_attribute(const std::string& name) const;
  /// A string attribute, fixed or variable length; nothing if missing or of another type.
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& name) const;
  /// An integer attribute, scalar or list; nothing if missing or of another type.
  [[nodiscard]] std::optional<std::vector<index_t>> integer_attribute(const std::string& name) const;

  // For datasets.
  /// Sizes of the dimensions; those of an array element type come last. Nothing for a null dataspace.
  [[nodiscard]] std::optional<std::vector<index_t>> dims() const;
  [[nodiscard]] ElementType element_type() const;
  /// A numeric member of a compound dataset; members() lists them in order.
  struct Member {
    std::string name;
    ElementType type;
    index_t width = 1;
  };
  [[nodiscard]] std::vector<Member> members() const;
  /// Rows (first dimension) of a chunk; 0 when the dataset is not chunked.
  [[nodiscard]] index_t chunk_rows() const;
  /// Places of the elements in the file: pieces of `bytes` bytes, one after the other.
  struct RawPieces {
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t> offsets;
  };
  /// Nothing unless they lie there just as `memory` wants them, in one piece or in chunks of whole rows.
  [[nodiscard]] std::optional<RawPieces> raw_pieces(MemoryType memory) const;
  /// Chunks of rows x cols elements each, those at the lower and right end filled up, and the filters in the
  /// order in which they were applied.
  struct ChunkGrid {
    index_t rows = 0, cols = 0;
    std::size_t element_bytes = 0;
    std::vector<Filter> filters;
    [[nodiscard]] std::size_t chunk_bytes() const noexcept {
      return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * element_bytes;
    }
  };
  /// Nothing unless this is two-dimensional, in chunks whose filters are known here, and, expanded, just as
  /// `memory` wants it.
  [[nodiscard]] std::optional<ChunkGrid> chunk_grid(MemoryType memory) const;
  /// Reads the raw chunk that begins there, and a bit for each filter that was skipped. False if it was never written.
  /// @throws Error(bad_input).
  [[nodiscard]] bool read_chunk(index_t row, index_t col, std::vector<char>& stored, unsigned& skipped) const;
  /// Place of a chunk in the file; no bytes if it was never written.
  struct StoredChunk {
    index_t row = 0, col = 0;
    std::uint64_t offset = 0, bytes = 0;
    unsigned skipped = 0;
  };
  /// The next chunks of a two-dimensional dataset, at most `count`, row by row from the one that begins at
  /// (row, col). Of a file that a reader process has open.
  [[nodiscard]] std::vector<StoredChunk> chunk_places(index_t row, index_t col, index_t count) const;
  /// Entries begin .. end - 1 of the first dimension; a single number has one.
  struct Rows {
    index_t begin = 0, end = 0;
  };
  /// The first of these rows that hold no data: chunks that were never written, storage that ends too early,
  /// sources of a virtual dataset that are missing or too short. Nothing if all are there. Of a chunk that
  /// was written, or of storage in one piece, the file does not say which elements were.
  /// @throws Error(bad_input) where that cannot be seen.
  [[nodiscard]] std::optional<Rows> missing_rows(Rows rows) const;
  /// @throws Error(bad_input) naming the rows that are missing, unless the file was opened with
  /// missing_as_fill.
  void require_written(Rows rows) const;
  struct UsedFilter {
    int number = 0;
    std::string name;
    bool available = false;  ///< HDF5 has it, or has found its plugin
  };
  [[nodiscard]] std::vector<UsedFilter> filters() const;
  /// Refuses a dataset that a filter missing here compresses.
  void require_readable() const;
  /// Reason why its elements must not be read: they come from another file (by external storage, or a virtual dataset)
  /// and this one is not trusted, or that one is no regular file. Nothing if there is none.
  [[nodiscard]] std::optional<std::string> outside() const;
  /// @throws Error(bad_input) with that cause.
  void require_inside() const;
  /// Entries begin .. end - 1 of the first dimension, the others whole, converted to `memory`; of a compound
  /// dataset the member named. @param out exactly their bytes.
  /// @throws Error(bad_input) when HDF5 cannot read or convert them.
  void read(index_t begin, index_t end, MemoryType memory, std::span<std::byte> out,
            const std::string& member = {}) const;
  /// A short list of integers (a scalar gives one), or nothing if the dataset is something else.
  [[nodiscard]] std::optional<std::vector<index_t>> integers() const;
  /// A short string, or nothing if the dataset is something else.
  [[nodiscard]] std::optional<std::string> text() const;

 private:
  friend Node open(const std::filesystem::path& file, const OpenOptions& options);
  friend Node open_here(std::shared_ptr<const std::filesystem::path> file, const std::string& name,
                        const Handle& access, std::shared_ptr<const FileBytes> bytes, const OpenOptions& options);
  Node() = default;

  std::shared_ptr<const std::filesystem::path> file_;
  std::string path_;
  bool group_ = true;
  std::shared_ptr<const Remote> remote_;  ///< the object in a reader process; then what follows is not used
  std::shared_ptr<const Handle> object_;
  std::shared_ptr<const FileBytes> bytes_;  ///< nothing: the file is opened by its name
  OpenOptions options_;
  std::shared_ptr<bool> complete_ = std::make_shared<bool>(false);  ///< no row is missing
};

/// The root group of a file: in this process where it is trusted, else in a process of its own (reader.hpp).
/// @throws Error(bad_input) for what cannot be opened, with the cause.
[[nodiscard]] Node open(const std::filesystem::path& file, const OpenOptions& options = {});

/// Opens a file in this process; open() chooses the process. `name` and `access` are passed to H5Fopen.
[[nodiscard]] Node open_here(std::shared_ptr<const std::filesystem::path> file, const std::string& name,
                             const Handle& access, std::shared_ptr<const FileBytes> bytes, const OpenOptions& options);

/// True if the file carries HDF5's signature (at 0, 512, 1024, ...). @throws Error(bad_input) as FileBytes.
[[nodiscard]] bool has_signature(const std::filesystem::path& file);

/// The elements of a dataset that is neither filtered nor converted, in the order of its dimensions.
class RawElements {
 public:
  /// Nothing where HDF5 has to read this dataset.
  [[nodiscard]] static std::optional<RawElements> of(const Node& dataset, MemoryType memory);

  /// `bytes` bytes from byte `first` of the elements on; any number of threads at a time.
  /// @throws Error(bad_input) for a truncated file and for a disk that fails.
  void read(std::uint64_t first, std::uint64_t bytes, void* out) const;

 private:
  RawElements(std::string name, std::shared_ptr<const FileBytes> file, Node::RawPieces pieces)
      : name_(std::move(name)), file_(std::move(file)), pieces_(std::move(pieces)) {}
  [[noreturn]] void refuse(const std::string& cause) const;

  std::string name_;  ///< of the dataset
  std::shared_ptr<const FileBytes> file_;
  Node::RawPieces pieces_;
};

}  // namespace ts::inline v0::io::hdf5
