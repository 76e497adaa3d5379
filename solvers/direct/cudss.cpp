// cuDSS, NVIDIA's direct solver, where it is found when a program runs. Nothing of it serves the build: what of version
// 1 is used here is declared below.
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/gemm/runtime/run_where.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/solvers/direct/backends.hpp"

namespace ts::inline v0::solvers {

namespace {

// Numbers of the header of cuDSS 1.0.
enum Setting : int { solve_mode = 4, refinement_steps = 5, deterministic = 24 };
enum SolveMode : int { solve_as_it_is = 0, solve_adjoint = 2 };
enum Told : int { told_info = 0, told_inertia = 3, told_memory = 13 };
enum Phase : int { analyse_pattern = 3, factorise_first = 4, factorise_again = 8, solve_all = 1008 };
enum Status : int { all_well = 0, lacks_memory = 2 };
enum MatrixKind : int { general = 0, symmetric = 1, hermitian = 2 };
enum Triangle : int { both = 0, lower = 1 };
constexpr int from_zero = 0, by_columns = 0;
constexpr int int32_numbers = 10;  // CUDA_R_32I of cudaDataType
template <class T>
constexpr int numbers_of = is_complex<T> ? 5 : 1;  // CUDA_C_64F, CUDA_R_64F

using Pointer = void*;

/// The functions that are used; `loaded` where all were found.
struct Cudss {
  int (*property)(int, int*) = nullptr;
  int (*create)(Pointer*) = nullptr;
  int (*destroy)(Pointer) = nullptr;
  int (*set_stream)(Pointer, CUstream_st*) = nullptr;
  int (*config_create)(Pointer*) = nullptr;
  int (*config_destroy)(Pointer) = nullptr;
  int (*config_set)(Pointer, int, const void*, std::size_t) = nullptr;
  int (*data_create)(Pointer, Pointer*) = nullptr;
  int (*data_destroy)(Pointer, Pointer) = nullptr;
  int (*data_get)(Pointer, Pointer, int, void*, std::size_t, std::size_t*) = nullptr;
  int (*dense)(Pointer*, std::int64_t, std::int64_t, std::int64_t, const void*, int, int) = nullptr;
  int (*csr)(Pointer*, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, const void*, const void*,
             int, int, int, int, int, int) = nullptr;
  int (*matrix_destroy)(Pointer) = nullptr;
  int (*execute)(Pointer, int, Pointer, Pointer, Pointer, Pointer, Pointer) = nullptr;
  std::string name;  ///< "cuDSS 1.0.0"; empty: not there
};

Cudss load() {
  Cudss c;
  std::vector<std::string> folders(cuda::toolkit_folders().begin(), cuda::toolkit_folders().end());
  folders.emplace_back("/usr/lib/x86_64-linux-gnu/libcudss/13");
  static const cuda::SharedLibrary library(std::array<const char*, 1>{"libcudss.so.1"}, folders);
  if (!library.loaded()) return c;
  const bool complete =
      library.bind(c.property, "cudssGetProperty") && library.bind(c.create, "cudssCreate") &&
      library.bind(c.destroy, "cudssDestroy") && library.bind(c.set_stream, "cudssSetStream") &&
      library.bind(c.config_create, "cudssConfigCreate") && library.bind(c.config_destroy, "cudssConfigDestroy") &&
      library.bind(c.config_set, "cudssConfigSet") && library.bind(c.data_create, "cudssDataCreate") &&
      library.bind(c.data_destroy, "cudssDataDestroy") && library.bind(c.data_get, "cudssDataGet") &&
      library.bind(c.dense, "cudssMatrixCreateDn") && library.bind(c.csr, "cudssMatrixCreateCsr") &&
      library.bind(c.matrix_destroy, "cudssMatrixDestroy") && library.bind(c.execute, "cudssExecute");
  std::array<int, 3> version{};
  for (int part = 0; part < 3 && complete; ++part) c.property(part, &version[static_cast<std::size_t>(part)]);
  if (complete && version[0] == 1)
    c.name =
        "cuDSS " + std::to_string(version[0]) + "." + std::to_string(version[1]) + "." + std::to_string(version[2]);
  return c;
}

const Cudss& cudss() {
  static const Cudss found = load();
  return found;
}

void check(int status, const char* what) {
  if (status == all_well) return;
  const std::string code = "cuDSS failed to " + std::string(what) + ": its status " + std::to_string(status);
  throw Error(status == lacks_memory ? Errc::out_of_memory : Errc::device_failure, code);
}

/// One of cuDSS's objects, which its own function destroys.
struct Handle {
  Pointer object = nullptr;
  std::function<void(Pointer)> destroy;
  Handle() = default;
  template <class Destroy>
  Handle(Pointer made, Destroy by) : object(made), destroy(std::move(by)) {}
  Handle(Handle&& other) noexcept { *this = std::move(other); }
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object, other.object), std::swap(destroy, other.destroy);
    return *this;
  }
  ~Handle() {
    if (object != nullptr) destroy(object);
  }
};

