// Synchronisations and passes are counted where they happen; what the methods promise is held against that.
#include "blocks.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;

namespace {

ortho::Work work_of(const ortho::NamedMethod& method, index_t columns, index_t width) {
  auto x = test::random_block<double>(400, columns, 2);
  Matrix<double> r(columns, columns);
  const auto outcome = ortho::orthonormalise<double>(Context{}, method, x.view(), r.view(), width);
  REQUIRE(outcome.complete);
  return outcome.work;
}

}  // namespace

TEST_CASE("each skeleton reduces and reads the basis as often as it says", "[short]") {
  constexpr index_t width = 4;
  constexpr int blocks = 12;
  for (const auto& method : ortho::every_method()) {
    if (!std::holds_alternative<ortho::Skeleton>(method.how)) continue;
    // What one more block costs.
    const auto before = work_of(method, blocks * width, width), after = work_of(method, (blocks + 1) * width, width);
    const auto promised = ortho::counts(method, blocks);
    const double passes =
        static_cast<double>(after.basis_columns - before.basis_columns) / static_cast<double>(blocks * width);
    CAPTURE(method.name, promised.reductions, after.reductions - before.reductions, promised.passes, passes);
    CHECK(after.reductions - before.reductions == promised.reductions);
    CHECK(passes >= promised.passes);
    CHECK(passes <= promised.passes + 1.0 / blocks);  // delayed methods read one block more
  }
}

TEST_CASE("each muscle reduces and reads its block as often as it says", "[short]") {
  for (const auto& method : ortho::every_method()) {
    const auto* muscle = std::get_if<ortho::Muscle>(&method.how);
    if (muscle == nullptr) continue;
    const auto work = work_of(method, 6, 6);
    CAPTURE(method.name, work.reductions, work.block_columns);
    CHECK(work.reductions == ortho::counts(method, 0).reductions);
    CHECK(work.block_columns == 6 * std::visit([](const auto& m) { return m.passes; }, *muscle));
  }
}

TEST_CASE("the adaptive skeleton synchronises once per block where it can and twice where it must", "[short]") {
  const auto method = *ortho::method_named("adaptive-1S/2S");
  const auto reductions = [&](double exponent) {
    auto x = test::graded_block<double>(500, 40, 0, exponent, 4);
    Matrix<double> r(40, 40);
    const auto outcome = ortho::orthonormalise<double>(Context{}, method, x.view(), r.view(), 4);
    CHECK(outcome.complete);
    CHECK(ortho::loss_of_orthogonality<double>(Context{}, x.view()) < test::allowed::short_sum);
    return outcome.work.reductions;
  };
  CHECK(reductions(-2) == 11);  // first block, first projection, one for each of nine others
  CHECK(reductions(-13) > 11);
  CHECK(reductions(-13) <= 22);
}
