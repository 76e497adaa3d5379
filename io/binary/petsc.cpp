// PETSc's binary files: matrices (AIJ and dense) and vectors, one after the other, big-endian, with indices of 32 or 64
// bits and scalars that the file does not name. https://petsc.org/release/manualpages/Mat/MatLoad
#include <array>

#include "tallskinny/io/binary/npy.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/matrix/pairs.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

constexpr index_t of_matrix = 1211216, of_vector = 1211214;

struct PetscObject {
  std::string name;  ///< its number in the file, from 0
  bool vector = false, sparse = false;
  index_t rows = 0, cols = 1, entries = 0;
  std::uint64_t lengths = 0, columns = 0, values = 0, end = 0;  ///< places in the file
};

class PetscFile {
 public:
  PetscFile(const std::filesystem::path& file, const ReadOptions& options) : bytes_(npy_bytes(file)), file_(file) {
    std::array<std::byte, 4> first{};
    if (bytes_.size < 16) refuse("is truncated: it ends within its first numbers");
    bytes_.read(0, first);
    wide_ = first == std::array<std::byte, 4>{};
    if (options.scalars) {
      scalar_ = *options.scalars;
      if (!find_objects())
        refuse(joined("is truncated, or its elements are not ", name_of(scalar_), ", as --scalars says"));
      return;
    }
    for (const DType type : {DType::float64, DType::complex128, DType::float32}) {
      scalar_ = type;
      if (find_objects()) return;
    }
    refuse("is truncated, or no file of PETSc: its length fits neither float64 nor complex128 nor float32");
  }

  [[nodiscard]] const std::vector<PetscObject>& objects() const noexcept { return objects_; }
  [[nodiscard]] DType scalar() const noexcept { return scalar_; }
  [[nodiscard]] Location where(const PetscObject& object) const {
    return {file_, objects_.size() == 1 ? "" : object.name};
  }
  [[noreturn]] void refuse(const std::string& cause) const { io::refuse(file_, cause); }

  /// The object that is meant: the one named, or the only matrix, or the only object.
  [[nodiscard]] const PetscObject& chosen(const std::string& object) const {
    const std::string name = object.starts_with('/') ? object.substr(1) : object;
    std::vector<const PetscObject*> matrices;
    for (const PetscObject& o : objects_) {
      if (o.name == name) return o;
      if (!o.vector) matrices.push_back(&o);
    }
    const auto count = std::to_string(objects_.size());
    if (!name.empty()) refuse("has no object '" + name + "'; its " + count + " objects are numbered from 0");
    if (matrices.size() == 1) return *matrices.front();
    if (objects_.size() == 1) return objects_.front();
    refuse("holds " + count + " objects; choose one as " + file_.string() + ":0, " + file_.string() + ":1, ...");
  }

  /// A list in the file as a dense column, or a matrix.
  [[nodiscard]] NpyHeader scalars(std::uint64_t start, index_t rows, index_t cols) const {
    NpyHeader h;
    h.kind = parts_of(scalar_) == 2 ? 'c' : 'f', h.bytes = static_cast<index_t>(size_of(scalar_)), h.swapped = true;
    h.rows = rows, h.cols = cols, h.start = start;
    h.stored_type = "big-endian " + std::string(name_of(scalar_));
    return h;
  }
  [[nodiscard]] DenseMatrix values_of(const PetscObject& o) const {
    ReadOptions how;
    how.check_finite = false;
    return std::get<DenseMatrix>(read_array(bytes_, scalars(o.values, o.entries, 1), where(o), how).matrix);
  }
  [[nodiscard]] Matrix<double> integers(std::uint64_t start, index_t count) const {
    NpyHeader h;
    h.kind = 'i', h.bytes = integer_bytes(), h.swapped = true, h.rows = count, h.cols = 1, h.start = start;
    return std::get<Matrix<double>>(std::get<DenseMatrix>(read_array(bytes_, h, {file_, ""}, {}).matrix));
  }
  [[nodiscard]] const NpyBytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] index_t integer_bytes() const noexcept { return wide_ ? 8 : 4; }

 private:
  /// The integers from `offset` on; nothing where the file ends before.
  template <std::size_t count>
  [[nodiscard]] std::optional<std::array<index_t, count>> read_integers(std::uint64_t offset) const {
    const auto width = static_cast<std::size_t>(integer_bytes());
    std::array<std::byte, 8 * count> raw{};
    if (bytes_.size < offset || bytes_.size - offset < count * width) return std::nullopt;
    bytes_.read(offset, std::span(raw).first(count * width));
    std::array<index_t, count> numbers{};
    for (std::size_t k = 0; k < count; ++k) {
      std::uint64_t bits = 0;
      for (std::size_t b = 0; b < width; ++b) bits = bits << 8 | std::to_integer<std::uint64_t>(raw[k * width + b]);
      numbers[k] = wide_ ? static_cast<index_t>(bits) : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    }
    return numbers;
  }

  /// Lists the objects of a file whose scalars have this type. False if it is not a row of objects to its end.
  [[nodiscard]] bool find_objects() {
    objects_.clear();
    for (std::uint64_t at = 0; at < bytes_.size;) {
      auto object = object_at(at);
      if (!object || object->end > bytes_.size) return false;
      at = object->end;
      object->name = std::to_string(objects_.size());
      objects_.push_back(std::move(*object));
    }
    return true;
  }

  [[nodiscard]] std::optional<PetscObject> object_at(std::uint64_t at) const {
    const auto width = integer_bytes(), scalar = static_cast<index_t>(size_of(scalar_));
    const auto start = read_integers<2>(at);
    if (!start || (*start)[1] < 0) return std::nullopt;
    PetscObject o;
    o.rows = o.entries = (*start)[1];
    if ((*start)[0] == of_vector) {
      o.vector = true, o.values = at + 2 * static_cast<std::uint64_t>(width);
      o.end = sum({o.values, product({o.entries, scalar})});
      return o;
    }
    const auto more = read_integers<2>(at + 2 * static_cast<std::uint64_t>(width));
    if ((*start)[0] != of_matrix || !more || (*more)[0] < 0 || (*more)[1] < -1) return std::nullopt;
    o.cols = (*more)[0], o.sparse = (*more)[1] >= 0;
    o.lengths = at + 4 * static_cast<std::uint64_t>(width);
    if (!o.sparse) {
      o.values = o.lengths, o.end = sum({o.values, product({o.rows, o.cols, scalar})});
      return o;
    }
    o.entries = (*more)[1];
    o.columns = sum({o.lengths, product({o.rows, width})});
    o.values = sum({o.columns, product({o.entries, width})});
    o.end = sum({o.values, product({o.entries, scalar})});
    return o;
  }

  NpyBytes bytes_;
  std::filesystem::path file_;
  bool wide_ = false;  ///< integers of 64 bits
  DType scalar_ = DType::float64;
  std::vector<PetscObject> objects_;
};

