#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/trsm/plan.hpp"

#include "tallskinny/tests/support/engine.hpp"

using cuda::TrsmAccess;

namespace {

/// Upper triangular and well conditioned; NaN below the diagonal, which must not be read.
template <class T>
Operand<T> random_upper(index_t p, Form form, Values& values) {
  Operand<T> r(p, p, form);
  for (index_t i = 0; i < p; ++i)
    for (index_t j = i; j < p; ++j) {
      const double re = values.uniform();
      r.at(i, j) = element<T>(i == j ? 2 + re : re / static_cast<double>(p), i == j ? 0.5 : values.uniform());
    }
  return r;
}

/// check(X) for the X of X R = B, in every way.
template <class T, class Check>
void solve_in_every_way(const Operand<T>& b, Operand<T>& r, Check&& check) {
  const auto solve = [&](const Context& ctx, Operand<T>& out) {
    with_views(
        ctx, [&](auto x, auto factor) { trsm(ctx, x, factor); }, out, r);
  };
  in_every_way(b, solve, check);
}

/// Substitution is backward stable: |x R - b| <= gamma_p |x| |R| row by row (Higham, theorem 8.5).
template <class T>
void check_trsm(index_t n, index_t p, std::size_t variant) {
  CAPTURE(n, p, variant);
  Values values(variant);
  auto r = random_upper<T>(p, form_number(variant / 2), values);
  const auto b = Operand<T>::random(n, p, form_number(variant), values);
  solve_in_every_way(b, r, [&](const Operand<T>& x) {
    const Expected<T> product(
        n, p, p, [&](index_t i, index_t k) { return x.wide_at(i, k); },
        [&](index_t k, index_t j) { return k <= j ? r.wide_at(k, j) : Wide<T>{}; });
    REQUIRE(x.surroundings_untouched());
    REQUIRE(everywhere(n, p, [&](index_t i, index_t j) {
      const auto error = size(b.wide_at(i, j) - product.value[product.at(i, j)]);
      return static_cast<double>(error) <=
             product_bound<T>(static_cast<double>(p), static_cast<double>(product.magnitude[product.at(i, j)]));
    }));
  });
}

}  // namespace

TEMPLATE_TEST_CASE("trsm with powers of two is exact", "[short]", TS_RESULT_TYPES) {
  compiled_ahead([] {
    for (const index_t p : {1, 2, 3, 5}) {
      Values values(23);
      auto r = Operand<TestType>(p, p, form_number(static_cast<std::size_t>(p)));
      for (index_t i = 0; i < p; ++i)
        for (index_t j = i; j < p; ++j)
          r.at(i, j) =
              i == j ? element<TestType>(i % 2 == 0 ? 2 : -0.5) : element<TestType>(static_cast<double>(j - i));
      const auto x = Operand<TestType>::integers(7, p, form_number(1), values);
      auto b = x;  // X R, exactly
      b.fill([&](index_t i, index_t j) {
        TestType sum{};
        for (index_t k = 0; k <= j; ++k) sum += x.at(i, k) * r.at(k, j);
        return sum;
      });
      solve_in_every_way(b, r, [&](const Operand<TestType>& out) {
        REQUIRE(everywhere(7, p, [&](index_t i, index_t j) { return out.at(i, j) == x.at(i, j); }));
      });
    }
  });
}

TEMPLATE_TEST_CASE("trsm at every width, layout and leading dimension", "[short]", TS_RESULT_TYPES) {
  at_all_widths({0, 1, 2, 31, 33},
                [](index_t n, Widths w, std::size_t variant) { check_trsm<TestType>(n, w.p, variant); });
}

TEMPLATE_TEST_CASE("trsm of long operands", "[long]", TS_RESULT_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const index_t p : {1, 2, 4, 8, 13, 16, 33, 64}) {
      check_trsm<TestType>(1000, p, variant);
      check_trsm<TestType>(4001, p, variant++);
    }
    check_trsm<TestType>(100003, 3, 0);
  });
}

