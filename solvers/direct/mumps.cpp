// MUMPS, a multifrontal solver: Amestoy, Duff, L'Excellent and Koster 2001. Its headers serve the build; the library is
// loaded at run time, so that a program built with it starts on a machine without. For ranks there is another one, of
// which nobody says that it repeats its bits: messages that come in another order make other sums.
#include "tallskinny/solvers/direct/backends.hpp"

#ifdef TS_DMUMPS
#include <dmumps_c.h>
#include <zmumps_c.h>

#include <array>
#include <cmath>
#include <exception>
#include <mutex>
#include <string>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/solvers/ranks/first_rank.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class Number>
struct Arithmetic;
template <>
struct Arithmetic<double> {
  using Instance = DMUMPS_STRUC_C;
  static constexpr const char *library = TS_DMUMPS, *of_ranks = TS_DMUMPS_OF_RANKS, *function = "dmumps_c";
};
template <>
struct Arithmetic<std::complex<double>> {
  using Instance = ZMUMPS_STRUC_C;
  static constexpr const char *library = TS_ZMUMPS, *of_ranks = TS_ZMUMPS_OF_RANKS, *function = "zmumps_c";
};

template <class Number>
using Call = void(typename Arithmetic<Number>::Instance*);

/// dmumps_c or zmumps_c of a library; null where the machine has none.
template <class Number>
Call<Number>* call_of(const char* name) {
  (void)lapack_library();  // to be opened first
  const std::array names = {name};
  Call<Number>* function = nullptr;
  const cuda::SharedLibrary library(names);
  return library.bind(function, Arithmetic<Number>::function) ? function : nullptr;
}
/// That of one rank.
template <class Number>
Call<Number>* entry_point() {
  static auto* const call = call_of<Number>(Arithmetic<Number>::library);
  return call;
}
/// That of ranks, which is linked with Open MPI.
template <class Number>
Call<Number>* entry_point(const Context& ctx) {
  if (!ctx.communicator->open_mpi()) return nullptr;
  static auto* const call = call_of<Number>(Arithmetic<Number>::of_ranks);
  return call;
}

// Numbers of MUMPS's users' guide, which counts from 1.
constexpr int initialise = -1, finish = -2, analysis = 1, factorisation = 2, solution = 3;
constexpr int whole_world = -987654;  // the communicator of the sequential library
constexpr int ordering = 7, transposition = 9, more_memory = 14, last_front = 13, distribution = 18;
constexpr int by_ranks = 3;  // each has some of the entries
// Of its other orders SCOTCH's is another one in every run, and PORD ends the program for some small matrices.
constexpr int as_given = 1, minimum_fill = 2;
constexpr int singular_structure = -6, singular = -10, no_memory = -13;

/// One call at a time, for MUMPS has state of its own between its instances; and one thread of OpenBLAS, for its bits
/// depend on their number.
class MumpsCall {
  static std::mutex& alone() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> lock_{alone()};
  BlasThreads blas_{1};
};

/// Number: what MUMPS computes in. A Hermitian matrix A + i B of n rows, for which MUMPS has no
/// L D L^H, is the real symmetric [A, -B; B, A] of 2n, in which every eigenvalue stands twice.
/// On ranks each gives the entries of its rows, and rank 0 all right-hand sides, and has all solutions.
template <class T, class Number>
class Mumps final : public DirectSolver<T> {
 public:
  static constexpr bool doubled = is_complex<T> && !is_complex<Number>;

  Mumps(const Context& ctx, CsrView<T> a, FactorKind kind, std::vector<int> order)
      : ctx_(ctx),
        entry_(shared() ? entry_point<Number>(ctx) : entry_point<Number>()),
        symmetric_(kind == FactorKind::ldl),
        n_(a.cols),
        order_(std::move(order)) {
    if (!any_rank(ctx_, !order_.empty())) order_ = order_of(a);
    const MumpsCall alone;
    id_.par = 1, id_.sym = symmetric_ ? 2 : 0;
    id_.comm_fortran = shared() ? *ctx_.communicator->open_mpi() : whole_world;
    call(initialise);
    if (shared()) control(distribution) = by_ranks;
    for (const int stream : {1, 2, 3, 4}) control(stream) = 0;  // prints nothing
    id_.cntl[0] = 0.1;        // least pivot over the largest in its column: ten times what MUMPS asks for
    control(last_front) = 1;  // counts the pivots of the last front, too
    id_.n = static_cast<int>(size());
    enter(a);
    control(ordering) = order_.empty() ? minimum_fill : as_given;
    if (!order_.empty()) id_.perm_in = order_.data();
    analysed_ = analysed();
  }
  ~Mumps() override {
    if (shared() && std::uncaught_exceptions() > 0) return;  // of this rank alone: others may not come
    const MumpsCall alone;
    call(finish);
  }

