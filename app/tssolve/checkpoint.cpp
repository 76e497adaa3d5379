#include "tallskinny/app/tssolve/checkpoint.hpp"

#include <algorithm>
#include <string>

#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/io/hash.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::app::tssolve {

namespace {

std::string matrix_name(std::size_t i) { return "matrix_" + std::to_string(i); }

/// A state may hold infinities and NaN where nothing is known yet.
template <class T>
Matrix<T> read(const std::string& file, const std::string& object, index_t begin = 0, index_t end = -1) {
  io::ReadOptions options;
  options.check_finite = false, options.row_begin = begin, options.row_end = end;
  return io::read_dense_as<T>({file, "/" + object}, options);
}

std::vector<double> read_numbers(const std::string& file, const std::string& object) {
  const auto column = read<double>(file, object);
  return {column.data(), column.data() + column.rows() * column.cols()};
}

index_t rows_here(const Context& ctx, index_t all) {
  return ctx.communicator->size() == 1 ? all : ctx.slabs.rows(ctx.communicator->rank());
}

/// Both halves are exact as numbers.
std::vector<double> halves(std::uint64_t x) {
  return {static_cast<double>(x >> 32), static_cast<double>(x & 0xffffffffu)};
}

}  // namespace

template <class T>
std::uint64_t fingerprint(const Context& ctx, const solvers::AnyView<T>& rows) {
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
  if (rows.sparse() != nullptr) return whole(1, rows.rows(), rows.cols(), *rows.sparse());
  return whole(2, rows.rows(), rows.cols(), rows.dense());
}

template <class T>
std::uint64_t fingerprint(const Context& ctx, const Settings& settings, HostView<const T> initial) {
  const auto& o = settings.eigen;
  io::Hash hash;
  const auto add = [&hash](auto whole) { hash.add(static_cast<std::uint64_t>(whole)); };
  add(is_complex<T>), add(settings.general), add(settings.part), add(o.which), add(o.convergence), add(o.method);
  add(o.nev), add(o.block_size), add(o.max_basis), add(o.seed), add(settings.sigma.has_value());
  if (settings.reorder != solvers::Reordering::none) add(settings.reorder);
  hash.add(o.tol).add(settings.sigma.value_or(0)).add(settings.sigma_imaginary);
  const index_t all = all_rows(ctx, initial.rows());
  add(all), add(initial.cols());
  const auto mine = io::row_hashes<T>(initial, row_unit(all), ctx.thread_count());
  return hash.add(std::span<const std::uint64_t>(gather_lists<std::uint64_t>(ctx, mine))).value();
}

template <class T>
Checkpoint<T>::Checkpoint(CheckpointFile& file, const Context& ctx, std::uint64_t matrix, std::uint64_t options)
    : file_(file), ctx_(ctx), matrix_(matrix), options_(options) {
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
  const auto shapes = read_numbers(file_.name(), "shapes"), tall = read_numbers(file_.name(), "tall");
  const auto own = [this](const std::string& object) {  // of all rows those of this rank
    if (ctx_.communicator->size() == 1) return read<T>(file_.name(), object);
    const int rank = ctx_.communicator->rank();
    return read<T>(file_.name(), object, ctx_.slabs.begin(rank), ctx_.slabs.begin(rank + 1));
  };
  constexpr double most = 9007199254740992.0;  // 2^53
  for (std::size_t i = 0; i + 1 < shapes.size(); i += 2) {
    if (!(shapes[i] >= 0 && shapes[i] <= most && shapes[i + 1] >= 0 && shapes[i + 1] <= most))
      file_.refuse("holds an invalid state");
    const std::size_t number = i / 2;
    const bool is_tall = std::find(tall.begin(), tall.end(), static_cast<double>(number)) != tall.end();
    const auto all = static_cast<index_t>(shapes[i]), cols = static_cast<index_t>(shapes[i + 1]);
    const index_t rows = is_tall ? rows_here(ctx_, all) : all;
    const std::string name = matrix_name(number);
    if (all == 0 || cols == 0)
      loaded->state.matrices.emplace_back(rows, cols);
    else
      loaded->state.matrices.push_back(is_tall ? own(name) : read<T>(file_.name(), name));
    if (loaded->state.matrices.back().rows() != rows || loaded->state.matrices.back().cols() != cols)
      file_.refuse("holds an invalid state");
  }
  loaded->basis = own("basis");
  loaded->state.basis = loaded->basis.cview();
  loaded_ = std::move(loaded);
}

template <class T>
void Checkpoint<T>::write(const solvers::SavedState<T>& state) {
  std::vector<OwnRows> blocks = {own_rows<T>(state.basis)};
  for (const std::size_t i : state.tall) blocks.push_back(own_rows<T>(state.matrices[i].cview()));
  with_rows_of_ranks(ctx_, blocks, [&](const RowsOfRanks& ranks) { write(state, ranks); });
  if (ctx_.communicator->rank() > 0) file_.written_by_another();
}

template <class T>
void Checkpoint<T>::write(const solvers::SavedState<T>& state, const RowsOfRanks& ranks) {
  const bool alone = ctx_.communicator->size() == 1;
  file_.write([&](io::OutputFile& out) {
    out.write("matrix", std::span<const double>(halves(matrix_)));
    out.write("options", std::span<const double>(halves(options_)));
    out.write("numbers", std::span<const double>(state.numbers));
    std::vector<double> shapes;
    for (std::size_t i = 0; i < state.matrices.size(); ++i) {
      const auto& m = state.matrices[i];
      const auto found = std::find(state.tall.begin(), state.tall.end(), i);
      const bool is_tall = found != state.tall.end() && !alone;
      const index_t rows = is_tall ? all_rows(ctx_, m.rows()) : m.rows();
      shapes.push_back(static_cast<double>(rows)), shapes.push_back(static_cast<double>(m.cols()));
      if (rows == 0 || m.cols() == 0) continue;
      if (is_tall)
        write_rows<T>(out, matrix_name(i), ranks, static_cast<std::size_t>(1 + (found - state.tall.begin())), rows,
                      m.cols());
      else
        out.write(matrix_name(i), m);
    }
    out.write("shapes", std::span<const double>(shapes));
    out.write("tall", std::span<const double>(std::vector<double>(state.tall.begin(), state.tall.end())));
    if (alone)
      out.write("basis", state.basis);
    else
      write_rows<T>(out, "basis", ranks, 0, all_rows(ctx_, state.basis.rows()), state.basis.cols());
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

#define TS_INSTANTIATE(T)                                                                    \
  template std::uint64_t fingerprint<T>(const Context&, const solvers::AnyView<T>&);         \
  template std::uint64_t fingerprint<T>(const Context&, const Settings&, HostView<const T>); \
  template class Checkpoint<T>;
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::app::tssolve
