// Synchronisations and passes are counted where they happen.
#include "blocks.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("one more block costs two reductions and two passes over the basis", "[short]") {
  constexpr index_t width = 4, blocks = 12;
  const auto work_of = [](index_t columns) {
    auto x = test::random_block<double>(400, columns, 2);
    Matrix<double> r(columns, columns);
    const auto outcome = test::orthonormalise<double>(Context{}, x.view(), r.view(), width);
    REQUIRE(outcome.complete);
    return outcome;
  };
  const auto before = work_of(blocks * width), after = work_of((blocks + 1) * width);
  CHECK(after.reductions - before.reductions == 2);
  CHECK(after.basis_columns - before.basis_columns == 2 * blocks * width);
}

TEST_CASE("a well-conditioned block alone costs two reductions, by Householder's reflections one", "[short]") {
  const auto check = [](auto method, int reductions, index_t passes) {
    auto x = test::random_block<double>(400, 6, 2);
    Matrix<double> r(6, 6);
    const auto work = ortho::orthonormalise<double>(Context{}, method, x.view(), r.view()).work;
    CHECK(work.reductions == reductions);
    CHECK(work.block_columns == 6 * passes);
  };
  check(ortho::Ladder{}, 2, 4);
  check(ortho::HouseholderQr{}, 1, 1);
}
