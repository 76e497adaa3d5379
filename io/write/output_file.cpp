#include "tallskinny/io/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/hash.hpp"
#include "tallskinny/io/hermitian.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/write/h5_writer.hpp"
#include "tallskinny/io/write/new_file.hpp"

namespace ts::inline v0::io {

namespace {

/// Bytes of the user block of a file with a signature: kind of file, its length and checksum.
constexpr std::size_t seal_bytes = 512;

/// Reads all of `bytes`. Returns 0, or the error number.
int read_at(int descriptor, char* out, std::size_t bytes, std::size_t from) {
  while (bytes > 0) {
    const ssize_t count = ::pread(descriptor, out, bytes, static_cast<off_t>(from));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    out += count, from += static_cast<std::size_t>(count), bytes -= static_cast<std::size_t>(count);
  }
  return 0;
}

/// The block that belongs before what an open file of `bytes` bytes holds; an error number if it cannot be
/// read.
int block_of(int descriptor, std::size_t bytes, std::string_view signature, std::string& block) {
  Hash hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::size_t at = seal_bytes; at < bytes; at += buffer.size()) {
    buffer.resize(std::min(buffer.size(), bytes - at));
    if (const int error = read_at(descriptor, buffer.data(), buffer.size(), at); error != 0) return error;
    hash.add(buffer.data(), buffer.size());
  }
  block = joined(signature, "\nbytes ", bytes, "\nchecksum ", hash.value(), "\n");
  expects(block.size() <= seal_bytes, "a signature is a short line");
  block.resize(seal_bytes, '\0');
  return 0;
}

/// Writes the block before what the finished file holds. @throws Error(io_failure).
void seal(const NewFile& file, std::string_view signature) {
  struct stat status {};
  std::string block;
  int error = ::fstat(file.descriptor(), &status) == 0 ? 0 : errno;
  if (error == 0) error = block_of(file.descriptor(), static_cast<std::size_t>(status.st_size), signature, block);
  if (error == 0 && ::pwrite(file.descriptor(), block.data(), seal_bytes, 0) != ssize_t{seal_bytes}) error = EIO;
  if (error != 0)
    throw Error(Errc::io_failure,
                file.target().string() + " could not be sealed: " + std::generic_category().message(error));
}

}  // namespace

SealState state_of_seal(const std::filesystem::path& file, std::string_view signature, bool contents) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int error = descriptor >= 0 ? 0 : errno;
  struct stat status {};
  if (error == 0 && ::fstat(descriptor, &status) != 0) error = errno;
  SealState state = SealState::foreign;
  if (error == 0 && S_ISREG(status.st_mode) && status.st_size >= off_t{seal_bytes}) {
    std::string found(seal_bytes, '\0'), expected;
    error = read_at(descriptor, found.data(), seal_bytes, 0);
    if (error == 0 && found.starts_with(std::string(signature) + "\n")) {
      if (contents) error = block_of(descriptor, static_cast<std::size_t>(status.st_size), signature, expected);
      state = !contents || found == expected ? SealState::whole : SealState::damaged;
    }
  }
  if (descriptor >= 0) ::close(descriptor);
  if (error != 0) refuse(file, joined("cannot be read: ", std::generic_category().message(error)));
  return state;
}

