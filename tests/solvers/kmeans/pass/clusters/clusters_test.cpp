// Clusters that take many passes.
#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/clustered.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("clusters do what their parts do", "[assign]") {
  const Case c{9000, 5, 7, 1, 1, true};
  const Clustered of(c);
  const Rows rows(of.x.cview());
  auto expected = centres(c);
  const Context ctx;
  const auto clusters =
      Clusters::make(ctx, Space::host, of.moments, of.unit, Matrix<double>::copy_of(expected.cview()));
  ClusterSums sums(c.k, c.d);
  std::vector<std::int32_t> labels(9000, -1), there = labels;
  for (int step = 0; step < 4; ++step) {
    const AssignStats stats =
        assign(ctx, {rows, of.moments, expected.cview(), Scores::float32, labels, of.weights, &of.unit, &sums});
    CHECK(clusters->assign(rows, Scores::float32, there, of.weights, Clusters::Sums::move).changed == stats.changed);
    CHECK(there == labels);
    const double shift = move_to_means(ctx, of.unit, sums, of.moments.shift, expected.view());
    const Clusters::Moved moved = clusters->move_to_means();
    CHECK(moved.weightless.empty());
    CHECK(moved.squared_shift == shift);
    CHECK(same(clusters->centroids().cview(), expected.cview()));
    CHECK(clusters->inertia_terms().hi == inertia_terms(ctx, of.unit, sums, of.moments.shift, expected.cview()).hi);
  }
}

TEST_CASE("no centroid moves while a cluster is weightless", "[assign]") {
  const Case c{100, 3, 4};
  const Clustered of(c);  // nothing is in the last cluster
  const auto before = centres(c);
  const Context ctx;
  const auto clusters = Clusters::make(ctx, Space::host, of.moments, of.unit, Matrix<double>::copy_of(before.cview()));
  clusters->add_rows(Rows(of.x.cview()), of.labels, of.weights);
  CHECK(clusters->move_to_means().weightless == std::vector<index_t>{3});
  CHECK(same(clusters->centroids().cview(), before.cview()));
  CHECK(clusters->sums().count(0) == of.sums.count(0));
  clusters->place(Matrix<double>::zeros(4, 3));
  CHECK(clusters->centroids()(2, 1) == 0);
  CHECK_THROWS_AS(clusters->place(Matrix<double>(3, 3)), Error);
}

TEST_CASE("a pass over one column on a device starts one kernel where centroids are many", "[assign][cuda]") {
  Context ctx{.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_80"))};
  const DeviceMatrix<float> x(ctx.stream, 100000, 1);
  const std::vector<float> few = {0.5F, -1, 2};
  const auto moments = column_moments({}, Rows(HostView<const float>(few.data(), 3, 1)));
  const FixedPoint unit(moments.max_abs, 1, 100000);
  PerRowArray<std::int32_t> labels(ctx, Space::device, 100000, 0xff);
  for (const auto& [k, family] : {std::pair<index_t, std::string_view>{1000, "assign_line"}, {16, "assign_narrow"}}) {
    const auto clusters = Clusters::make(ctx, Space::device, moments, unit, Matrix<double>::zeros(k, 1));
    ctx.stream.rehearsal()->kernels.clear();
    (void)clusters->assign(Rows(ctx.stream, x.cview()), Scores::float32, labels.view(), {}, Clusters::Sums::move);
    const auto& kernels = ctx.stream.rehearsal()->kernels;
    CHECK(std::any_of(kernels.begin(), kernels.end(), [&](const auto& plan) { return plan.family == family; }));
    if (k == 1000) CHECK(kernels.size() == 1);
    clusters->rehearse(Rows(ctx.stream, x.cview()), Scores::float32, labels.view(), {}, 20);  // passes of all kinds
    CHECK(kernels.size() > 1);
  }
}

TEST_CASE("an iteration on a device starts one kernel more than its pass", "[assign][cuda]") {
  Context ctx{.stream = cuda::Stream::rehearsing(cuda::typical_device("sm_90a"))};
  const Clustered of({100, 3, 4});  // moments of rows that a rehearsal need not have
  const DeviceMatrix<double> x(ctx.stream, 100000, 3);
  const Rows rows(ctx.stream, x.cview());
  const auto clusters = Clusters::make(ctx, Space::device, of.moments, of.unit, centres({100, 3, 4}));
  PerRowArray<std::int32_t> labels(ctx, Space::device, 100000, 0xff);
  auto& kernels = ctx.stream.rehearsal()->kernels;
  const auto started = [&](const auto& work) {
    kernels.clear();
    work();
    std::vector<std::string> families;
    for (const cuda::KernelPlan& plan : kernels) families.emplace_back(plan.family);
    return families;
  };
  const auto pass = [&] { (void)clusters->assign(rows, Scores::float32, labels.view(), {}, Clusters::Sums::move); };
  const std::vector<std::string> of_pass = started(pass);
  CHECK(of_pass.front() == "assign_prepare");
  auto of_iteration = of_pass;
  of_iteration.emplace_back("assign_means");
  CHECK(started([&] { pass(), (void)clusters->move_to_means(); }) == of_iteration);
}
