#include "tallskinny/app/tssolve/prediction.hpp"

#include <algorithm>
#include <iostream>
#include <optional>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/hermitian_plan.hpp"
#include "tallskinny/app/tssolve/reordering.hpp"

namespace ts::app::tssolve {

namespace {

/// What another order makes ranks send: its pattern decides, so that the matrix is read.
solvers::SentBytes sent_in_another_order(const Settings& settings, const io::Description& input) {
  const Input matrix = read_hermitian(input, settings.read, Role::matrix, settings.symmetrise);
  const RowSlabs slabs = RowSlabs::of_units(input.rows, settings.ranks.ranks);
  return std::visit(
      [&]<class T>(const AnyMatrix<T>& a) {
        return solvers::order_for_ranks(settings.reorder, std::get<CsrMatrix<T>>(a), slabs).ranks;
      },
      matrix.matrix);
}

}  // namespace

int predict(const Settings& settings, const io::Description& input) {
  if (const RanksPlan who = who_works(settings, input, Device{}); !who.together)
    throw Error(Errc::invalid_argument, "--ranks has nothing to predict: rank 0 works alone, since " + who.why_alone);
  expects(input.sparse, "--ranks predicts sparse matrices");
  const std::size_t element_bytes = is_complex_type(input) ? 16 : 8;
  const solvers::EigenPlan plan = solvers::plan_eigen(input.rows, element_bytes, settings.eigen);
  expects(plan.method == solvers::Method::lanczos, "--ranks predicts block Lanczos only");
  const solvers::MachineModel machine = read_machine(settings.ranks.machine);
  // A file tells the pattern of its matrix only when it is read.
  const index_t halo = solvers::halo_of_grid(input.rows);
  // A triangle in a file is completed: the bytes in memory tell how many entries there are at most.
  const auto of_entries = static_cast<index_t>(input.bytes) - 8 * (input.rows + 1);
  const index_t entries = std::max(input.nonzeros, of_entries / static_cast<index_t>(element_bytes + 4));
  const solvers::RankPrediction prediction =
      solvers::predict_hermitian(machine, plan, {input.rows, entries, element_bytes, halo}, settings.ranks.ranks);
  std::optional<solvers::SentBytes> sent;
  if (settings.reorder != solvers::Reordering::none) sent = sent_in_another_order(settings, input);
  if (settings.common.json) {
    JsonObject json = JsonObject::of_schema("tssolve");
    json.add("matrix", input.where.text()).add("dry_run", true);
    json.add("rows", input.rows).add("nonzeros", input.nonzeros).add("nev", plan.nev);
    json.add("block_size", plan.block_size).add("max_basis", plan.max_basis).add("assumed_halo_rows", halo);
    if (sent) json.add("sent_bytes_file_order", sent->now).add("sent_bytes_new_order", sent->then);
    add_prediction(json, machine, prediction);
    std::cout << json.text() << '\n';
    return exit_ok;
  }
  std::cout << input.where.text() << ": " << grouped(input.rows) << " rows, " << grouped(input.nonzeros)
            << " entries; block Lanczos with blocks of " << plan.block_size << " and a basis of " << plan.max_basis
            << " vectors\nassumed: each neighbour needs " << grouped(halo) << " rows of a block, as in a 3-D grid"
            << (sent ? "" : "; the matrix itself is not read") << '\n';
  if (sent)
    std::cout << "another order by " << name_of(settings.reorder) << ": " << sent_text(settings.ranks.ranks, *sent)
              << '\n';
  print_prediction(std::cout, machine, prediction);
  return exit_ok;
}

}  // namespace ts::app::tssolve
