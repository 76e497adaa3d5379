#include "tallskinny/app/tssolve/checkpoint.hpp"

#include <string>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/io/hash.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::app::tssolve {

namespace {

std::string matrix_name(std::size_t i) { return "matrix_" + std::to_string(i); }

/// A state may hold infinities and NaN where nothing is known yet.
template <class T>
Matrix<T> read(const std::string& file, const std::string& object) {
  io::ReadOptions options;
  options.check_finite = false;
  return io::read_dense_as<T>({file, "/" + object}, options);
}

std::vector<double> read_numbers(const std::string& file, const std::string& object) {
  const auto column = read<double>(file, object);
  return {column.data(), column.data() + column.rows() * column.cols()};
}

/// Both halves are exact as numbers.
std::vector<double> halves(std::uint64_t x) {
  return {static_cast<double>(x >> 32), static_cast<double>(x & 0xffffffffu)};
}

}  // namespace

template <class T>
std::uint64_t fingerprint(const Context& ctx, const AnyMatrix<T>& rows) {
  const auto whole = [&](std::uint64_t kind, index_t here, index_t cols, const auto& view) {
    const index_t all = all_rows(ctx, here);
    const std::vector<std::uint64_t> mine = io::row_hashes<T>(view, row_unit(all), ctx.thread_count());
    const std::vector<std::uint64_t> hashes = gather_lists<std::uint64_t>(ctx, mine);
    return io::Hash()
        .add(kind)
        .add(static_cast<std::uint64_t>(all))
        .add(static_cast<std::uint64_t>(cols))
        .add(std::span<const std::uint64_t>(hashes))
        .value();
  };
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&rows))
    return whole(1, sparse->rows, sparse->cols, sparse->view());
  const auto& dense = std::get<Matrix<T>>(rows);
  return whole(2, dense.rows(), dense.cols(), dense.cview());
}

template <class T>
std::uint64_t fingerprint(const Settings& settings, HostView<const T> initial) {
  const auto& o = settings.eigen;
  io::Hash hash;
  const auto add = [&hash](auto whole) { hash.add(static_cast<std::uint64_t>(whole)); };
  add(is_complex<T>), add(settings.general), add(settings.part), add(o.which), add(o.convergence), add(o.method);
  add(o.nev), add(o.block_size), add(o.max_basis), add(o.seed), add(settings.sigma.has_value());
  if (settings.reorder != solvers::Reordering::none) add(settings.reorder);
  hash.add(o.tol).add(settings.sigma.value_or(0)).add(settings.sigma_imaginary);
  add(initial.rows()), add(initial.cols());
  for (index_t i = 0; i < initial.rows(); ++i)
    for (index_t j = 0; j < initial.cols(); ++j) hash.add(&initial(i, j), sizeof(T));
  return hash.value();
}

template <class T>
Checkpoint<T>::Checkpoint(CheckpointFile& file, std::uint64_t matrix, std::uint64_t options)
    : file_(file), matrix_(matrix), options_(options) {
  if (file_.resumes()) load();
}

template <class T>
void Checkpoint<T>::load() {
  file_.expect_whole();
  if (read_numbers(file_.name(), "matrix") != halves(matrix_))
    file_.refuse("holds the state of a run on another matrix, or on this one with another --reorder");
  if (read_numbers(file_.name(), "options") != halves(options_))
    file_.refuse(
        "holds the state of a run with other options than this one (as --nev, --which, --tol, --sigma, "
        "--block-size, --max-basis, --seed or --initial)",
        Errc::invalid_argument);
  auto loaded = std::make_unique<Loaded>();
  loaded->state.numbers = read_numbers(file_.name(), "numbers");
  const auto shapes = read_numbers(file_.name(), "shapes");
  constexpr double most = 9007199254740992.0;  // 2^53
  for (std::size_t i = 0; i + 1 < shapes.size(); i += 2) {
    if (!(shapes[i] >= 0 && shapes[i] <= most && shapes[i + 1] >= 0 && shapes[i + 1] <= most))
      file_.refuse("holds a state that no run can have");
    const auto rows = static_cast<index_t>(shapes[i]), cols = static_cast<index_t>(shapes[i + 1]);
    loaded->state.matrices.push_back(rows > 0 && cols > 0 ? read<T>(file_.name(), matrix_name(i / 2))
                                                          : Matrix<T>(rows, cols));
    if (loaded->state.matrices.back().rows() != rows || loaded->state.matrices.back().cols() != cols)
      file_.refuse("holds a state that no run can have");
  }
  loaded->basis = read<T>(file_.name(), "basis");
  loaded->state.basis = loaded->basis.cview();
  loaded_ = std::move(loaded);
}

template <class T>
void Checkpoint<T>::write(const solvers::SavedState<T>& state) {
  file_.write([&](io::OutputFile& out) {
    out.write("matrix", std::span<const double>(halves(matrix_)));
    out.write("options", std::span<const double>(halves(options_)));
    out.write("numbers", std::span<const double>(state.numbers));
    std::vector<double> shapes;
    for (std::size_t i = 0; i < state.matrices.size(); ++i) {
      const auto& m = state.matrices[i];
      shapes.push_back(static_cast<double>(m.rows())), shapes.push_back(static_cast<double>(m.cols()));
      if (!m.empty()) out.write(matrix_name(i), m);
    }
    out.write("shapes", std::span<const double>(shapes));
    out.write("basis", state.basis);
  });
}

template <class T>
solvers::Checkpointing<T> Checkpoint<T>::hooks() {
  solvers::Checkpointing<T> hooks;
  if (!file_.asked_for()) return hooks;
  hooks.due = [this] { return file_.due(); };
  hooks.write = [this](const solvers::SavedState<T>& state) { write(state); };
  if (loaded_) hooks.resume = &loaded_->state;
  return hooks;
}

#define TS_INSTANTIATE(T)                                                     \
  template std::uint64_t fingerprint<T>(const Context&, const AnyMatrix<T>&); \
  template std::uint64_t fingerprint<T>(const Settings&, HostView<const T>);  \
  template class Checkpoint<T>;
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::app::tssolve
