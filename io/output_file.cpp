#include "tallskinny/io/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <random>
#include <system_error>
#include <vector>

#include "tallskinny/io/conventions/binsparse_descriptor.hpp"
#include "tallskinny/io/hermitian.hpp"
#include "tallskinny/io/write/h5_writer.hpp"

namespace ts::io {

namespace {

using hdf5::Stored;

std::string system_message(int error) {
  return std::generic_category().message(error);
}

template <class T>
constexpr Stored stored_of() {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return Stored::int64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Stored::int32;
  else
    return static_cast<Stored>(dtype_of<T>);
}
static_assert(stored_of<double>() == Stored::float64 && stored_of<bfloat16>() == Stored::bfloat16 &&
              stored_of<std::complex<float>>() == Stored::complex64 &&
              stored_of<float16>() == Stored::float16);

/// The file that a path stands for: behind symbolic links, and certainly no device.
std::filesystem::path real_target(std::filesystem::path target) {
  std::error_code failed;
  if (std::filesystem::is_symlink(target, failed)) {
    const auto behind = std::filesystem::weakly_canonical(target, failed);
    if (!failed) target = behind;
  }
  if (target.filename().empty())
    throw Error(Errc::io_failure, "'" + target.string() + "' names no file to write");
  const auto status = std::filesystem::status(target, failed);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Error(Errc::io_failure,
                target.string() + " is not a regular file; results are not written over it");
  return target;
}

/// A name that no other process has: process numbers repeat, in containers they are all 1.
std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  std::random_device random;
  const std::string name =
      "." + target.filename().string() + "." + std::to_string(random()) + std::to_string(random()) + ".tmp";
  return target.parent_path() / name;
}

/// Waits until what was written to a file or a folder is on the disk.
void sync(const std::filesystem::path& path, bool folder, const std::string& name) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (folder ? O_DIRECTORY : 0));
  const bool done = descriptor >= 0 && (::fsync(descriptor) == 0 || (folder && errno == EINVAL));
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!done)
    throw Error(Errc::io_failure, name + " could not be brought to the disk: " + system_message(error));
}

}  // namespace

