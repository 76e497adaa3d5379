#include "tallskinny/app/tssolve/hermitian_plan.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <iomanip>
#include <optional>
#include <tuple>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tssolve/reordering.hpp"
#include "tallskinny/app/tssolve/report_fields.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/ranks/balance.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"

namespace ts::app::tssolve {

namespace {
bool is_dense(const io::Description& input) { return input.nonzeros == input.rows * input.cols; }

/// @param initial columns of a warm start
solvers::SearchPlan search_plan(const Settings& settings, const io::Description& input, index_t initial = 0) {
  return solvers::plan_hermitian(facts_of(input), request_of(settings, input), settings.eigen, !settings.mass.empty(),
                                 initial);
}

bool needs_factors(const Run& run) { return run.plan.search.factorise == solvers::Factorise::needed; }
}  // namespace

solvers::HermitianRequest request_of(const Settings& settings, const io::Description& input) {
  return solvers::request_of(settings.eigen, settings.sigma, settings.interval, is_dense(input));
}

RanksPlan who_works(const Settings& settings, const io::Description& input, const Device& device) {
  const auto alone = [](std::string why) { return RanksPlan{false, std::move(why)}; };
  const auto not_distributed = [&alone](const std::string& what) { return alone(what + " not distributed"); };
  if (settings.svd) return not_distributed("singular values are");
  if (settings.general) return not_distributed("matrices that are not Hermitian are");
  if (settings.interval && std::isinf(settings.interval->low) && std::isinf(settings.interval->high))
    return alone("the matrix is decomposed as a whole");
  const solvers::HermitianRequest request = request_of(settings, input);
  const bool through_factors = seeks_through_factors(request);
  if (target_of(request) && is_dense(input)) return not_distributed("factorisations of dense matrices are");
  if (settings.reorder != solvers::Reordering::none && (!settings.mass.empty() || through_factors))
    return not_distributed("--reorder beside factorisations is");
  if (settings.read.row_begin != 0 || settings.read.row_end >= 0) return not_distributed("a choice of rows is");
  const std::string& by = settings.preconditioner;
  if (by != "auto" && by != "none" && by != "jacobi" && by != "chebyshev")
    return not_distributed("--preconditioner " + by + " is");
  // Smaller matrices have few units of rows for each rank, and dense solvers are fast.
  constexpr index_t small = 256 * most_row_units;
  if (input.rows <= small) return alone("matrices of up to " + grouped(small) + " rows are too few to share");
  if (search_plan(settings, input).whole) return alone("the matrix is decomposed as a whole");
  if (device.kind == Device::Kind::cuda) {
    if (is_dense(input)) return not_distributed("dense matrices on GPUs are");
    if (through_factors) return not_distributed("factorisations beside GPUs are");
    if (!settings.mass.empty()) return not_distributed("pencils on GPUs are");
  }
  return {};
}

namespace {

/// Who decomposes the matrix as a whole, as half a sentence; empty where nobody does.
std::string by_whom(const Run& run) { return run.plan.whole ? ", by " + decomposed_by(run) : ""; }

/// The rows of this rank. Where another distribution of units gives the rank with the most entries a tenth less of
/// them, it takes that one, and reads again.
Input read_balanced(Run& run) {
  const auto read = [&run] {
    return read_hermitian(run.ctx, run.facts.input, run.settings.read, Role::matrix, run.settings.symmetrise);
  };
  Input own = read();
  const std::optional<std::vector<index_t>> here = std::visit(
      [unit = row_unit(run.facts.input.rows)](const auto& kind) -> std::optional<std::vector<index_t>> {
        const auto* sparse = std::get_if<0>(&kind);
        if (sparse == nullptr) return std::nullopt;
        return solvers::entries_of_units(sparse->pointers, unit);
      },
      own.matrix);
  if (any_rank(run.ctx, !here)) return own;
  const std::vector<index_t> entries = gather_lists<index_t>(run.ctx, *here);
  const std::optional<RowSlabs> fairer = solvers::fairer_slabs(run.ctx.slabs, entries);
  if (!fairer) return own;
  own = {};
  run.ctx.slabs = *fairer;
  run.console.note("rows are distributed by their entries, and read again");
  return read();
}

Input read_whole_or_rows(Run& run) {
  if (!run.ctx.slabs.empty()) return read_balanced(run);
  return read_hermitian(run.ctx, run.facts.input, run.settings.read, Role::matrix, run.settings.symmetrise);
}

/// Reads the matrix and reorders it, for what that gains is known only then.
std::string reordering_of(Run& run) {
  Input matrix = read_whole_or_rows(run);
  return std::visit([&](auto& a) { return reorder(run, a).text; }, matrix.matrix);
}

/// The mass matrix; it or the matrix becomes complex where the other is.
std::optional<Input> read_mass(const Run& run, Input& matrix) {
  const Settings& settings = run.settings;
  if (settings.mass.empty()) return std::nullopt;
  const io::Description described = io::describe(io::parse_location(settings.mass), settings.read);
  const index_t rows = matrix.description.rows;
  if (described.rows != rows)
    throw Error(Errc::bad_input, described.where.text() + " has " + grouped(described.rows) +
                                     " rows, but the matrix has " + grouped(rows));
  Input mass = read_hermitian(run.ctx, described, settings.read, Role::companion, settings.symmetrise);
  if (is_complex_input(mass) != is_complex_input(matrix)) make_complex(is_complex_input(mass) ? matrix : mass);
  return mass;
}

/// Share of this rank in bytes that all rows take.
std::uint64_t share_here(const Run& run, std::uint64_t bytes) {
  if (run.ctx.slabs.empty()) return bytes;
  const double share = static_cast<double>(run.rows_here()) / static_cast<double>(run.facts.input.rows);
  return static_cast<std::uint64_t>(share * static_cast<double>(bytes));
}

/// Facts that only the matrix tells: --dry-run reads it.
struct Analysis {
  std::string factors;                  ///< size and maker; empty where none are needed
  std::vector<solvers::NamedWay> ways;  ///< the cheapest first; empty where the method was named
};

/// Reads the matrix and analyses its pattern, for the size of its factors is known only once they are ordered.
Analysis analysed(Run& run) {
  Analysis found;
  const bool chooses = run.settings.eigen.method == solvers::Method::automatic && run.ctx.slabs.empty();
  const solvers::Factorise factorise = run.plan.search.factorise;
  if (!needs_factors(run) && !(chooses && factorise == solvers::Factorise::cheap && run.facts.input.sparse))
    return found;
  Input matrix = read_whole_or_rows(run);
  auto other = read_mass(run, matrix);
  std::visit(
      [&]<class T>(const AnyMatrix<T>& a) {
        std::optional<CsrMatrix<T>> mass;
        if (other) mass = as_sparse(std::get<AnyMatrix<T>>(std::move(other->matrix)));
        std::optional<solvers::FactorEstimate> estimate;
        if (needs_factors(run)) {
          estimate = solvers::estimate_factors<T>(run.ctx, a, solvers::view_of(mass), solvers::FactorKind::ldl,
                                                  run.factors_by);
          found.factors = add_factors(run, estimate, other ? "A - sigma M" : "A - sigma I");
        }
        if (chooses)
          found.ways =
              solvers::ways_of(request_of(run.settings, run.facts.input), run.plan.eigen, run.facts.input.rows,
                               static_cast<double>(run.facts.input.nonzeros),
                               solvers::factor_cost<T>(run.ctx, a, solvers::view_of(mass), factorise, estimate));
      },
      matrix.matrix);
  return found;
}

void show_ways(const std::vector<solvers::NamedWay>& ways) {
  if (ways.empty()) return;
  std::cout << "ways, the cheapest first (predicted, in Gflop of block steps):\n";
  for (const auto& [name, way] : ways) {
    std::cout << "  " << std::left << std::setw(32) << name << std::right << std::setw(9)
              << short_number(way.total() / 1e9);
    if (way.steps > 0) std::cout << "   " << way.steps << " block steps";
    if (way.steps > 0 && way.once > 0) std::cout << ", " << short_number(way.once / 1e9) << " before the first";
    std::cout << '\n';
  }
}

void add_ways(JsonObject& json, const std::vector<solvers::NamedWay>& ways) {
  std::vector<JsonObject> list;
  for (const auto& [name, way] : ways) {
    JsonObject one;
    one.add("way", std::string(name)).add("gflop", way.total() / 1e9).add("block_steps", way.steps);
    list.push_back(std::move(one));
  }
  if (!list.empty()) json.add("ways", list);
}

void show_json(Run& run, const Analysis& analysis) {
  const auto& [settings, input, plan] = std::tie(run.settings, run.facts.input, run.plan.eigen);
  const auto on_device = run.plan.memory.uses_of(true);
  JsonObject json = JsonObject::of_schema("tssolve");
  json.add("matrix", input.where.text()).add("dry_run", true).add("rows", input.rows).add("nonzeros", input.nonzeros);
  const solvers::HermitianSearch& search = run.plan.search;
  json.add("method", std::string(search.method) + by_whom(run))
      .add("method_reason", std::string(search.why))
      .add("precision", name_of(settings.eigen.precision))
      .add("nev", plan.nev)
      .add("block_size", plan.block_size);
  json.add("max_basis", plan.max_basis).add("max_iterations", plan.max_iterations);
  add_memory(json, run.plan.memory.uses_of(false), run.plan.host_bytes);
  if (!on_device.empty()) {
    JsonObject device;
    add_memory(device, on_device, run.plan.device_bytes);
    json.add("device_memory", device).add("basis_on_device", !run.plan.memory.spills);
  }
  add_ways(json, analysis.ways);
  add_ranks(ToJson{json}, run.facts);
  std::cout << json.text() << '\n';
}

}  // namespace

void plan_hermitian(Run& run) {
  const Settings& settings = run.settings;
  const io::Description& input = run.facts.input;
  if (settings.reorder != solvers::Reordering::none && !input.sparse)
    throw Error(Errc::invalid_argument, "--reorder is for sparse matrices, but " + input.where.text() + " is dense");
  index_t initial_columns = 0;
  if (!settings.initial.empty())
    initial_columns = io::describe(io::parse_location(settings.initial), settings.read.of_another_file()).cols;
  solvers::MemoryNeeds needs;
  needs.rows = run.rows_here(), needs.element_bytes = facts_of(input).element_bytes;
  // Where rows are distributed, as they are read, and once more in local numbers of columns.
  needs.matrix_bytes = share_here(run, run.ctx.slabs.empty() ? input.bytes : 2 * input.bytes);
  if (!run.who.factors.empty() && run.ranks.first()) needs.matrix_bytes += input.bytes;  // whole, to be ordered
  static_cast<solvers::SearchPlan&>(run.plan) = search_plan(settings, input, initial_columns);
  const solvers::EigenPlan& plan = run.plan.eigen;
  const solvers::HermitianRequest request = request_of(settings, input);
  run.plan.search = solvers::search_of(request, plan);
  const bool distributed = !run.ctx.slabs.empty();
  if (distributed) run.plan.work = {};
  take_device(run, needs,
              distributed && run.device.kind != Device::Kind::cuda ? "rows are distributed over ranks" : "");
  solvers::EigenPlan here = plan;
  here.bytes = share_here(run, plan.bytes);
  run.plan.memory = solvers::plan_hermitian_memory(here, request, needs);
  run.plan.what = "solving for " + grouped(plan.nev) + " eigenvalues of " + input.where.text();
  if (settings.eigen.nev > input.rows && !settings.interval)
    run.warning =
        grouped(settings.eigen.nev) + " eigenvalues were asked for, but the matrix has only " + grouped(input.rows);
}

void show_hermitian(Run& run) {
  const Analysis analysis = analysed(run);
  const bool reorders = run.settings.reorder != solvers::Reordering::none;
  if (reorders) run.facts.reordering = reordering_of(run);  // by all ranks
  if (!run.ranks.first()) return;
  if (run.settings.common.json) return show_json(run, analysis);
  const auto& [settings, input, plan] = std::tie(run.settings, run.facts.input, run.plan.eigen);
  const solvers::HermitianSearch& search = run.plan.search;
  const std::string method = std::string(search.method) + by_whom(run), reason(search.why);
  std::cout << input.where.text() << ": " << grouped(input.rows) << " x " << grouped(input.cols) << ", "
            << grouped(input.nonzeros) << " entries, " << input.convention << '\n'
            << "method: " << method << (reason.empty() ? "" : ", since " + reason) << '\n';
  if (plan.method != solvers::Method::dense)
    std::cout << "block size " << plan.block_size << ", basis of " << plan.max_basis << " vectors, at most "
              << grouped(plan.max_iterations) << " block steps\n";
  if (run.facts.ranks > 1) std::cout << run.facts.ranks << " ranks, " << run.facts.ranks_work << '\n';
  show_memory(run);
  if (run.plan.memory.spills)
    std::cout << "the basis does not fit on the device: it passes through it for every product\n";
  if (!analysis.factors.empty()) std::cout << "factors " << analysis.factors << '\n';
  show_ways(analysis.ways);
  if (reorders) std::cout << "another order by " << run.facts.reordering << '\n';
}

namespace {

/// Describes the part of the matrices that is not Hermitian and is left out.
void report_dropped(Run& run, const Loaded& loaded) {
  RunFacts& facts = run.facts;
  facts.asymmetry = loaded.matrix.dropped.largest;
  if (!run.settings.symmetrise) facts.dropped.matrix = loaded.matrix.dropped.norm;
  const auto report = [&](const std::string& note) {
    if (note.empty()) return;
    facts.note += (facts.note.empty() ? "" : "; ") + with_flags(note);
    run.console.note(with_flags(note));
  };
  report(loaded.matrix.note);
  if (!loaded.other) return;
  if (!run.settings.symmetrise) facts.dropped.mass = loaded.other->dropped.norm;
  report(loaded.other->note);
}

}  // namespace

Loaded read_planned(Run& run) {
  RunFacts& facts = run.facts;
  const auto& plan = run.plan.eigen;
  run.settings.eigen.spills = run.plan.memory.spills;
  if (run.plan.memory.spills && !run.ctx.slabs.empty())
    throw Error(Errc::out_of_memory, "the rows of the basis that this rank has do not fit on " +
                                         device_text(run.device) +
                                         ": start more ranks with a GPU each, or take a smaller --max-basis");
  if (run.plan.memory.spills)
    run.console.note("the basis does not fit on the device and stays in page-locked host memory");
  // Kernels are compiled or loaded while the file is read.
  std::future<void> kernels;
  if (run.ctx.stream && !run.plan.memory.spills && plan.method != solvers::Method::dense)
    kernels = std::async(std::launch::async, [&run, &plan] {
      const auto prepare = is_complex_type(run.facts.input) ? &solvers::prepare_lanczos<std::complex<double>>
                                                            : &solvers::prepare_lanczos<double>;
      const index_t rows = run.rows_here(),
                    of_row = run.facts.input.nonzeros / std::max<index_t>(1, run.facts.input.rows);
      prepare(alone(run.ctx), rows, rows * of_row, plan, run.settings.eigen.precision);
    });
  Loaded loaded{read_whole_or_rows(run), {}};
  if (kernels.valid()) kernels.get();
  loaded.other = read_mass(run, loaded.matrix);
  report_dropped(run, loaded);
  const solvers::HermitianSearch& search = run.plan.search;
  facts.method = std::string(search.method) + by_whom(run), facts.method_reason = search.why;
  if (loaded.other) facts.method += ", for the pencil with the mass matrix " + loaded.other->description.where.text();
  facts.block_size = plan.block_size, facts.max_basis = plan.max_basis;
  run.console.note(facts.input.where.text() + ": " + grouped(facts.input.rows) + " x " + grouped(facts.input.cols) +
                   ", " + grouped(facts.input.nonzeros) + " entries; " + facts.method +
                   (facts.method_reason.empty() ? "" : ", since " + facts.method_reason));
  return loaded;
}

}  // namespace ts::app::tssolve
