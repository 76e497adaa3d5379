#include "tallskinny/solvers/eigen/hermitian/memory_plan.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/solvers/eigen/krylov/basis_memory.hpp"
#include "tallskinny/solvers/ortho/by_parts.hpp"

namespace ts::solvers {

namespace {

/// Partial sums, small matrices and the context's own: far more than kernels were seen to ask for.
constexpr std::uint64_t kernel_bytes = std::uint64_t{256} << 20;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
  return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max()
                                                           : a + b;
}

}  // namespace

std::string_view name_of(Home home) noexcept {
  switch (home) {
    case Home::host:
      return "host";
    case Home::locked:
      return "host, page-locked";
    case Home::device:
      return "device";
  }
  return "?";
}

std::uint64_t MemoryPlan::bytes_in(Home home) const noexcept {
  std::uint64_t total = 0;
  for (const MemoryShare& share : shares)
    if (share.home == home) total = sum(total, share.bytes);
  return total;
}

std::uint64_t MemoryPlan::host_bytes() const noexcept {
  return sum(bytes_in(Home::host), bytes_in(Home::locked));
}

MemoryPlan plan_memory(const EigenPlan& plan, const MemoryNeeds& needs) {
  const Method method = plan.method;
  const bool krylov = method == Method::lanczos || method == Method::automatic;
  const std::uint64_t line = static_cast<std::uint64_t>(needs.rows) * needs.element_bytes;
  const auto columns = [line](index_t count) { return line * static_cast<std::uint64_t>(count); };
  const index_t held = plan.max_basis + plan.block_size;
  const auto basis_in = [&](Space space) {
    return krylov ? columns(padded_columns(space, held, needs.element_bytes)) : 0;
  };
  const std::uint64_t blocks = plan.bytes - std::min(plan.bytes, krylov ? columns(held) : 0);
  MemoryPlan out;
  out.shares = {{"matrix", Home::host, needs.matrix_bytes}};
  if (needs.space == Space::host) {
    if (krylov) out.shares.push_back({"basis", Home::host, basis_in(Space::host)});
    out.shares.push_back({krylov ? "blocks" : "basis and blocks", Home::host, blocks});
    return out;
  }
  out.shares.push_back({"matrix", Home::device, needs.matrix_bytes});
  out.shares.push_back({"blocks", Home::device, blocks});
  out.shares.push_back({"partial sums and small matrices", Home::device, kernel_bytes});
  out.spills = needs.device_bytes != 0 &&
               sum(out.bytes_in(Home::device), basis_in(Space::device)) > needs.device_bytes;
  out.shares.insert(out.shares.begin() + 2, {"basis", out.spills ? Home::locked : Home::device,
                                             basis_in(out.spills ? Space::host : Space::device)});
  if (out.spills) out.shares.push_back({"parts of the basis", Home::device, ortho::passage_bytes});
  out.shares.push_back({"eigenvectors", Home::host, columns(plan.nev)});
  return out;
}

}  // namespace ts::solvers
