// MUMPS, a multifrontal solver: Amestoy, Duff, L'Excellent and Koster 2001. Its headers serve the build; the library is
// loaded at run time, so that a program built with it starts on a machine without.
#include "tallskinny/solvers/direct/bodies.hpp"

#ifdef TS_DMUMPS
#include <dmumps_c.h>
#include <zmumps_c.h>

#include <array>
#include <cmath>
#include <mutex>
#include <string>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/solvers/direct/nested_dissection.hpp"

namespace ts::solvers {

namespace {

template <class Number>
struct Arithmetic;
template <>
struct Arithmetic<double> {
  using Instance = DMUMPS_STRUC_C;
  static constexpr const char *library = TS_DMUMPS, *function = "dmumps_c";
};
template <>
struct Arithmetic<std::complex<double>> {
  using Instance = ZMUMPS_STRUC_C;
  static constexpr const char *library = TS_ZMUMPS, *function = "zmumps_c";
};

/// dmumps_c or zmumps_c; null where the machine has none.
template <class Number>
auto* entry_point() {
  using A = Arithmetic<Number>;
  static auto* const call = [] {
    (void)lapack_library();  // to be opened first
    constexpr const char* names[] = {A::library};
    void (*function)(typename A::Instance*) = nullptr;
    const cuda::SharedLibrary library(names);
    return library.bind(function, A::function) ? function : nullptr;
  }();
  return call;
}

// Numbers of MUMPS's users' guide, which counts from 1.
constexpr int initialise = -1, finish = -2, analysis = 1, factorisation = 2, solution = 3;
constexpr int whole_world = -987654;  // the communicator of the sequential library
constexpr int ordering = 7, transposition = 9, more_memory = 14, last_front = 13;
// Of its other orders SCOTCH's is another one in every run, and PORD ends the program for some small matrices.
constexpr int as_given = 1, minimum_fill = 2;
constexpr int singular = -10, no_memory = -13;

/// One call at a time, for MUMPS has state of its own between its instances; and one thread of OpenBLAS, for its bits
/// depend on their number.
class MumpsCall {
  static std::mutex& alone() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> lock_{alone()};
  OneBlasThread blas_;
};

/// Number: what MUMPS computes in. A Hermitian matrix A + i B of n rows, for which MUMPS has no
/// L D L^H, is the real symmetric [A, -B; B, A] of 2n, in which every eigenvalue stands twice.
template <class T, class Number>
class Mumps final : public DirectSolver<T> {
 public:
  static constexpr bool doubled = is_complex<T> && !is_complex<Number>;

  Mumps(CsrView<T> a, FactorKind kind, std::vector<int> order)
      : symmetric_(kind == FactorKind::ldl), n_(a.rows), order_(std::move(order)) {
    const MumpsCall alone;
    id_.par = 1, id_.sym = symmetric_ ? 2 : 0, id_.comm_fortran = whole_world;
    call(initialise);
    for (const int stream : {1, 2, 3, 4}) control(stream) = 0;  // prints nothing
    id_.cntl[0] = 0.1;        // least pivot over the largest in its column: ten times what MUMPS asks for
    control(last_front) = 1;  // counts the pivots of the last front, too
    id_.n = static_cast<int>(size());
    enter(a);
    if (order_.empty()) order_ = order_of(a);
    control(ordering) = order_.empty() ? minimum_fill : as_given;
    if (!order_.empty()) id_.perm_in = order_.data();
    must(analysis);
    order_.assign(id_.sym_perm, id_.sym_perm + size());
    estimate_ = {"MUMPS " MUMPS_VERSION, id_.rinfog[0], 1e6 * id_.infog[16]};
  }
  ~Mumps() override {
    const MumpsCall alone;
    call(finish);
  }

  [[nodiscard]] FactorEstimate estimate() const noexcept override { return estimate_; }
  [[nodiscard]] std::vector<int> order() const override { return order_; }

  [[nodiscard]] bool factorise(CsrView<T> a) override {
    const MumpsCall alone;
    enter(a);
    // Pivots that were delayed take more than the analysis foresaw.
    constexpr std::array too_small = {-8, -9, -11, -14, -15, -17, -20};
    constexpr int most_percent = 3000;
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
    on_host(ctx, b, x, [this, op](HostView<const T> from, HostView<T> to) { solve_here(op, from, to); });
  }

  [[nodiscard]] std::optional<index_t> negative() const override {
    if (!symmetric_) return std::nullopt;
    const index_t count = id_.infog[11];
    if (doubled && count % 2 != 0) return std::nullopt;  // the two of a pair on two sides: too near to zero
    return doubled ? count / 2 : count;
  }