  [[nodiscard]] FactorEstimate estimate() const noexcept override { return estimate_; }
  [[nodiscard]] std::vector<int> order() const override { return order_; }

  [[nodiscard]] bool factorise(CsrView<T> a) override {
    const MumpsCall alone;
    enter(a);
    if (!analysed_ && !(analysed_ = analysed())) return false;
    // Pivots that were delayed take more than the analysis foresaw.
    constexpr std::array too_small = {-8, -9, -11, -14, -15, -17, -20};
    const int most_percent = most_more_memory();
    while (call(factorisation) < 0) {
      if (id_.infog[0] == singular) return false;
      if (std::find(too_small.begin(), too_small.end(), id_.infog[0]) == too_small.end() ||
          control(more_memory) > most_percent)
        fail();
      control(more_memory) *= 2;
    }
    return true;
  }

  void solve(const Context& ctx, Op op, PlacedView<const T> b, PlacedView<T> x) const override {
    on_host(ctx, b, x, [this, op](HostView<const T> from, HostView<T> to) {
      if (from.cols() == 0) return;
      if (!shared()) return solve_here(op, from, to);
      Matrix<T> all = gathered_rows<T>(ctx_, from);
      solve_here(op, all.cview(), all.view());
      scatter_rows<T>(ctx_, all, to);
    });
  }

  [[nodiscard]] std::optional<index_t> negative() const override {
    if (!symmetric_) return std::nullopt;
    const index_t count = id_.infog[11];
    if (doubled && count % 2 != 0) return std::nullopt;  // the two of a pair on two sides: too near to zero
    return doubled ? count / 2 : count;
  }

 private:
  /// Orders and analyses what was entered; false where zeros, among them values that are stored, leave it no full
  /// transversal: other values may have one.
  [[nodiscard]] bool analysed() {
    const int code = call(analysis);
    if (code < 0 && code != singular_structure) fail();
    estimate_.by = shared() ? "MUMPS " MUMPS_VERSION " on all ranks" : "MUMPS " MUMPS_VERSION;
    if (code < 0) return false;
    if (is_first(ctx_)) order_.assign(id_.sym_perm, id_.sym_perm + size());
    estimate_.flops = id_.rinfog[0], estimate_.bytes = 1e6 * (shared() ? id_.info[14] : id_.infog[16]);
    return true;
  }
  /// Percent of the workspace foreseen that factors of a dense matrix take at most.
  [[nodiscard]] int most_more_memory() const {
    constexpr double usual = 3000, most = 1e8;
    const double told = id_.infog[2], foreseen = std::max(1.0, told < 0 ? -1e6 * told : told);  // millions below zero
    const double dense = static_cast<double>(size()) * static_cast<double>(size());
    return static_cast<int>(std::min(std::max(usual, 200 * dense / foreseen), most));
  }
  /// @param b all rows; on ranks beside the first none
  void solve_here(Op op, HostView<const T> b, HostView<T> x) const {
    const MumpsCall alone;
    const index_t p = b.cols(), n = b.rows();
    // A^-H B is the conjugate of A^-T conj(B).
    const bool transposed = op == Op::adjoint && !symmetric_;
    const auto turned = [transposed](const T& value) { return transposed ? conjugate(value) : value; };
    control(transposition) = transposed ? 0 : 1;
    std::vector<T> columns(at(n * p));  // doubled: real and imaginary parts stand in turn, as MUMPS numbers them
    for (index_t j = 0; j < p; ++j)
      for (index_t i = 0; i < n; ++i) columns[at(j * n + i)] = turned(b(i, j));
    id_.rhs = reinterpret_cast<decltype(id_.rhs)>(columns.data());
    id_.nrhs = static_cast<int>(p), id_.lrhs = static_cast<int>(size());
    must(solution);
    for (index_t j = 0; j < p; ++j)
      for (index_t i = 0; i < n; ++i) x(i, j) = turned(columns[at(j * n + i)]);
  }

  /// Whether several ranks have the matrix.
  [[nodiscard]] bool shared() const { return ctx_.communicator->size() > 1; }

  [[nodiscard]] index_t size() const { return doubled ? 2 * n_ : n_; }
  int& control(int number) const { return id_.icntl[number - 1]; }

  int call(int job) const {
    id_.job = job;
    entry_(&id_);
    return id_.infog[0];
  }
  void must(int job) const {
    if (call(job) < 0) fail();
  }
  [[noreturn]] void fail() const {
    const int code = id_.infog[0];
    if (code == no_memory || code == -19)
      throw Error(Errc::out_of_memory, "the factors of the shifted matrix do not fit into memory: MUMPS wants " +
                                           std::to_string(id_.infog[shared() ? 15 : 16]) +
                                           (shared() ? " MB on a rank" : " MB"));
    throw Error(Errc::invalid_argument, "MUMPS cannot factorise the matrix: its error " + std::to_string(code) + ", " +
                                            std::to_string(id_.infog[1]));
  }

