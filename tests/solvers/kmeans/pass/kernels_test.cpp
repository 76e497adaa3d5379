// The kernels of assign, which no Operation stands for, compiled without a GPU.
#include "tallskinny/solvers/kmeans/pass/filter/projection_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/projection_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"
#include "tallskinny/solvers/kmeans/seeding/launch.hpp"
#include "tallskinny/tests/gemm/compile_plans.hpp"

using namespace ts;

namespace {

using Shape = std::pair<index_t, index_t>;  ///< columns and centroids

/// Kernels that add up the rows that change clusters: any type and width, in one piece or not, weighed or not.
void add_sums(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  const auto size = static_cast<int>(size_of(type));
  for (const auto& [d, alignment] :
       {std::pair<index_t, int>{1, size}, {3, size}, {6, 2 * size}, {20, 16}, {512, 16}, {769, size}})
    for (const bool weighed : {false, true})
      for (const bool plain : {true, false})
        if (plain || d == 769)
          plans.push_back(cuda::sums_add_plan({type, 1 << 20, d, plain, alignment}, weighed, 1 << 21, device));
}

/// Kernels that score rows of up to 128 columns with many centroids, and confirm their labels.
void add_producers(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  const int size = static_cast<int>(size_of(type));
  constexpr Shape shapes[] = {{16, 4000}, {33, 3000}, {64, 1000}, {100, 1000}, {120, 600}, {128, 1000}, {128, 3000}};
  for (const auto& [d, k] : shapes)
    for (const bool stable : {false, true})
      for (const bool wide : {true, false})
        for (const int alignment : std::set{cuda::common_power(d * size, 16), size}) {
          if (!wide && type == DType::float64) continue;
          const cuda::AssignProblem p{{type, 1 << 22, d, true, alignment}, k, wide, false, stable};
          const cuda::AssignPlans found = cuda::assign_plans(p, device);
          CHECK(cuda::policy_of<cuda::GroupsPolicy>(found.scores->kernel).producers > 0);
          CHECK(found.confirms == stable);
          plans.push_back(found.scores->kernel);
        }
}

/// Kernels that score and decide labels, for many shapes; some types and architectures take half of these.
void add_scores(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device, bool all,
                std::size_t& turn) {
  const auto add = [&](cuda::AssignProblem p) {
    const cuda::AssignPlans found = cuda::assign_plans(p, device);
    if (found.scores) plans.push_back(found.scores->kernel);
    if (found.again) plans.push_back(found.again->kernel);
    plans.push_back(cuda::assign_prepare_plan(p, found));
    p.rows.plain = false;
    CHECK_FALSE(cuda::assign_plans(p, device).scores);
  };
  constexpr Shape shapes[] = {{1, 1},    {4, 16},   {8, 16},    {16, 16},   {16, 64},   {31, 9},
                              {32, 32},  {32, 256}, {48, 20},   {64, 64},   {64, 1024}, {128, 1000},
                              {100, 30}, {300, 40}, {784, 500}, {128, 100}, {512, 1000}};
  for (const auto& [d, k] : shapes) {
    if (++turn % 2 == 0 && !all) continue;
    const int size = static_cast<int>(size_of(type));
    const int alignment = turn % 4 == 0 ? size : std::min(16, cuda::common_power(d * size, 16));
    add({{type, 1 << 22, d, true, alignment, turn % 3 == 0}, k, turn % 3 == 0 || type == DType::float64});
  }
  if (all) add({{type, 1 << 22, 256}, 1000, true});
}

/// Rows of more columns than registers hold, where there are no warpgroups.
void add_slabs(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  const int size = static_cast<int>(size_of(type));
  constexpr Shape shapes[] = {{129, 3}, {144, 30}, {256, 1000}, {768, 4096}, {3072, 65536}};
  for (const auto& [d, k] : shapes)
    for (const bool wide : {false, true}) {
      if (wide != (type == DType::float64) && d != 256) continue;
      const cuda::AssignProblem p{{type, 1 << 22, d, true, std::min(16, cuda::common_power(d * size, 16))}, k, wide};
      const cuda::AssignPlans found = cuda::assign_plans(p, device);
      REQUIRE((found.scores && found.again));
      const auto products = cuda::product_plans(p, found, device);
      CHECK(products.has_value() == (d >= 384));
      if (products) plans.push_back(products->round), plans.push_back(products->minima);
      plans.push_back(found.scores->kernel), plans.push_back(found.again->kernel);
    }
}

/// Rows taken as they are.
void add_raw_rows(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  constexpr Shape shapes[] = {{4, 16}, {16, 16}, {16, 64}, {64, 64}, {128, 100}, {32, 256}};
  for (const auto& [d, k] : shapes) {
    const cuda::AssignProblem p{{type, 1 << 22, d, true, 16, d != 16}, k, false, true};
    plans.push_back(cuda::assign_plans(p, device).scores->kernel);
  }
  constexpr Shape wide_shapes[] = {{136, 4096}, {512, 1000}, {768, 4096}, {1024, 16384}};
  for (const auto& [d, k] : wide_shapes)
    for (const bool raw : {true, false}) {
      const cuda::AssignProblem p{{type, 1 << 20, d, true, 16, true}, k, false, raw};
      const cuda::AssignPlans found = cuda::assign_plans(p, device);
      CHECK(found.scores->raw == (raw && type == DType::float16));
      CHECK(found.again.has_value() != found.collect.has_value());
      CHECK(found.collect.has_value() == (d == 1024));  // no room for two parts of each number
      plans.push_back(found.scores->kernel);
      if (found.collect) plans.push_back(found.collect->kernel);
    }
}

/// Scores taken at their word.
void add_fast(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  constexpr Shape shapes[] = {{4, 16}, {16, 64}, {32, 256}, {64, 1024}, {512, 1000}};
  for (const auto& [d, k] : shapes) {
    const cuda::AssignProblem p{{type, 1 << 22, d, true, 16, d != 16}, k, false, true, false, true};
    const cuda::AssignPlans found = cuda::assign_plans(p, device);
    CHECK_FALSE(found.again);
    if (found.scores) plans.push_back(found.scores->kernel);
  }
}

/// Centroids listed by projections.
void add_projections(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  const int size = static_cast<int>(size_of(type));
  constexpr Shape shapes[] = {{128, 8192}, {768, 4096}, {1024, 16384}, {201, 6000}};
  for (const auto& [d, k] : shapes) {
    const cuda::AssignProblem p{{type, 1 << 21, d, true, std::min(16, cuda::common_power(d * size, 16))}, k};
    const ProjectionForm form = cuda::projection_form(p, 50, device);
    if (device.capability() != 90) {
      CHECK(form.columns == 0);
      continue;
    }
    CHECK((form.bytes() / 32 + 1) % (form.bytes() % 128 == 96 ? 4 : 3) == 0);
    const cuda::AssignPlans found = cuda::assign_plans(p, device);
    const auto listed = cuda::assign_listed_plan(p, found, device);
    plans.push_back(listed->kernel);
    plans.push_back(cuda::assign_listed_plan(p, found, device, true)->kernel);
    plans.push_back(cuda::warps_plan("bounds_lists", cuda::BoundsListsPolicy{}, 1000, device, 64));
    for (const ProjectionForm& projections : {form, ProjectionForm{d < 256 ? 96 : 256, ProjectionNumbers::int8}}) {
      plans.push_back(cuda::projection_limits_plan(p.rows, projections, found.steps, device));
      plans.push_back(cuda::projection_tiles_plan(p.rows.n, projections, false, device));
      plans.push_back(cuda::projection_rows_plan(p.rows, projections));
      plans.push_back(cuda::projection_axes_plan(projections, d));
      if (const auto factor = cuda::axes_factor_plan(projections.columns, device)) plans.push_back(*factor);
      plans.push_back(cuda::projection_centroids_plan(projections.numbers, k));
    }
    plans.push_back(cuda::warps_plan("projection_lists", cuda::ProjectionListsPolicy{}, 1000, device, 64));
    plans.push_back(cuda::threads_plan("bounds_moves", cuda::BoundsMovesPolicy{}, 1000));
    plans.push_back(cuda::bounds_schedule_plan());
    plans.push_back(cuda::warps_plan("bounds_uppers", cuda::BoundsUppersPolicy{type}, 1000, device, 64));
  }
  if (device.capability() == 90)
    for (const index_t columns : {64, 160, 224, 352, 480})
      plans.push_back(cuda::projection_tiles_plan(1 << 20, {columns, ProjectionNumbers::int8}, false, device)),
          plans.push_back(cuda::projection_rows_plan({type, 1 << 20, 768}, {columns, ProjectionNumbers::int8}));
  constexpr Shape other_shapes[] = {{512, 1000}, {64, 100000}};
  for (const auto& [d, k] : other_shapes)
    CHECK(cuda::projection_form({{type, 1 << 21, d}, k}, 50, device).columns == 0);
}

/// Kernels that each type needs once: decisions, moments, distances, seeding.
void add_once(std::vector<cuda::KernelPlan>& plans, DType type, const cuda::DeviceInfo& device) {
  plans.push_back(cuda::warps_plan("assign_decide", cuda::DecidePolicy{type}, 1000, device));
  plans.back().budget.shared_bytes = cuda::DecidePolicy::shared_bytes;
  plans.push_back(cuda::warps_plan("assign_line", cuda::LinePolicy{type}, 1000, device));
  plans.push_back(cuda::warps_plan("assign_gather", cuda::GatherPolicy{}, 1000, device));
  plans.push_back(cuda::warps_plan("assign_verify", cuda::VerifyPolicy{type}, 1000, device));
  using Round = cuda::MomentsRound;
  for (const Round round : {Round::sum, Round::spread, Round::first_not_finite})
    plans.push_back(cuda::threads_plan("assign_moments", cuda::MomentsPolicy{type, round}, 1000));
  using Task = cuda::DistancesTask;
  for (const auto task :
       {Task::own, Task::lower, Task::inertia_of_chunks, Task::largest_of_chunks, Task::listed_chunks})
    plans.push_back(cuda::threads_plan("assign_distances", cuda::DistancesPolicy{type, task}, 1000));
  plans.push_back(cuda::threads_plan("seed_gather", cuda::SeedGatherPolicy{type, type == DType::float64}, 1000));
}

void add_seeding(std::vector<cuda::KernelPlan>& plans, const cuda::DeviceInfo& device) {
  plans.push_back(cuda::threads_plan("seed_keep", cuda::SeedKeepPolicy{}, 1000));
  for (const DType type : {DType::float32, DType::float64})
    for (const index_t d : {16, 128, 512, 768, 1400}) {
      const cuda::BatchPlans batch = cuda::batch_plans(type, 1 << 16, d, device);
      plans.push_back(batch.tiles);
      if (d != 16) continue;
      for (const cuda::KernelPlan& plan : {batch.halves, batch.ahead, batch.pairs, batch.measure, batch.rounds,
                                           cuda::batch_plans(type, 1 << 16, d, device, false).tiles})
        plans.push_back(plan);
    }
}

std::vector<cuda::KernelPlan> assign_plans(const cuda::DeviceInfo& device) {
  std::vector<cuda::KernelPlan> plans;
  std::size_t turn = 0;
  for (const DType type : {DType::float64, DType::float32, DType::float16, DType::bfloat16}) {
    // float16 and bfloat16, one architecture and another differ little: half of the shapes show what does.
    const bool all = device.capability() == 90 && type == DType::float32;
    if (device.capability() != 90 && type == DType::bfloat16) continue;
    add_scores(plans, type, device, all, turn);
    if (all || type == DType::float16) {
      if (device.capability() == 90) add_raw_rows(plans, type, device);
      add_fast(plans, type, device);
    }
    if (device.capability() == 90)
      add_producers(plans, type, device);
    else
      add_slabs(plans, type, device);
    if (type == DType::float16 || type == DType::float32) add_projections(plans, type, device);
    add_once(plans, type, device);
    add_sums(plans, type, device);
  }
  const cuda::AssignProblem in_float64{{DType::float32, 1000, 200, false}, 3000};
  plans.push_back(cuda::assign_prepare_plan(in_float64, cuda::assign_plans(in_float64, device)));
  for (const bool put : {false, true})
    for (const index_t clusters : {1000, 1 << 20})
      plans.push_back(cuda::sums_sort_plan(put, clusters, 1 << 20, device));
  plans.push_back(cuda::threads_plan("sums_places", cuda::SumsPlacesPolicy{}, 1000, 32));
  for (const bool move : {false, true})
    plans.push_back(cuda::threads_plan("assign_means", cuda::MeansPolicy{move}, 1000));
  add_seeding(plans, device);
  return plans;
}

}  // namespace