/// The lower triangle of a Hermitian matrix or all of another, on a device: 32-bit numbers, columns rising.
template <class T>
class CudssSolver final : public DirectSolver<T> {
 public:
  CudssSolver(CsrView<T> a, FactorKind kind, cuda::Stream stream)
      : ldl_(kind == FactorKind::ldl), n_(a.rows), stream_(std::move(stream)) {
    std::vector<std::int32_t> pointers{0}, columns;
    for (index_t i = 0; i < n_; ++i) {
      for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e)
        if (!ldl_ || a.indices[e] <= i) columns.push_back(a.indices[e]), taken_.push_back(e);
      pointers.push_back(static_cast<std::int32_t>(columns.size()));
    }
    pointers_ = uploaded(pointers), columns_ = uploaded(columns);
    values_ = cuda::Memory(stream_, taken_.size() * sizeof(T));
    one_ = cuda::Memory(stream_, static_cast<std::size_t>(n_) * sizeof(T));
    send(a);  // large entries are matched with the diagonal
    stream_.with_device([&] { analyse(); });
  }

  [[nodiscard]] FactorEstimate estimate() const noexcept override { return estimate_; }
  [[nodiscard]] Space space() const noexcept override { return Space::device; }

  [[nodiscard]] bool factorise(CsrView<T> a) override {
    send(a);
    bool usable = false;
    stream_.with_device([&] {
      execute(factorised_ ? factorise_again : factorise_first, column_.object, column_.object, "factorise");
      factorised_ = true;
      int info = 0;
      std::size_t written = 0;
      check(cudss().data_get(handle_.object, data_.object, told_info, &info, sizeof info, &written), "tell of factors");
      usable = info == 0;
      std::array<std::int32_t, 2> inertia{};  // positive, negative
      if (ldl_ && cudss().data_get(handle_.object, data_.object, told_inertia, inertia.data(), sizeof inertia,
                                   &written) == all_well)
        negative_ = inertia[1], known_ = inertia[0] + negative_ == n_;
    });
    stream_.synchronize();
    return usable;
  }

  void solve(const Context& ctx, Op op, PlacedView<const T> b, PlacedView<T> x) const override {
    set(solve_mode, op == Op::adjoint && !ldl_ ? solve_adjoint : solve_as_it_is);
    PlacedMatrix<T> there;
    Context on = ctx;
    on.stream = stream_;
    if (b.space() == Space::host) {
      there = PlacedMatrix<T>(on, Space::device, b.rows(), b.cols());
      copy_block<T>(on, b, there.view());
      solve_there(on, there.view(), there.view());
      copy_block<T>(on, there.cview(), x);
    } else {
      solve_there(on, b, x);
    }
  }

  [[nodiscard]] std::optional<index_t> negative() const override {
    return ldl_ && known_ ? std::optional<index_t>(negative_) : std::nullopt;
  }

 private:
  template <class I>
  cuda::Memory uploaded(const std::vector<I>& numbers) const {
    cuda::Memory there(stream_, numbers.size() * sizeof(I));
    cuda::copy_bytes(stream_, there.data(), numbers.data(), there.bytes());
    stream_.synchronize();
    return there;
  }
  void send(CsrView<T> a) const {
    std::vector<T> values;
    values.reserve(taken_.size());
    for (const index_t e : taken_) values.push_back(a.values[e]);
    cuda::copy_bytes(stream_, values_.data(), values.data(), values_.bytes());
    stream_.synchronize();
  }
  void set(Setting what, int to) const {
    check(cudss().config_set(config_.object, what, &to, sizeof to), "take a setting");
  }
  Handle dense(void* columns, index_t p) const {
    Pointer made = nullptr;
    check(cudss().dense(&made, n_, p, n_, columns, numbers_of<T>, by_columns), "describe a block");
    return {made, cudss().matrix_destroy};
  }
  void execute(Phase phase, Pointer x, Pointer b, const char* what) const {
    check(cudss().execute(handle_.object, phase, config_.object, data_.object, matrix_.object, x, b), what);
  }

  void analyse() {
    const Cudss& c = cudss();
    Pointer made = nullptr;
    check(c.create(&made), "start");
    handle_ = Handle(made, c.destroy);
    check(c.set_stream(made, stream_.handle()), "take a stream");
    check(c.config_create(&made), "start");
    config_ = Handle(made, c.config_destroy);
    check(c.data_create(handle_.object, &made), "start");
    data_ = Handle(made, [&c, handle = handle_.object](Pointer data) { c.data_destroy(handle, data); });
    set(deterministic, 1);
    // With steps of refinement a solve would say nothing of the factors that the inertia is from.
    set(refinement_steps, ldl_ ? 0 : 2);
    const MatrixKind kind = !ldl_ ? general : is_complex<T> ? hermitian : symmetric;
    check(c.csr(&made, n_, n_, static_cast<std::int64_t>(taken_.size()), pointers_.data(), nullptr, columns_.data(),
                values_.data(), int32_numbers, int32_numbers, numbers_of<T>, kind, ldl_ ? lower : both, from_zero),
          "describe the matrix");
    matrix_ = Handle(made, c.matrix_destroy);
    column_ = dense(one_.data(), 1);
    execute(analyse_pattern, column_.object, column_.object, "analyse the matrix");
    std::array<std::int64_t, 16> bytes{};  // of the device: in the end, at most; of the host likewise
    std::size_t written = 0;
    estimate_ = {c.name};
    if (c.data_get(handle_.object, data_.object, told_memory, bytes.data(), sizeof bytes, &written) == all_well)
      estimate_.bytes = static_cast<double>(bytes[1]);
  }

  /// X = A^-1 B in blocks of columns, which is how cuDSS takes them.
  void solve_there(const Context& ctx, PlacedView<const T> b, PlacedView<T> x) const {
    using Columns = DeviceMatrix<T, Layout::col_major>;
    const index_t p = b.cols();
    Columns from(stream_, n_, p), to(stream_, n_, p);
    auto identity = Matrix<T>::zeros(p, p);
    for (index_t j = 0; j < p; ++j) identity(j, j) = 1;
    const auto move = [&](auto source, auto target) {
      run_where(
          ctx, Space::device,
          [&](auto at, auto one) {
            if constexpr (decltype(at)::space == Space::device) tsmm(ctx, Op::none, T{1}, source, one, T{0}, target);
          },
          In<T>{identity.cview()});
    };
    move(b.template in<Space::device>(), from.view());
    stream_.with_device([&] {
      for (index_t j = 0; j < p; ++j) {  // of more columns at once the bits would not repeat
        const Handle right = dense(from.data() + j * n_, 1), left = dense(to.data() + j * n_, 1);
        execute(solve_all, left.object, right.object, "solve");
      }
    });
    move(to.cview(), x.template in<Space::device>());
  }

  bool ldl_, factorised_ = false, known_ = false;
  index_t n_, negative_ = 0;
  cuda::Stream stream_;
  std::vector<index_t> taken_;  ///< entries of the matrix
  cuda::Memory pointers_, columns_, values_, one_;
  FactorEstimate estimate_;
  Handle handle_, config_, data_, matrix_, column_;  // destroyed in the reverse order
};

}  // namespace

template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_cudss(CsrView<T> a, FactorKind kind, const cuda::Stream& stream) {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  if (!stream || stream.rehearsal() != nullptr || a.rows == 0 || a.nonzeros() >= most || cudss().name.empty())
    return nullptr;
  auto solver = std::make_unique<CudssSolver<T>>(a, kind, stream);
  // What does not fit beside what the run has there already is left to the processor.
  if (solver->estimate().bytes > 0.9 * static_cast<double>(cuda::free_memory(stream))) return nullptr;
  return solver;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, analyse_by_cudss)

}  // namespace ts::inline v0::solvers
