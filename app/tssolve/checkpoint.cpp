#include "tallskinny/app/tssolve/checkpoint.hpp"

#include <string>

#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::app::tssolve {

namespace {

class Fnv1a {
 public:
  template <class E>
  void add(const E* data, std::size_t count) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < count * sizeof(E); ++i) hash_ = (hash_ ^ bytes[i]) * 0x100000001b3u;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

std::string matrix_name(std::size_t i) {
  return "matrix_" + std::to_string(i);
}

/// A state may hold infinities and NaN where nothing is known yet.
template <class T>
Matrix<T> read(const std::filesystem::path& file, const std::string& object) {
  io::ReadOptions options;
  options.check_finite = false;
  return io::read_dense_as<T>({file, "/" + object}, options);
}

std::vector<double> read_numbers(const std::filesystem::path& file, const std::string& object) {
  const auto column = read<double>(file, object);
  return {column.data(), column.data() + column.rows() * column.cols()};
}

/// Both halves are exact as numbers.
std::vector<double> halves(std::uint64_t x) {
  return {static_cast<double>(x >> 32), static_cast<double>(x & 0xffffffffu)};
}

}  // namespace

template <class T>
std::uint64_t fingerprint(const AnyMatrix<T>& matrix) {
  Fnv1a hash;
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) {
    hash.add(sparse->pointers.data(), sparse->pointers.size());
    hash.add(sparse->indices.data(), sparse->indices.size());
    hash.add(sparse->values.data(), sparse->values.size());
  } else {
    const auto& dense = std::get<Matrix<T>>(matrix);
    hash.add(dense.data(), static_cast<std::size_t>(dense.rows() * dense.cols()));
  }
  return hash.value();
}

template <class T>
Checkpoint<T>::Checkpoint(std::filesystem::path file, double every, std::uint64_t matrix)
    : file_(std::move(file)), every_(every), matrix_(matrix) {
  if (!file_.empty() && std::filesystem::exists(file_)) load();
}

template <class T>
void Checkpoint<T>::load() {
  std::vector<double> of_matrix;
  try {
    of_matrix = read_numbers(file_, "matrix");
  } catch (const Error& e) {
    if (e.code() != Errc::bad_input) throw;
    throw Error(Errc::bad_input,
                file_.string() + " is not a checkpoint of tssolve: name another --checkpoint");
  }
  if (of_matrix != halves(matrix_))
    throw Error(Errc::bad_input, file_.string() +
                                     " holds the state of a run on another matrix; remove it or name another "
                                     "--checkpoint");
  auto loaded = std::make_unique<Loaded>();
  loaded->state.numbers = read_numbers(file_, "numbers");
  const auto shapes = read_numbers(file_, "shapes");
  for (std::size_t i = 0; i + 1 < shapes.size(); i += 2) {
    const auto rows = static_cast<index_t>(shapes[i]), cols = static_cast<index_t>(shapes[i + 1]);
    loaded->state.matrices.push_back(rows * cols > 0 ? read<T>(file_, matrix_name(i / 2))
                                                     : Matrix<T>(rows, cols));
  }
  loaded->basis = read<T>(file_, "basis");
  loaded->state.basis = loaded->basis.cview();
  loaded_ = std::move(loaded);
}

template <class T>
void Checkpoint<T>::write(const solvers::SavedState<T>& state) {
  io::OutputFile out(file_);
  out.write("matrix", std::span<const double>(halves(matrix_)));
  out.write("numbers", std::span<const double>(state.numbers));
  std::vector<double> shapes;
  for (std::size_t i = 0; i < state.matrices.size(); ++i) {
    const auto& m = state.matrices[i];
    shapes.push_back(static_cast<double>(m.rows())), shapes.push_back(static_cast<double>(m.cols()));
    if (!m.empty()) out.write(matrix_name(i), m);
  }
  out.write("shapes", std::span<const double>(shapes));
  out.write("basis", state.basis);
  out.commit();
  since_ = {};
}

template <class T>
solvers::Checkpointing<T> Checkpoint<T>::hooks() {
  solvers::Checkpointing<T> hooks;
  if (file_.empty()) return hooks;
  hooks.due = [this] { return since_.seconds() >= every_; };
  hooks.write = [this](const solvers::SavedState<T>& state) { write(state); };
  if (loaded_) hooks.resume = &loaded_->state;
  return hooks;
}

template <class T>
void Checkpoint<T>::remove() const {
  std::error_code ignored;  // it may never have been written
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

#define TS_INSTANTIATE(T)                                     \
  template std::uint64_t fingerprint<T>(const AnyMatrix<T>&); \
  template class Checkpoint<T>;
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::app::tssolve
