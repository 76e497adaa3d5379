#include "tallskinny/app/tssolve/reordering.hpp"

#include <cmath>
#include <functional>
#include <utility>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/ranks/moved_rows.hpp"
#include "tallskinny/solvers/setup/memory.hpp"

namespace ts::app::tssolve {

namespace {

/// Describes what another order of rows changes for products.
std::string text_of(solvers::Reordering kind, const solvers::Locality& before, const solvers::Locality& after) {
  return std::string(name_of(kind)) + ": entries lie " + grouped(std::llround(after.mean_distance)) +
         " columns from the diagonal instead of " + grouped(std::llround(before.mean_distance)) + " on average, " +
         grouped(after.bandwidth) + " instead of " + grouped(before.bandwidth) + " at most; a product moves about " +
         human_bytes(static_cast<std::uint64_t>(after.product_bytes)) + " instead of " +
         human_bytes(static_cast<std::uint64_t>(before.product_bytes));
}

/// Bits that do not depend on the number of ranks need an order that does not: it is weighed by the units of rows.
bool by_units(const Run& run) { return run.ctx.determinism == Determinism::gpu_to_gpu; }

/// "4 ranks send 74 kB instead of 2.2 MB for each column of a block".
std::string sent_text(int ranks, const solvers::SentBytes& sent) {
  return grouped(ranks) + " ranks send " + human_bytes(static_cast<std::uint64_t>(sent.then)) + " instead of " +
         human_bytes(static_cast<std::uint64_t>(sent.now)) + " for each column of a block";
}

/// Decides if an order of rows for ranks is taken, notes it in run.facts, and describes its effect.
std::string weigh(Run& run, const solvers::RanksOrder& found) {
  const index_t rows = run.facts.input.rows;
  run.facts.reordered = by_units(run) ? found.units.less() : found.ranks.less();
  run.facts.sent = run.ctx.slabs.empty() ? found.units : found.ranks;
  std::string text;
  if (!run.ctx.slabs.empty()) text = sent_text(run.ctx.slabs.slabs(), found.ranks);
  if (by_units(run)) text += (text.empty() ? "" : ", and ") + sent_text(solvers::unit_slabs(rows).slabs(), found.units);
  if (run.facts.reordered) return text;
  return text + "; the file's order stays, for this one saves nothing" + (by_units(run) ? " where ranks are many" : "");
}

/// On ranks: rank 0 finds the order from the pattern alone, and rows go to those who have them then.
template <class T>
Reordered reorder_rows(Run& run, CsrMatrix<T>& own) {
  const Context& ctx = run.ctx;
  const auto on_first = [&ctx](const std::function<void()>& work) {
    solvers::agreed(ctx, [&] { ctx.communicator->rank() == 0 ? work() : void(); });
  };
  const auto expect = [&run](const char* what, index_t entries, std::size_t bytes) {
    solvers::expect_memory("--reorder", {{what, static_cast<std::uint64_t>(entries) * bytes}}, run.plan.host_bytes);
  };
  on_first([&] { expect("the pattern of the matrix, its graph and the new pattern", run.facts.input.nonzeros, 40); });
  CsrMatrix<T> pattern = solvers::pattern_on_first(ctx, own.view());
  solvers::RanksOrder found;
  std::vector<index_t> numbers;  // sent bytes, then where slabs begin
  on_first([&] {
    found = solvers::order_for_ranks(run.settings.reorder, pattern, ctx.slabs);
    numbers = {found.ranks.now, found.ranks.then, found.units.now, found.units.then};
    numbers.reserve(static_cast<std::size_t>(found.slabs.slabs()) + 5);
    for (int r = 0; r <= found.slabs.slabs(); ++r) numbers.push_back(found.slabs.begin(r));
  });
  pattern = {};
  numbers = gather_lists<index_t>(ctx, numbers), found.order = gather_lists<index_t>(ctx, found.order);
  found.ranks = {numbers[0], numbers[1]}, found.units = {numbers[2], numbers[3]};
  found.slabs = RowSlabs({numbers.begin() + 4, numbers.end()});
  Reordered done{{}, std::string(name_of(run.settings.reorder)) + ": " + weigh(run, found)};
  if (!run.facts.reordered) return done;
  solvers::agreed(ctx, [&] { expect("entries on their way to other ranks", own.nonzeros(), 2 * (8 + sizeof(T))); });
  own = solvers::reordered_rows(ctx, own.view(), found.order, found.slabs);
  run.ctx.slabs = found.slabs, done.order = std::move(found.order);
  return done;
}

}  // namespace

template <class T>
Reordered reorder(Run& run, AnyMatrix<T>& matrix) {
  auto& sparse = std::get<CsrMatrix<T>>(matrix);
  if (!run.ctx.slabs.empty()) return reorder_rows(run, sparse);
  const auto entries = static_cast<std::uint64_t>(sparse.nonzeros());
  solvers::expect_memory("--reorder", {{"the matrix twice", 2 * entries * (sizeof(T) + sizeof(std::int32_t))}},
                         run.plan.host_bytes);
  Reordered done;
  std::string of_ranks;
  if (by_units(run)) {
    solvers::RanksOrder found = solvers::order_for_ranks(run.settings.reorder, sparse, RowSlabs({0, sparse.rows}));
    of_ranks = weigh(run, found);
    if (!run.facts.reordered) return {{}, std::string(name_of(run.settings.reorder)) + ": " + of_ranks};
    done.order = std::move(found.order);
  } else {
    run.facts.reordered = true;
    done.order = solvers::order_of(run.settings.reorder, sparse.rows, sparse.pointers.data(), sparse.indices.data());
  }
  const index_t columns = run.plan.eigen.block_size;
  const auto before = solvers::locality_of(sparse, columns);
  sparse = solvers::reordered<T>(sparse, done.order);
  done.text = text_of(run.settings.reorder, before, solvers::locality_of(sparse, columns));
  if (!of_ranks.empty()) done.text += "; " + of_ranks;
  return done;
}
template Reordered reorder<double>(Run&, AnyMatrix<double>&);
template Reordered reorder<std::complex<double>>(Run&, AnyMatrix<std::complex<double>>&);

}  // namespace ts::app::tssolve