class OutputFile::Impl {
 public:
  Impl(const std::filesystem::path& path, const OutputOptions& options) : file(path), signature(options.signature) {
    expects(options.gzip >= 0 && options.gzip <= 9, "a gzip level lies between 0 (none) and 9");
    writer.emplace(file.temporary(), file.target().string(), options.gzip, signature.empty() ? 0 : seal_bytes);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  hdf5::Writer& open() {
    if (committed) throw Error(Errc::invalid_argument, file.target().string() + " is finished; nothing can be added");
    return *writer;
  }

  /// The writer, for an object; those of a group are listed as the group.
  hdf5::Writer& open_for(std::string_view object) {
    hdf5::Writer& opened = open();
    if (object.starts_with('/')) object.remove_prefix(1);
    const std::string top(object.substr(0, object.find('/')));
    if (!top.empty() && std::find(objects.begin(), objects.end(), top) == objects.end()) objects.push_back(top);
    return opened;
  }

  template <class T>
  void write_list(std::string_view object, std::span<const T> values) {
    const auto count = static_cast<index_t>(values.size());
    auto dataset = open_for(object).create(object, hdf5::memory_type_of<T>, {count});
    writer->write_rows(dataset, object, hdf5::memory_type_of<T>, 0, count, values.data());
    writer->finish(std::move(dataset), object);
  }

  /// A dataset that is not whole yet.
  struct Begun {
    hdf5::Handle dataset;
    hdf5::MemoryType type;
    index_t rows, width;  ///< elements of a row
    index_t there = 0;    ///< rows
  };

  void end_if_whole(std::string_view object) {
    const auto found = begun.find(object);
    if (found->second.there < found->second.rows && found->second.width > 0) return;
    hdf5::Handle dataset = std::move(found->second.dataset);
    begun.erase(found);
    writer->finish(std::move(dataset), object);
  }

  NewFile file;  // outlives the writer
  std::string signature;
  std::vector<std::string> objects;
  std::optional<hdf5::Writer> writer;
  std::map<std::string, Begun, std::less<>> begun;  // ends before the writer
  bool committed = false;
};

OutputFile::OutputFile(const std::filesystem::path& target, const OutputOptions& options)
    : impl_(std::make_shared<Impl>(target, options)) {}

#define TS_WRITE_LIST(T) \
  void OutputFile::write(std::string_view object, std::span<const T> values) { impl_->write_list(object, values); }
TS_FOR_EACH_RESULT_TYPE(TS_WRITE_LIST)
TS_WRITE_LIST(std::int64_t)
TS_WRITE_LIST(std::int32_t)
#undef TS_WRITE_LIST

template <class T>
void OutputFile::write_matrix(std::string_view object, Strided<const T> a) {
  hdf5::Writer& writer = impl_->open_for(object);
  constexpr hdf5::MemoryType type = hdf5::memory_type_of<T>;
  auto dataset = writer.create(object, type, {a.rows, a.cols});
  if (a.col_stride == 1 && a.row_stride == a.cols) {
    writer.write_rows(dataset, object, type, 0, a.rows, a.data);
    return writer.finish(std::move(dataset), object);
  }
  // Other layouts pass through a buffer of whole rows, as many as a chunk has.
  const index_t row_bytes = std::max<index_t>(1, a.cols) * static_cast<index_t>(sizeof(T));
  const index_t slab = std::max<index_t>(1, (index_t{1} << 20) / row_bytes);
  std::vector<T> rows(static_cast<std::size_t>(std::min(slab, a.rows) * a.cols));
  for (index_t begin = 0; begin < a.rows; begin += slab) {
    const index_t count = std::min(slab, a.rows - begin);
    for (index_t i = 0; i < count; ++i)
      for (index_t j = 0; j < a.cols; ++j) rows[static_cast<std::size_t>(i * a.cols + j)] = a(begin + i, j);
    writer.write_rows(dataset, object, type, begin, count, rows.data());
  }
  writer.finish(std::move(dataset), object);
}

template <class T>
void OutputFile::begin_rows(std::string_view object, index_t rows, index_t cols) {
  expects(rows >= 0 && cols >= -1, "a dataset has negative rows or columns");
  std::vector<index_t> dims = {rows};
  if (cols >= 0) dims.push_back(cols);
  hdf5::Handle dataset = impl_->open_for(object).create(object, hdf5::memory_type_of<T>, dims);
  impl_->begun.emplace(std::string(object),
                       Impl::Begun{std::move(dataset), hdf5::memory_type_of<T>, rows, cols >= 0 ? cols : index_t{1}});
  impl_->end_if_whole(object);
}

template <class T>
void OutputFile::add_rows(std::string_view object, std::span<const T> values) {
  hdf5::Writer& writer = impl_->open();
  const auto found = impl_->begun.find(object);
  if (found == impl_->begun.end() || found->second.type != hdf5::memory_type_of<T>)
    throw Error(Errc::invalid_argument, std::string(object) + " was not begun with elements of this type, or is whole");
  Impl::Begun& begun = found->second;
  const index_t size = std::ssize(values), count = begun.width > 0 ? size / begun.width : 0;
  if (count * begun.width != size || count > begun.rows - begun.there)
    throw Error(Errc::invalid_argument, joined(size, " values are no whole rows of the ", begun.rows - begun.there,
                                               " x ", begun.width, " that ", object, " still takes"));
  writer.write_rows(begun.dataset, object, begun.type, begun.there, count, values.data());
  begun.there += count;
  impl_->end_if_whole(object);
}

void OutputFile::write(std::string_view object, double value) {
  impl_->open_for(object).write_scalar(object, hdf5::MemoryType::float64, &value);
}
void OutputFile::write(std::string_view object, std::int64_t value) {
  impl_->open_for(object).write_scalar(object, hdf5::MemoryType::int64, &value);
}
void OutputFile::write(std::string_view object, std::string_view value) {
  impl_->open_for(object).write_text(object, value);
}
void OutputFile::attribute(std::string_view object, std::string_view name, double value) {
  impl_->open().scalar_attribute(object, name, hdf5::MemoryType::float64, &value);
}
void OutputFile::attribute(std::string_view object, std::string_view name, std::int64_t value) {
  impl_->open().scalar_attribute(object, name, hdf5::MemoryType::int64, &value);
}
void OutputFile::attribute(std::string_view object, std::string_view name, std::string_view value) {
  impl_->open().text_attribute(object, name, value);
}

template <class T>
void OutputFile::write_binsparse(std::string_view group, CsrView<T> a, Structure structure) {
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t k = a.pointers[i] + 1; k < a.pointers[i + 1]; ++k)
      expects(a.indices[k - 1] < a.indices[k],
              "Binsparse wants the columns of every row sorted and without duplicates");
  CsrMatrix<T> lower;
  if (structure != Structure::general) {
    expects(!first_asymmetry(a, structure), "the matrix does not have the structure that it is to be stored with");
    lower.rows = a.rows, lower.cols = a.cols;
    const auto most = static_cast<std::size_t>((a.nonzeros() + a.rows) / 2);  // half, and a full diagonal
    lower.pointers.reserve(static_cast<std::size_t>(a.rows) + 1);
    lower.indices.reserve(most), lower.values.reserve(most);
    for (index_t i = 0; i < a.rows; ++i) {
      for (index_t k = a.pointers[i]; k < a.pointers[i + 1] && a.indices[k] <= i; ++k)
        lower.indices.push_back(a.indices[k]), lower.values.push_back(a.values[k]);
      lower.pointers.push_back(static_cast<index_t>(lower.indices.size()));
    }
    a = lower.view();
  }
  const index_t count = a.nonzeros();
  using Real = real_t<T>;
  const std::string real_name(name_of(dtype_of<Real>));
  BinsparseDescriptor d;
  d.version = "0.1.0", d.format = "CSR", d.shape = {a.rows, a.cols}, d.stored_values = count;
  d.data_types = {{"pointers_to_1", "int64"},
                  {"indices_1", "int32"},
                  {"values", is_complex<T> ? "complex[" + real_name + "]" : real_name}};
  if (structure != Structure::general)
    d.structure =
        structure == Structure::skew_symmetric ? "skew_symmetric_lower" : std::string(name_of(structure)) + "_lower";