Description description_of(const PetscFile& file, const PetscObject& o, const ReadOptions& options) {
  Description d = describe_array(file.scalars(o.values, o.rows, o.cols), file.where(o), options);
  d.convention = std::string("PETSc ") + (o.vector ? "Vec" : o.sparse ? "AIJ" : "dense");
  if (!o.sparse) return d;
  set_lines(d, o.rows, o.cols, o.entries, options);
  return d;
}

WholeLines lines_of(const PetscFile& file, const PetscObject& o) {
  WholeLines lines{o.rows, o.cols, false, {0}, {}};
  lines.pointers.reserve(static_cast<std::size_t>(o.rows) + 1);
  lines.minor.reserve(static_cast<std::size_t>(o.entries));
  const Matrix<double> lengths = file.integers(o.lengths, o.rows), columns = file.integers(o.columns, o.entries);
  for (index_t i = 0; i < o.rows; ++i)
    lines.pointers.push_back(lines.pointers.back() + static_cast<index_t>(lengths.data()[i]));
  for (index_t k = 0; k < o.entries; ++k) lines.minor.push_back(static_cast<index_t>(columns.data()[k]));
  return lines;
}

Description describe_petsc(const Location& where, const ReadOptions& options) {
  const PetscFile file(where.file, options);
  return description_of(file, file.chosen(where.object), options);
}

MatrixFile read_petsc(const Location& where, const ReadOptions& options) {
  const PetscFile file(where.file, options);
  const PetscObject& o = file.chosen(where.object);
  MatrixFile result{description_of(file, o, options), {}};
  if (!o.sparse) {
    result.matrix = read_array(file.bytes(), file.scalars(o.values, o.rows, o.cols), file.where(o), options).matrix;
    return result;
  }
  require_memory(result.description.peak_bytes, options.memory_limit, result.description.where.text());
  const WholeLines lines = lines_of(file, o);
  const DenseMatrix values = file.values_of(o);
  result.matrix = std::visit(
      [&]<class T>(const Matrix<T>& list) -> SparseMatrix {
        if constexpr (sizeof(T) == 2)
          file.refuse("has elements of two bytes");
        else
          return assembled<T>(lines, list.data(), result.description, options);
      },
      values);
  return result;
}

std::vector<Description> list_petsc(const Location& where, const ReadOptions& options) {
  const PetscFile file(where.file, options);
  std::vector<Description> found;
  found.reserve(file.objects().size());
  for (const PetscObject& o : file.objects()) found.push_back(description_of(file, o, options));
  return found;
}

}  // namespace

const Format formats::petsc = {.name = "petsc",
                               .matches =
                                   [](const std::string&, std::string_view start) {
                                     if (start.starts_with(std::string_view("\0\0\0\0", 4))) start.remove_prefix(4);
                                     return start.starts_with(std::string_view("\0\x12\x7b\x50", 4)) ||
                                            start.starts_with(std::string_view("\0\x12\x7b\x4e", 4));
                                   },
                               .describe = describe_petsc,
                               .read = read_petsc,
                               .list = list_petsc};

}  // namespace ts::inline v0::io