TEST_CASE("some kernels of assign compile within their budget", "[assign][nvrtc]") {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100"})
    test::compile_plans(arch, test::some_of(assign_plans(cuda::typical_device(arch)), 8));
}

TEST_CASE("projections are 8-bit integers where many axes pay", "[assign][projections]") {
  const auto form = [](index_t n, index_t d, index_t k, index_t passes, const char* arch = "sm_90a") {
    return cuda::projection_form({{DType::float16, n, d, true, 16}, k}, passes, cuda::typical_device(arch));
  };
  CHECK(form(1 << 20, 768, 4096, 50).numbers == ProjectionNumbers::int8);
  CHECK(form(1 << 20, 768, 4096, 50).columns == 224);
  CHECK(form(1 << 20, 768, 4096, 50).from == 2);  // the second pass would leave most pairs
  CHECK(form(1 << 19, 1024, 16384, 50).columns == 160);
  CHECK(form(1 << 19, 1024, 16384, 50).from == 1);
  CHECK(form(1 << 21, 128, 8192, 50).numbers == ProjectionNumbers::float16);  // conversions would bind
  CHECK(form(1 << 21, 128, 8192, 50).columns == 48);
  CHECK(form(1 << 20, 512, 2048, 50).numbers == ProjectionNumbers::int8);
  CHECK(form(1 << 20, 768, 4096, 8).numbers == ProjectionNumbers::int8);
  // Axes would take longer than they save.
  CHECK(form(1 << 20, 512, 2048, 1).columns == 0);
  CHECK(form(1 << 16, 768, 4096, 50).columns == 0);
  CHECK(form(1 << 20, 512, 1000, 50).columns == 0);
  CHECK(form(1 << 20, 768, 4096, 50, "sm_100").columns == 0);
}

