#include "tallskinny/solvers/setup/memory_plan.hpp"

#include <algorithm>
#include <iterator>

#include "tallskinny/solvers/eigen/general/whole.hpp"
#include "tallskinny/solvers/eigen/krylov/basis_memory.hpp"
#include "tallskinny/solvers/ortho/by_parts.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Partial sums, small matrices and the context's own: far more than kernels were seen to ask for.
constexpr std::uint64_t kernel_bytes = std::uint64_t{256} << 20;

void add_matrix_on_device(std::uint64_t bytes, std::string what, MemoryPlan& plan) {
  plan.shares.push_back({std::move(what), bytes, Home::device});
  plan.shares.push_back({"partial sums and small matrices", kernel_bytes, Home::device});
}

/// Plan for a matrix that is decomposed as a whole, and measured after that. @param vectors bytes in host memory.
MemoryPlan plan_whole(const MemoryNeeds& needs, std::uint64_t vectors) {
  MemoryPlan out{{{"matrix", needs.matrix_bytes}, {"decomposition", needs.whole.host}, {"vectors", vectors}}};
  if (needs.space == Space::host) return out;
  add_matrix_on_device(needs.matrix_bytes, "matrix", out);
  out.shares.push_back({"decomposition, then vectors", std::max(needs.whole.device, vectors), Home::device});
  return out;
}

}  // namespace

std::uint64_t MemoryPlan::bytes_in(Home home) const noexcept {
  std::vector<MemoryUse> there;
  std::copy_if(shares.begin(), shares.end(), std::back_inserter(there),
               [home](const MemoryUse& use) { return use.home == home; });
  return total_bytes(there);
}

std::vector<MemoryUse> MemoryPlan::uses_of(bool device) const {
  std::vector<MemoryUse> uses;
  for (const MemoryUse& share : shares)
    if ((share.home == Home::device) == device)
      uses.push_back({share.what + (share.home == Home::locked ? ", page-locked" : ""), share.bytes, share.home});
  return uses;
}

std::uint64_t MemoryPlan::host_bytes() const noexcept {
  return total_bytes({{"", bytes_in(Home::host)}, {"", bytes_in(Home::locked)}});
}

MemoryPlan plan_memory(const EigenPlan& plan, const MemoryNeeds& needs) {
  const Method method = plan.method;
  const bool krylov = method == Method::lanczos || method == Method::automatic;
  const std::uint64_t line = static_cast<std::uint64_t>(needs.rows) * needs.element_bytes;
  const auto columns = [line](index_t count) { return line * static_cast<std::uint64_t>(count); };
  if (needs.whole.host > 0) return plan_whole(needs, columns(2 * plan.nev));
  const index_t held = plan.max_basis + plan.block_size;
  const auto basis_in = [&](Space space) {
    return krylov ? columns(padded_columns(space, held, needs.element_bytes)) : 0;
  };
  const std::uint64_t blocks = plan.bytes - std::min(plan.bytes, krylov ? columns(held) : 0);
  MemoryPlan out;
  out.shares = {{"matrix", needs.matrix_bytes}};
  if (needs.space == Space::host) {
    if (krylov) out.shares.push_back({"basis", basis_in(Space::host)});
    out.shares.push_back({krylov ? "blocks" : "basis and blocks", blocks});
    return out;
  }
  add_matrix_on_device(needs.matrix_bytes, "matrix", out);
  out.shares.push_back({krylov ? "blocks" : "basis and blocks", blocks, Home::device});
  out.spills = needs.device_bytes != 0 &&
               total_bytes({{"", out.bytes_in(Home::device)}, {"", basis_in(Space::device)}}) > needs.device_bytes;
  out.shares.insert(out.shares.begin() + 2, {"basis", basis_in(out.spills ? Space::host : Space::device),
                                             out.spills ? Home::locked : Home::device});
  if (out.spills) out.shares.push_back({"parts of the basis", ortho::passage_bytes, Home::device});
  out.shares.push_back({"eigenvectors", columns(plan.nev)});
  return out;
}

MemoryPlan plan_general_memory(const EigenOptions& options, const MemoryNeeds& needs) {
  const auto n = static_cast<std::uint64_t>(needs.rows);
  if (needs.whole.host > 0) return plan_whole(needs, 2 * n * std::min(n, static_cast<std::uint64_t>(options.nev)) * 16);
  const index_t columns = 4 * options.nev + 30 * std::max<index_t>(options.block_size, 4);
  const std::uint64_t basis = n * static_cast<std::uint64_t>(columns) * 16;
  MemoryPlan out{{{"matrix", needs.matrix_bytes}, {"its adjoint", needs.matrix_bytes}}};
  if (needs.space == Space::device) {
    out.shares.push_back({"eigenvectors", 2 * n * static_cast<std::uint64_t>(options.nev) * 16});
    add_matrix_on_device(2 * needs.matrix_bytes, "matrix and its adjoint", out);
  }
  out.shares.push_back({"basis and blocks", basis, needs.space == Space::device ? Home::device : Home::host});
  // The matrix, T and U as Eigen has them and as we do.
  if (needs.rows <= whole_takeover_rows<double>) out.shares.push_back({"Schur form", n * n * 80});
  return out;
}

MemoryPlan plan_svd_memory(const EigenPlan& plan, const MemoryNeeds& needs) {
  const auto vectors =
      static_cast<std::uint64_t>(needs.rows) * static_cast<std::uint64_t>(plan.nev) * needs.element_bytes * 6;
  MemoryPlan out{{{"matrix", needs.matrix_bytes}}};
  if (needs.space == Space::device) {
    out.shares.push_back({"singular vectors", vectors / 3});
    // Products with A^H take the transposed of a sparse matrix.
    add_matrix_on_device((needs.sparse ? 2 : 1) * needs.matrix_bytes, "matrix", out);
  }
  const auto home = needs.space == Space::device ? Home::device : Home::host;
  if (needs.whole.host > 0) {
    out.shares.push_back({"decomposition", needs.whole.host});
    if (home == Home::device) out.shares.push_back({"decomposition", needs.whole.device, home});
  }
  out.shares.push_back({"basis and blocks", plan.bytes, home});
  out.shares.push_back({"singular vectors", vectors, home});
  return out;
}

}  // namespace ts::inline v0::solvers