class OutputFile::Body {
 public:
  Body(const std::filesystem::path& path, const OutputOptions& options)
      : target(real_target(path)), temporary(temporary_beside(target)) {
    const auto folder = target.parent_path().empty() ? std::filesystem::path(".") : target.parent_path();
    std::error_code failed;
    if (!std::filesystem::is_directory(folder, failed))
      throw Error(Errc::io_failure,
                  target.string() + " cannot be created: there is no folder " + folder.string());
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
      throw Error(Errc::io_failure, target.string() + " cannot be created: " + system_message(errno) +
                                        " in " + folder.string());
    expects(options.gzip >= 0 && options.gzip <= 9, "a gzip level lies between 0 (none) and 9");
    try {
      writer.emplace(temporary, target.string(), options.gzip);
    } catch (...) {
      ::unlink(temporary.c_str());  // HDF5 leaves an empty file where its first bytes find no room
      throw;
    }
  }
  ~Body() {
    writer.reset();
    if (!committed) ::unlink(temporary.c_str());
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  hdf5::Writer& open() {
    if (committed)
      throw Error(Errc::invalid_argument, target.string() + " is finished; nothing can be added");
    return *writer;
  }

  template <class T>
  void write_list(std::string_view object, std::span<const T> values) {
    const auto count = static_cast<index_t>(values.size());
    auto dataset = open().create(object, stored_of<T>(), {count});
    writer->write_rows(dataset, object, stored_of<T>(), 0, count, values.data());
    writer->finish(std::move(dataset), object);
  }

  std::filesystem::path target, temporary;
  std::optional<hdf5::Writer> writer;
  bool committed = false;
};

OutputFile::OutputFile(const std::filesystem::path& target, const OutputOptions& options)
    : body_(std::make_unique<Body>(target, options)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view object, std::span<const double> values) {
  body_->write_list(object, values);
}
void OutputFile::write(std::string_view object, std::span<const float> values) {
  body_->write_list(object, values);
}
void OutputFile::write(std::string_view object, std::span<const std::complex<double>> values) {
  body_->write_list(object, values);
}
void OutputFile::write(std::string_view object, std::span<const std::complex<float>> values) {
  body_->write_list(object, values);
}
void OutputFile::write(std::string_view object, std::span<const std::int64_t> values) {
  body_->write_list(object, values);
}
void OutputFile::write(std::string_view object, std::span<const std::int32_t> values) {
  body_->write_list(object, values);
}

template <class T>
void OutputFile::write_matrix(std::string_view object, Strided<const T> a) {
  hdf5::Writer& writer = body_->open();
  constexpr Stored type = stored_of<T>();
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

void OutputFile::write(std::string_view object, double value) {
  body_->open().write_scalar(object, Stored::float64, &value);
}
void OutputFile::write(std::string_view object, std::int64_t value) {
  body_->open().write_scalar(object, Stored::int64, &value);
}
void OutputFile::write(std::string_view object, std::string_view value) {
  body_->open().write_text(object, value);
}
void OutputFile::attribute(std::string_view object, std::string_view name, double value) {
  body_->open().scalar_attribute(object, name, Stored::float64, &value);
}
void OutputFile::attribute(std::string_view object, std::string_view name, std::int64_t value) {
  body_->open().scalar_attribute(object, name, Stored::int64, &value);
}
void OutputFile::attribute(std::string_view object, std::string_view name, std::string_view value) {
  body_->open().text_attribute(object, name, value);
}

template <class T>
void OutputFile::write_binsparse(std::string_view group, CsrView<T> a, Structure structure) {
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t k = a.pointers[i] + 1; k < a.pointers[i + 1]; ++k)
      expects(a.indices[k - 1] < a.indices[k],
              "Binsparse wants the columns of every row sorted and without duplicates");
  CsrMatrix<T> lower;
  if (structure != Structure::general) {
    expects(!first_asymmetry(a, structure),
            "the matrix does not have the structure that it is to be stored with");
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
    d.structure = structure == Structure::skew_symmetric ? "skew_symmetric_lower"
                                                         : std::string(name_of(structure)) + "_lower";

  const std::string base = group.ends_with('/') ? std::string(group) : std::string(group) + "/";
  const auto size = static_cast<std::size_t>(count);
  const index_t none = 0;
  body_->open().create_group(group);
  write(base + "pointers_to_1",
        a.rows > 0 ? std::span<const index_t>(a.pointers, static_cast<std::size_t>(a.rows) + 1)
                   : std::span<const index_t>(&none, 1));
  write(base + "indices_1", std::span<const std::int32_t>(a.indices, size));
  write(base + "values",
        std::span<const Real>(reinterpret_cast<const Real*>(a.values), is_complex<T> ? 2 * size : size));
  attribute(group, "binsparse", format_binsparse(d));
}

void OutputFile::commit() {
  body_->open().close();
  const std::string name = body_->target.string();
  sync(body_->temporary, false, name);
  struct stat old {};
  if (::stat(body_->target.c_str(), &old) == 0) ::chmod(body_->temporary.c_str(), old.st_mode & 07777);
  if (::rename(body_->temporary.c_str(), body_->target.c_str()) != 0)
    throw Error(Errc::io_failure, name + " could not be put in its place: " + system_message(errno));
  body_->committed = true;
  const auto folder = body_->target.parent_path();
  sync(folder.empty() ? std::filesystem::path(".") : folder, true, name);
}

const std::filesystem::path& OutputFile::target() const noexcept {
  return body_->target;
}

#define TS_INSTANTIATE(T) template void OutputFile::write_matrix<T>(std::string_view, Strided<const T>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) \
  template void OutputFile::write_binsparse<T>(std::string_view, CsrView<T>, Structure);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::io