TEST_CASE("rows of fewer dimensions than the plan has axes get the projections that kernels take",
          "[assign][projections]") {
  const ProjectionForm halves{112}, integers{224, ProjectionNumbers::int8};
  CHECK(halves.within(500).columns == 112);
  CHECK(halves.within(112).columns == 112);
  CHECK(halves.within(111).columns == 80);
  CHECK(halves.within(47).columns == 32);
  CHECK(halves.within(31).columns == 0);
  CHECK(integers.within(224).columns == 224);
  CHECK(integers.within(223).columns == 160);
  CHECK(integers.within(150).columns == 96);
  CHECK(integers.within(95).columns == 64);
  CHECK(integers.within(63).columns == 48);  // in float16
  CHECK(integers.within(63).numbers == ProjectionNumbers::float16);
  CHECK(integers.within(31).columns == 0);
  CHECK(integers.within(100).numbers == ProjectionNumbers::int8);
  // projection_tiles_plan() has stages for every form.
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  for (index_t most = 32; most < 500; ++most)
    for (const ProjectionForm& form :
         {ProjectionForm{480}.within(most), ProjectionForm{480, ProjectionNumbers::int8}.within(most)}) {
      if (form.columns == 0) continue;
      const auto policy =
          cuda::policy_of<cuda::ProjectionTilesPolicy>(cuda::projection_tiles_plan(1 << 20, form, false, device));
      CHECK(policy.steps % policy.stage_steps == 0);
    }
}

