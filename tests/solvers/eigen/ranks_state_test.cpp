// States of runs on several ranks: who ends a run, and who goes on with it.
#include "tallskinny/tests/solvers/eigen/ranks.hpp"

using namespace ts;
using namespace ts::test;

namespace {

template <class T>
Matrix<T> below_each_other(const std::vector<HostView<const T>>& parts) {
  std::vector<T> rows;
  for (const auto& p : parts)
    for (index_t i = 0; i < p.rows(); ++i)
      for (index_t j = 0; j < p.cols(); ++j) rows.push_back(p(i, j));
  const index_t cols = parts.front().cols();
  return Matrix<T>::copy_of(HostView<const T>(rows.data(), std::ssize(rows) / std::max<index_t>(cols, 1), cols, cols));
}

/// Of what ranks stored, the state of all rows.
template <class T>
Stored<T> joined(const std::vector<std::optional<Stored<T>>>& of_ranks) {
  Stored<T> all(of_ranks.front()->state);
  std::vector<HostView<const T>> parts;
  for (const auto& one : of_ranks) parts.push_back(one->state.basis);
  all.basis = below_each_other(parts);
  all.state.basis = all.basis.cview();
  for (const std::size_t k : all.state.tall) {
    parts.clear();
    for (const auto& one : of_ranks) parts.push_back(one->state.matrices[k].cview());
    all.state.matrices[k] = below_each_other(parts);
  }
  return all;
}

/// Of the state of all rows, that of a rank.
template <class T>
Stored<T> part_of(const Stored<T>& all, const Context& ctx) {
  Stored<T> part(all.state);
  if (ctx.communicator->size() == 1) return part;
  const index_t first = first_row(ctx), rows = ctx.slabs.rows(ctx.communicator->rank());
  part.basis = Matrix<T>::copy_of(all.state.basis.rows(first, rows));
  part.state.basis = part.basis.cview();
  for (const std::size_t k : all.state.tall)
    if (const auto& m = all.state.matrices[k]; m.rows() > 0)
      part.state.matrices[k] = Matrix<T>::copy_of(m.cview().rows(first, rows));
  return part;
}

/// What `ranks` ranks store after so many looks in a phase, which one rank alone takes for the end.
template <class T>
Stored<T> stored_by(int ranks, const Case<T>& c, const EigenOptions& options, std::string_view phase, int most) {
  std::vector<std::optional<Stored<T>>> stored(static_cast<std::size_t>(ranks));
  const auto found = on_ranks<T>(ranks, c.n(), [&](const Context& ctx, int rank) {
    auto o = options;
    int looks = 0;
    o.progress = [&](const solvers::Progress& p) { looks += p.phase == phase ? 1 : 0; };
    if (rank == ranks - 1) o.stop = [&] { return looks >= most; };
    solvers::Checkpointing<T> checkpointing;
    checkpointing.write = [&](const solvers::SavedState<T>& s) { stored[static_cast<std::size_t>(rank)].emplace(s); };
    return solvers::solve_eigen<T>(ctx, c.problem(ctx), o, {}, checkpointing);
  });
  for (const auto& one : found) {
    CHECK(one.stop == solvers::StopReason::interrupted);
    CHECK(one.iterations == found.front().iterations);
  }
  return joined(stored);
}

/// Stored by ranks, taken up by others: the bits of a run that was never interrupted.
template <class T>
void check_resumed(const Case<T>& c, const EigenOptions& options, std::string_view phase, int most) {
  const auto whole = solvers::solve_eigen<T>(one_rank(), c.problem(one_rank()), options);
  const Stored<T> stored = stored_by<T>(3, c, options, phase, most);
  const auto resume = [&](const Context& ctx, int) {
    const Stored<T> here = part_of(stored, ctx);
    solvers::Checkpointing<T> checkpointing{.resume = &here.state};
    return solvers::solve_eigen<T>(ctx, c.problem(ctx), options, {}, checkpointing);
  };
  check_all<T>(whole, on_ranks<T>(2, c.n(), resume), c.n());
  CHECK(difference(whole, resume(one_rank(), 0), 0) == "");
}

}  // namespace

TEST_CASE("one rank alone ends all, and another number of ranks goes on from what they stored") {
  const Case<double> square(generators::laplacian({45, 45}));
  check_resumed(square, seeded_options(8, Which::LA, Method::lanczos), "search", 2);
  check_resumed(square, seeded_options(6, Which::SA, Method::chebyshev), "search", 4);
  const Case<double> copies = ten_copies();
  const auto o = ten_copies_options();
  const Stored<double> verifying = stored_by<double>(2, copies, o, "verify", 2);
  REQUIRE(verifying.state.tall.size() == 1);
  CHECK(verifying.state.matrices[verifying.state.tall.front()].rows() == copies.n());
  check_resumed(copies, o, "verify", 2);
}
