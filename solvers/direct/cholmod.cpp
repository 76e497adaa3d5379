// Its headers serve the build; the library is loaded at run time, so that a program built with it starts on a machine
// without.
#include "tallskinny/solvers/direct/cholmod.hpp"

#include "tallskinny/solvers/types.hpp"

#ifdef TS_CHOLMOD
#include <cholmod.h>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/solvers/direct/supernodes.hpp"

namespace ts::inline v0::solvers {

namespace {

struct Cholmod {
  decltype(&cholmod_l_start) start = nullptr;
  decltype(&cholmod_l_finish) finish = nullptr;
  decltype(&cholmod_l_analyze_p) analyse = nullptr;
  decltype(&cholmod_l_factorize) factorise = nullptr;
  decltype(&cholmod_l_free_factor) free_factor = nullptr;
  int (*levels)() = nullptr;  ///< of OpenMP, where CHOLMOD was built with it
  void (*set_levels)(int) = nullptr;
  bool found = false;
};

const Cholmod& cholmod() {
  static const Cholmod functions = [] {
    (void)lapack_library();  // to be opened first
    constexpr const char* names[] = {TS_CHOLMOD};
    const cuda::SharedLibrary library(names);
    Cholmod c;
    c.found = library.bind(c.start, "cholmod_l_start") && library.bind(c.finish, "cholmod_l_finish") &&
              library.bind(c.analyse, "cholmod_l_analyze_p") && library.bind(c.factorise, "cholmod_l_factorize") &&
              library.bind(c.free_factor, "cholmod_l_free_factor");
    if (!library.bind(c.levels, "omp_get_max_active_levels") ||
        !library.bind(c.set_levels, "omp_set_max_active_levels"))
      c.levels = nullptr;
    return c;
  }();
  return functions;
}

/// Keeps CHOLMOD on the calling thread: it asks OpenMP for four to copy the parts of a block, which takes longer.
class OneThread {
 public:
  OneThread() {
    if (cholmod().levels != nullptr) before_ = cholmod().levels(), cholmod().set_levels(0);
  }
  ~OneThread() {
    if (cholmod().levels != nullptr) cholmod().set_levels(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = 0;
  BlasThreads blas_{1};
};

/// What CHOLMOD keeps for a caller, set for one L L^H by blocks.
class Workspace {
 public:
  explicit Workspace(bool ordered) {
    cholmod().start(&common);
    common.print = 0, common.quick_return_if_not_posdef = 1;
    common.nmethods = 1, common.method[0].ordering = ordered ? CHOLMOD_GIVEN : CHOLMOD_AMD;
  }
  ~Workspace() { cholmod().finish(&common); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  cholmod_common common{};
};

template <class T>
class Cholmods final : public CholeskyFactor<T> {
 public:
  Cholmods(const detail::Sparse<T>& m, const std::vector<std::int64_t>& order) : workspace_(!order.empty()) {
    const OneThread alone;
    cholmod_sparse columns{};
    columns.nrow = columns.ncol = static_cast<std::size_t>(m.rows());
    columns.nzmax = static_cast<std::size_t>(m.nonZeros());
    // It reads through these pointers alone.
    columns.p = const_cast<std::int64_t*>(m.outerIndexPtr()), columns.i = const_cast<std::int64_t*>(m.innerIndexPtr());
    columns.x = const_cast<T*>(m.valuePtr());
    columns.stype = -1;  // the lower triangle
    columns.itype = CHOLMOD_LONG, columns.xtype = is_complex<T> ? CHOLMOD_COMPLEX : CHOLMOD_REAL;
    columns.dtype = CHOLMOD_DOUBLE, columns.sorted = columns.packed = 1;
    factor_ = cholmod().analyse(&columns, order.empty() ? nullptr : const_cast<std::int64_t*>(order.data()), nullptr, 0,
                                &workspace_.common);
    expect_memory();
    if (!serves()) return;
    cholmod().factorise(&columns, factor_, &workspace_.common);
    expect_memory();
  }
  ~Cholmods() override { cholmod().free_factor(&factor_, &workspace_.common); }

  /// It was analysed as one by blocks: there are flops enough to an entry.
  [[nodiscard]] bool serves() const { return factor_ != nullptr && factor_->is_super != 0; }
  [[nodiscard]] bool definite() const { return factor_->minor == factor_->n; }

  [[nodiscard]] std::string_view by() const noexcept override { return "CHOLMOD"; }
  void apply(const Context& ctx, CholeskyStep step, HostView<const T> x, HostView<T> y) const override {
    const auto numbers = [](const void* first, std::size_t count) {
      return std::span(static_cast<const std::int64_t*>(first), count);
    };
    const cholmod_factor& f = *factor_;
    solvers::apply<T>(ctx,
                      {numbers(f.Perm, f.n), numbers(f.super, f.nsuper + 1), numbers(f.pi, f.nsuper + 1),
                       numbers(f.px, f.nsuper + 1), numbers(f.s, f.ssize), static_cast<const T*>(f.x)},
                      step, x, y);
  }

 private:
  void expect_memory() const {
    if (workspace_.common.status == CHOLMOD_OUT_OF_MEMORY || workspace_.common.status == CHOLMOD_TOO_LARGE)
      throw Error(Errc::out_of_memory, "the Cholesky factor of the mass matrix does not fit into memory");
  }

  Workspace workspace_;
  cholmod_factor* factor_ = nullptr;
};

}  // namespace

template <class T>
std::optional<std::unique_ptr<CholeskyFactor<T>>> factorise_by_cholmod(CsrView<T> m, const detail::Sparse<T>& columns) {
  if (!cholmod().found || !has_supernodes<T>()) return std::nullopt;
  const std::vector<int> positions = nested_dissection(m.rows, m.pointers, m.indices);
  std::vector<std::int64_t> order(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) order[at(positions[i])] = static_cast<std::int64_t>(i);
  auto factor = std::make_unique<Cholmods<T>>(columns, order);
  if (!factor->serves()) return std::nullopt;
  if (!factor->definite()) return nullptr;
  return factor;
}

#else
namespace ts::inline v0::solvers {

template <class T>
std::optional<std::unique_ptr<CholeskyFactor<T>>> factorise_by_cholmod(CsrView<T>, const detail::Sparse<T>&) {
  return std::nullopt;
}
#endif

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, factorise_by_cholmod)

}  // namespace ts::inline v0::solvers
