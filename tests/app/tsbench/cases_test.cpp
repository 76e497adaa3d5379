#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"

#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/tsbench/gpu/device.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::bench;

TEST_CASE("widths are numbers, ranges and pairs") {
  const auto shapes = parse_widths("3,5-7,16x4");
  REQUIRE(shapes.size() == 5);
  CHECK((shapes[1].p == 5 && shapes[3].q == 7 && shapes[4].p == 16 && shapes[4].q == 4));
  for (const char* wrong : {"0", "5-3", "4x", "x4", "1-2-3", "5000", "-4", "8-"})
    CHECK_THROWS_AS(parse_widths(wrong), Error);
}

TEST_CASE("sparse patterns count their entries, and columns lie in the matrix") {
  for (const Pattern kind : every_pattern)
    for (const double wanted : {1.0, 8.0, 125.5, 520.0, 20000.0}) {
      const auto matrix = SparsePattern::of_rows(kind, wanted);
      CAPTURE(name_of(kind), matrix.rows);
      CHECK((static_cast<double>(matrix.rows) <= wanted || matrix.rows == SparsePattern::least_rows));
      index_t entries = 0;
      bool counted = true, inside = true, rising = true;
      for (index_t i = 0; i < matrix.rows; ++i) {
        counted = counted && matrix.first_entry(i) == entries;
        index_t before = -1;
        matrix.row(i, [&](index_t column) {
          ++entries;
          inside = inside && column >= 0 && column < matrix.rows;
          rising = rising && column > before;
          before = column;
        });
      }
      CHECK((counted && inside));
      CHECK((rising || kind == Pattern::graph));
      CHECK(matrix.entries() == entries);
      const double mean = static_cast<double>(entries) / static_cast<double>(matrix.rows);
      const index_t side = matrix.side();
      if (kind == Pattern::stencil) CHECK(entries == 7 * side * side * side - 6 * side * side);
      if (kind != Pattern::stencil && wanted > 1000)
        CHECK(std::abs(mean / SparsePattern::entries_a_row(kind) - 1) < 0.3);
    }
}

TEST_CASE("facts tell the sparse patterns apart") {
  const auto facts = [](Pattern kind) { return facts_of(SparsePattern::of_rows(kind, 64000)); };
  for (const Pattern kind : {Pattern::stencil, Pattern::band, Pattern::random, Pattern::blocks})
    CHECK(facts(kind).uneven < 20);
  CHECK(facts(Pattern::graph).uneven > 200);
  CHECK(facts(Pattern::graph).longest > 10000);
  CHECK(facts(Pattern::blocks).longest == 128);
  for (const Pattern kind : {Pattern::stencil, Pattern::band, Pattern::blocks}) CHECK(facts(kind).scattered < 40);
  CHECK(facts(Pattern::random).scattered > 70);
  CHECK(facts(Pattern::graph).scattered > 40);
}

TEST_CASE("the tables of tsbench gpu hold what their names say") {
  CHECK(table_cases("dense", DType::float64, 1 << 30).size() == 3 * 64);
  for (const Table& table : tables())
    for (const DType type : every_dtype) {
      std::set<std::string> seen;
      for (const Case& c : table_cases(std::string(table.name), type, 1 << 30)) {
        const Problem& p = c.problem;
        CHECK(p.type == type);
        CHECK(p.n > 0);
        std::ostringstream key;
        key << name_of(p.operation) << ' ' << p.n << ' ' << p.p << ' ' << p.q << ' ' << c.form();
        CHECK(seen.insert(key.str()).second);  // no case twice
      }
    }
  CHECK_THROWS_AS(table_cases("none", DType::float64, 1 << 30), Error);
}

TEST_CASE("a case's operands lie as it says") {
  Case c{.gap = 3, .offset = 1};
  std::array<double, 128> memory{};
  const auto rows = c.tall<double>(memory.data(), 10, 4);
  CHECK((rows.row_stride == 7 && rows.col_stride == 1));
  CHECK(c.tall_bytes(10, 4, 8) >= (10 * 7 + 1) * 8);
  CHECK(c.form() == "rows +3 @1");
  c.layout = Layout::col_major;
  const auto columns = c.tall<double>(memory.data(), 10, 4);
  CHECK((columns.row_stride == 1 && columns.col_stride == 13));
  const cuda::GpuProblem p = gpu_problem_of(c, Determinism::run_to_run);
  CHECK(p.first.layout == Layout::col_major);
  CHECK(p.first.alignment == 8);
}

TEST_CASE("memory moves whole sectors where lines have gaps") {
  Case c{.problem = {Operation::gram, DType::float64, 1000, 1, 1}, .gap = 1};
  CHECK(c.sector_bytes() == 1000 * 16);  // every second double, yet all sectors
  c.problem.operation = Operation::tsmm;
  CHECK(c.sector_bytes() == 1000 * (16 + 16 + 16));  // and those of the result are read as well
  c.problem.p = c.problem.q = 8;
  CHECK(c.sector_bytes() == 1000 * (72 + 72 + 32));
  c.gap = 100;
  CHECK(c.sector_bytes() == 1000 * (88 + 88 + 48));
}

TEST_CASE("every case of the tables has kernels, known without a GPU", "[cuda]") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  for (const Table& table : tables()) {
    const auto cases = table_cases(std::string(table.name), DType::complex64, 1 << 30);
    for (std::size_t i = 0; i < cases.size(); i += 7) {
      const auto kernels = kernels_of(cases[i], device, Determinism::run_to_run);
      INFO(table.name << ' ' << name_of(cases[i].problem.operation) << ' ' << cases[i].problem.p);
      const bool by_library =
          cuda::library_choice(gpu_problem_of(cases[i], Determinism::run_to_run), device).has_value();
      CHECK((!kernels.empty() || by_library));
    }
  }
}

TEST_CASE("the kernels of the benchmark itself compile without a GPU", "[cuda]") {
  const auto compiles = [](const cuda::KernelPlan& plan, const std::string& arch) {
    INFO(plan.family << ' ' << arch);
    CHECK(cuda::compile(cuda::job_of(plan, arch)).attributes.spill_store_bytes == 0);
  };
  for (const DType type : {DType::float64, DType::complex64, DType::bfloat16})
    for (const cuda::KernelPlan& plan : bench_plans(type)) compiles(plan, "sm_90a");
  for (const char* arch : {"sm_80", "sm_90a"}) {
    const cuda::DeviceInfo device = cuda::typical_device(arch);
    for (const cuda::KernelPlan& plan : app::roof_plans(device)) compiles(plan, arch);
  }
}
