#include "tallskinny/solvers/eigen/values/options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/solvers/eigen/values/ways.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Up to this size the dense solver is taken when the basis would hold a third of the space.
constexpr index_t dense_limit_wide = 3000;
constexpr index_t default_block = 8;

void expect_sizes(index_t n, const EigenOptions& options) {
  expects(n >= 0, "an operator has a negative number of rows");
  expects(options.nev >= 1, "`nev` must be at least 1");
  expects(options.tol >= 0 && std::isfinite(options.tol), "`tol` must be a number, 0 or larger");
  expects(options.block_size >= 0, "`block_size` must be at least 1");
  expects(options.max_basis >= 0, "`max_basis` must be at least 1");
  expects(options.max_iterations >= 0, "`max_iterations` must be at least 1");
}

/// Method::automatic, from sizes alone.
void choose_method(index_t n, double entries, EigenPlan& plan) {
  const bool wide = 3 * (plan.max_basis + plan.block_size) > n;
  plan.method = Method::dense;
  if (ways_of({n, entries}, plan.nev, plan.block_size, plan.max_basis).dense_at_once())
    plan.why = "so small a matrix is solved soonest as a whole";
  else if (wide && n <= dense_limit_wide)
    plan.why = "a basis would hold a third of the space";
  else if (3 * plan.nev > n)
    plan.why = "more than a third of all eigenvalues are wanted";
  else
    plan.method = Method::lanczos, plan.why = "few of many eigenvalues are wanted";
}

/// Bytes of so many columns.
std::uint64_t bytes_of(index_t n, std::size_t element_bytes, index_t columns) {
  return static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(columns) * element_bytes;
}

/// LOBPCG, or the dense solver where [X P W] would hold more than half of the space.
void plan_lobpcg(index_t n, std::size_t element_bytes, const EigenOptions& options, EigenPlan& plan) {
  if (options.block_size == 0) plan.block_size = with_guards(plan.nev);
  plan.block_size = std::max(plan.block_size, plan.nev);
  plan.max_basis = 3 * plan.block_size;
  plan.bytes = bytes_of(n, element_bytes, 12 * plan.block_size);
  if (5 * plan.block_size > n) plan.method = Method::dense, plan.why = "blocks would hold more than half of the space";
}

/// @param start columns of the start block.
void plan_davidson(index_t n, std::size_t element_bytes, const EigenOptions& options, index_t start, EigenPlan& plan) {
  const index_t kept = std::max(with_guards(plan.nev), start);
  const index_t least = 2 * kept + plan.block_size;
  plan.max_basis = options.max_basis > 0 ? std::max(options.max_basis, least) : 2 * kept + 8 * plan.block_size;
  plan.bytes = bytes_of(n, element_bytes, 2 * plan.max_basis + 6 * plan.block_size + 8 * kept);
  if (2 * plan.max_basis > n) plan.method = Method::dense, plan.why = "a basis would hold more than half of the space";
}

void plan_lanczos(index_t n, std::size_t element_bytes, const EigenOptions& options, EigenPlan& plan) {
  // Memory beyond n columns would never be used; a restart must leave place for block steps.
  plan.max_basis = std::min(plan.max_basis, n);
  plan.max_basis = std::max(plan.max_basis, std::min(n, plan.nev + 6 * plan.block_size));
  const auto bytes = [&](index_t columns) { return bytes_of(n, element_bytes, columns); };
  plan.bytes = bytes(plan.max_basis + 6 * plan.block_size + 4 * plan.nev);
  if (options.precision == Precision::float64) return;
  plan.bytes = plan.bytes / 2 + bytes(3 * plan.nev);
  if (options.precision == Precision::float32) return;
  const index_t start_vectors = with_guards(plan.nev);
  plan.bytes = std::max(plan.bytes, bytes(std::max(plan.max_basis, 4 * start_vectors) + 7 * start_vectors));
}

}  // namespace

void announce_dense(const EigenOptions& options, index_t wanted) {
  if (!options.progress) return;
  Progress p;
  p.phase = "dense", p.wanted = wanted;
  options.progress(p);
}

EigenPlan plan_eigen(index_t n, std::size_t element_bytes, const EigenOptions& options, index_t initial,
                     double entries) {
  expect_sizes(n, options);
  EigenPlan plan;
  plan.nev = std::min(options.nev, n);
  plan.block_size = options.block_size > 0 ? options.block_size : default_block;
  plan.block_size = std::clamp<index_t>(plan.block_size, 1, std::max<index_t>(1, n));
  const index_t start = std::max(plan.block_size, std::min(initial, n));
  const bool small = options.max_iterations == 0 && n <= takeover_rows;
  plan.max_basis =
      options.max_basis > 0 ? options.max_basis : std::max(2 * plan.nev + 4 * start, plan.nev + 12 * start);
  plan.max_iterations = options.max_iterations > 0 ? options.max_iterations : most_block_steps;
  if (small) {
    plan.max_iterations = ways_of({n, entries}, plan.nev, plan.block_size, plan.max_basis).steps_of_dense();
    if (options.method != Method::automatic || !options.verify)
      plan.max_iterations = std::max(plan.max_iterations, steps_of_asked);
    plan.max_applications = takeover_applications * n;
  }
  plan.method = options.method == Method::chebyshev ? Method::lanczos : options.method;
  if (plan.method == Method::automatic) choose_method(n, entries, plan);
  if (plan.method == Method::lanczos) plan_lanczos(n, element_bytes, options, plan);
  if (plan.method == Method::lobpcg) plan_lobpcg(n, element_bytes, options, plan);
  if (plan.method == Method::davidson) plan_davidson(n, element_bytes, options, start, plan);
  if (plan.method == Method::dense) plan.bytes = bytes_of(n, element_bytes, n) * 4;
  return plan;
}

}  // namespace ts::inline v0::solvers