TEST_CASE("bounds of tiles may pay where centroids are many", "[assign][projections]") {
  const auto pays = [](DType type, index_t n, index_t d, index_t k, const char* arch = "sm_90a") {
    return cuda::tile_bounds_may_pay({{type, n, d, true, 16}, k}, cuda::typical_device(arch));
  };
  CHECK(pays(DType::float16, 1 << 20, 512, 1000));
  CHECK(pays(DType::float32, 1 << 21, 128, 8192));
  CHECK(!pays(DType::float16, 1 << 22, 128, 500));   // few chunks
  CHECK(!pays(DType::float16, 1 << 16, 512, 1000));  // few rows
  CHECK(!pays(DType::float16, 1 << 22, 64, 4096));   // few columns
  CHECK(!pays(DType::float64, 1 << 20, 512, 1000));
  CHECK(!pays(DType::float16, 1 << 20, 512, 1000, "sm_100"));
}

TEST_CASE("the kernels of projections compile within their budget", "[.full][projections][nvrtc]") {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100"}) {
    std::vector<cuda::KernelPlan> plans;
    for (const DType type : {DType::float32, DType::float16}) add_projections(plans, type, cuda::typical_device(arch));
    test::compile_plans(arch, plans);
  }
}

TEST_CASE("the kernels of seeding compile within their budget", "[.full][seeding][nvrtc]") {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100"}) {
    std::vector<cuda::KernelPlan> plans;
    add_seeding(plans, cuda::typical_device(arch));
    test::compile_plans(arch, plans);
  }
}

TEST_CASE("the kernels of assign compile within their budget", "[.full][nvrtc]") {
  for (const char* arch : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"})
    test::compile_plans(arch, assign_plans(cuda::typical_device(arch)));
}