  /// From 1; empty where MUMPS shall choose. With an order that is given it would not move large entries of a general
  /// matrix onto the diagonal, and lose all digits of some.
  [[nodiscard]] std::vector<int> order_of(CsrView<T> a) const {
    std::vector<int> order, positions;
    if (!symmetric_) return order;
    if (shared()) {
      const CsrMatrix<T> whole = gathered_matrix<T>(ctx_, a);
      first_alone(ctx_, [&] { positions = nested_dissection(n_, whole.pointers.data(), whole.indices.data()); });
    } else {
      positions = nested_dissection(n_, a.pointers, a.indices);
    }
    for (const int position : positions) {
      order.push_back((doubled ? 2 : 1) * position + 1);
      if (doubled) order.push_back(2 * position + 2);
    }
    return order;
  }

  /// Gives MUMPS the entries: of a Hermitian matrix those of the lower triangle.
  void enter(CsrView<T> a) {
    const bool first = rows_.empty();
    const index_t begin = first_row(ctx_);
    values_.clear();
    const auto add = [&](index_t i, index_t j, const Number& x) {
      values_.push_back(x);
      if (first) rows_.push_back(static_cast<int>(i + 1)), columns_.push_back(static_cast<int>(j + 1));
    };
    for_each_entry(a, [&](index_t here, index_t j, const T& x) {
      const index_t i = begin + here;
      if (symmetric_ && j > i) return;
      if constexpr (doubled) {
        add(2 * i, 2 * j, x.real()), add(2 * i + 1, 2 * j + 1, x.real());
        if (i != j) add(2 * i + 1, 2 * j, x.imag()), add(2 * i, 2 * j + 1, -x.imag());
      } else {
        add(i, j, x);
      }
    });
    (shared() ? id_.nnz_loc : id_.nnz) = static_cast<std::int64_t>(values_.size());
    (shared() ? id_.irn_loc : id_.irn) = rows_.data(), (shared() ? id_.jcn_loc : id_.jcn) = columns_.data();
    (shared() ? id_.a_loc : id_.a) = reinterpret_cast<decltype(id_.a)>(values_.data());
  }

  Context ctx_;
  Call<Number>* entry_;
  bool symmetric_;
  index_t n_;
  std::vector<int> order_, rows_, columns_;
  std::vector<Number> values_;
  FactorEstimate estimate_;
  bool analysed_ = false;
  mutable typename Arithmetic<Number>::Instance id_{};
};

}  // namespace

template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_mumps(CsrView<T> a, FactorKind kind, const std::vector<int>& order) {
  if (a.rows == 0 || 2 * a.rows > std::numeric_limits<int>::max()) return nullptr;
  const Context one;
  if constexpr (is_complex<T>)
    if (kind == FactorKind::lu)
      return entry_point<T>() == nullptr ? nullptr : std::make_unique<Mumps<T, T>>(one, a, kind, order);
  return entry_point<double>() == nullptr ? nullptr : std::make_unique<Mumps<T, double>>(one, a, kind, order);
}

template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_mumps(const Context& ctx, CsrView<T> own, FactorKind kind,
                                                  const std::vector<int>& order) {
  if (own.cols == 0 || 2 * own.cols > std::numeric_limits<int>::max() || !has_mumps_on_ranks(ctx)) return nullptr;
  if constexpr (is_complex<T>)
    if (kind == FactorKind::lu) return std::make_unique<Mumps<T, T>>(ctx, own, kind, order);
  return std::make_unique<Mumps<T, double>>(ctx, own, kind, order);
}

bool has_mumps_on_ranks(const Context& ctx) {
  const bool here = entry_point<double>(ctx) != nullptr && entry_point<std::complex<double>>(ctx) != nullptr;
  return !any_rank(ctx, !here);
}
#else
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_mumps(CsrView<T>, FactorKind, const std::vector<int>&) {
  return nullptr;
}
template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_mumps(const Context&, CsrView<T>, FactorKind, const std::vector<int>&) {
  return nullptr;
}
bool has_mumps_on_ranks(const Context&) { return false; }
#endif

#define TS_INSTANTIATE(T)                                                                                         \
  template std::unique_ptr<DirectSolver<T>> analyse_by_mumps<T>(CsrView<T>, FactorKind, const std::vector<int>&); \
  template std::unique_ptr<DirectSolver<T>> analyse_by_mumps<T>(const Context&, CsrView<T>, FactorKind,           \
                                                                const std::vector<int>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