  const std::string base = group.ends_with('/') ? std::string(group) : std::string(group) + "/";
  const auto size = static_cast<std::size_t>(count);
  const index_t none = 0;
  impl_->open().create_group(group);
  write(base + "pointers_to_1", a.rows > 0 ? std::span<const index_t>(a.pointers, static_cast<std::size_t>(a.rows) + 1)
                                           : std::span<const index_t>(&none, 1));
  write(base + "indices_1", std::span<const std::int32_t>(a.indices, size));
  write(base + "values",
        std::span<const Real>(reinterpret_cast<const Real*>(a.values), is_complex<T> ? 2 * size : size));
  attribute(group, "binsparse", format_binsparse(d));
}

void OutputFile::commit() {
  hdf5::Writer& writer = impl_->open();
  if (!impl_->begun.empty()) {
    const auto& [object, begun] = *impl_->begun.begin();
    throw Error(Errc::invalid_argument,
                joined(target().string(), ":", object, " has ", begun.there, " of its ", begun.rows, " rows"));
  }
  writer.close();
  if (!impl_->signature.empty()) seal(impl_->file, impl_->signature);
  impl_->file.commit();
  impl_->committed = true;
}

const std::filesystem::path& OutputFile::target() const noexcept { return impl_->file.target(); }

std::string OutputFile::contents() const {
  std::string list;
  for (const std::string& object : impl_->objects) list += (list.empty() ? ": " : ", ") + object;
  return target().string() + list;
}

#define TS_INSTANTIATE_ROWS(T)                                                 \
  template void OutputFile::begin_rows<T>(std::string_view, index_t, index_t); \
  template void OutputFile::add_rows<T>(std::string_view, std::span<const T>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE_ROWS)
TS_INSTANTIATE_ROWS(std::int64_t)
TS_INSTANTIATE_ROWS(std::int32_t)
#undef TS_INSTANTIATE_ROWS
#define TS_INSTANTIATE(T) template void OutputFile::write_matrix<T>(std::string_view, Strided<const T>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) template void OutputFile::write_binsparse<T>(std::string_view, CsrView<T>, Structure);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::io