 private:
  void solve_here(Op op, HostView<const T> b, HostView<T> x) const {
    const MumpsCall alone;
    const index_t p = b.cols();
    // A^-H B is the conjugate of A^-T conj(B).
    const bool transposed = op == Op::adjoint && !symmetric_;
    const auto turned = [transposed](const T& value) { return transposed ? conjugate(value) : value; };
    control(transposition) = transposed ? 0 : 1;
    std::vector<T> columns(at(n_ * p));  // doubled: real and imaginary parts stand in turn, as MUMPS numbers them
    for (index_t j = 0; j < p; ++j)
      for (index_t i = 0; i < n_; ++i) columns[at(j * n_ + i)] = turned(b(i, j));
    id_.rhs = reinterpret_cast<decltype(id_.rhs)>(columns.data());
    id_.nrhs = static_cast<int>(p), id_.lrhs = static_cast<int>(size());
    must(solution);
    for (index_t j = 0; j < p; ++j)
      for (index_t i = 0; i < n_; ++i) x(i, j) = turned(columns[at(j * n_ + i)]);
  }

  [[nodiscard]] index_t size() const { return doubled ? 2 * n_ : n_; }
  int& control(int number) const { return id_.icntl[number - 1]; }

  int call(int job) const {
    id_.job = job;
    entry_point<Number>()(&id_);
    return id_.infog[0];
  }
  void must(int job) const {
    if (call(job) < 0) fail();
  }
  [[noreturn]] void fail() const {
    const int code = id_.infog[0];
    if (code == no_memory || code == -19)
      throw Error(Errc::out_of_memory, "the factors of the shifted matrix do not fit into memory: MUMPS wants " +
                                           std::to_string(id_.infog[16]) + " MB");
    throw Error(Errc::invalid_argument, "MUMPS cannot factorise the matrix: its error " + std::to_string(code) + ", " +
                                            std::to_string(id_.infog[1]));
  }

  /// From 1; empty where MUMPS shall choose. With an order that is given it would not move large entries of a general
  /// matrix onto the diagonal, and lose all digits of some.
  [[nodiscard]] std::vector<int> order_of(CsrView<T> a) const {
    std::vector<int> order;
    if (!symmetric_) return order;
    for (const int position : nested_dissection(n_, a.pointers, a.indices)) {
      order.push_back((doubled ? 2 : 1) * position + 1);
      if (doubled) order.push_back(2 * position + 2);
    }
    return order;
  }

  /// Gives MUMPS the entries: of a Hermitian matrix those of the lower triangle.
  void enter(CsrView<T> a) {
    const bool first = rows_.empty();
    values_.clear();
    const auto add = [&](index_t i, index_t j, const Number& x) {
      values_.push_back(x);
      if (first) rows_.push_back(static_cast<int>(i + 1)), columns_.push_back(static_cast<int>(j + 1));
    };
    for_each_entry(a, [&](index_t i, index_t j, const T& x) {
      if (symmetric_ && j > i) return;
      if constexpr (doubled) {
        add(2 * i, 2 * j, x.real()), add(2 * i + 1, 2 * j + 1, x.real());
        if (i != j) add(2 * i + 1, 2 * j, x.imag()), add(2 * i, 2 * j + 1, -x.imag());
      } else {
        add(i, j, x);
      }
    });
    id_.nnz = static_cast<std::int64_t>(values_.size());
    id_.irn = rows_.data(), id_.jcn = columns_.data();
    id_.a = reinterpret_cast<decltype(id_.a)>(values_.data());
  }

  bool symmetric_;
  index_t n_;
  std::vector<int> order_, rows_, columns_;
  std::vector<Number> values_;
  FactorEstimate estimate_;
  mutable typename Arithmetic<Number>::Instance id_{};
};

}  // namespace

template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_mumps(CsrView<T> a, FactorKind kind, const std::vector<int>& order) {
  if (a.rows == 0 || 2 * a.rows > std::numeric_limits<int>::max()) return nullptr;
  if constexpr (is_complex<T>)
    if (kind == FactorKind::lu)
      return entry_point<T>() == nullptr ? nullptr : std::make_unique<Mumps<T, T>>(a, kind, order);
  return entry_point<double>() == nullptr ? nullptr : std::make_unique<Mumps<T, double>>(a, kind, order);
}
#else
namespace ts::solvers {

template <class T>
std::unique_ptr<DirectSolver<T>> analyse_by_mumps(CsrView<T>, FactorKind, const std::vector<int>&) {
  return nullptr;
}
#endif

#define TS_INSTANTIATE(T) \
  template std::unique_ptr<DirectSolver<T>> analyse_by_mumps<T>(CsrView<T>, FactorKind, const std::vector<int>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