TEST_CASE("a zero on the diagonal gives Inf and NaN in its column and what depends on it", "[short]") {
  for (const index_t p : {3, 8, 20}) {
    Operand<double> r(p, p), b(9, p);
    r.fill([](index_t i, index_t j) { return i == j ? (i == 1 ? 0.0 : 1.0) : i < j ? 1.0 : std::nan(""); });
    b.fill([](index_t i, index_t j) { return static_cast<double>(i + 2 * j + 1); });
    solve_in_every_way(b, r, [&](const Operand<double>& out) {
      REQUIRE(everywhere(9, p, [&](index_t i, index_t j) { return std::isfinite(out.at(i, j)) == (j == 0); }));
    });
  }
}

TEST_CASE("trsm divides by tiny pivots without overflow", "[short]") {
  Operand<double> r(2, 2), b(20, 2);
  r.fill([](index_t i, index_t j) { return i == j ? 0x1p-1060 : 0.0; });
  b.fill([](index_t i, index_t) { return static_cast<double>(i + 1) * 0x1p-1060; });
  solve_in_every_way(b, r, [&](const Operand<double>& out) {
    REQUIRE(everywhere(20, 2, [&](index_t i, index_t j) { return out.at(i, j) == static_cast<double>(i + 1); }));
  });
}

TEST_CASE("trsm refuses misuse by naming the argument", "[short]") {
  std::vector<double> memory(100, 1.0);
  const HostView<double> x(memory.data(), 10, 3);
  expect_misuse([&] { trsm(Context{}, x, HostView<double>(memory.data() + 40, 3, 2)); },
                {"trsm", "R", "3 x 2", "3 x 3"});
  expect_misuse([&] { trsm(Context{}, x, HostView<double>(memory.data() + 25, 3, 3)); }, {"X overlaps R"});
}

// Policies of triangular solves, by hand.

namespace {

std::vector<cuda::TrsmPolicy> policies_of(index_t p, const cuda::Form& form) {
  cuda::GpuProblem problem{.problem = {Operation::trsm, DType::float64, 1 << 20, p, p}, .first = form};
  return cuda::trsm_policies(problem, cuda::typical_device("sm_90a"));
}

}  // namespace

TEST_CASE("narrow rows are held whole by a thread", "[short]") {
  const auto policies = policies_of(4, {});
  REQUIRE(policies.size() == 6);
  CHECK(policies[0].access == TrsmAccess::whole_rows);
  CHECK(policies[0].columns == 4);
  CHECK(policies[0].vector == 2);
  CHECK(policies[0].tile_rows() == 256);
  CHECK(policies[1].access == TrsmAccess::staged);
  CHECK(policies[1].together == 2);  // 64 bytes of rows of 32
}

TEST_CASE("wide rows are staged, eight columns of float64 at a time", "[short]") {
  const auto policies = policies_of(100, {});
  REQUIRE_FALSE(policies.empty());
  const cuda::TrsmPolicy& k = policies[0];
  CHECK(k.access == TrsmAccess::staged);
  CHECK(k.columns == 8);
  CHECK(k.together == 1);
  CHECK(k.factor_bytes() == 104 * 104 * 8 + 104 * 16);
  CHECK(k.shared_bytes() == k.factor_bytes() + 128 * 101 * 8);
  CHECK(k.blocks == 1);
}

TEST_CASE("columns are solved in place, with R in shared memory or not", "[short]") {
  const auto policies = policies_of(16, {Layout::col_major, true, 256, 0});
  REQUIRE(policies.size() == 2);
  for (const auto& policy : policies) {
    CHECK(policy.access == TrsmAccess::in_place);
    CHECK(policy.columns == 4);
  }
  CHECK(policies[0].factor_shared);
  CHECK_FALSE(policies[1].factor_shared);
}
