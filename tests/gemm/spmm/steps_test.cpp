// Several sparse products in one pass.
#include "tallskinny/gemm/spmm/steps.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("each tile is taken once in each step, after all that it reads and all that reads what it writes",
          "[short]") {
  constexpr index_t rows = 30007, tile = 64;
  for (const index_t reach : {0, 1, 100, 5000, 30006})
    for (const int count : {1, 2, 3, 5})
      for (const int domains : {1, 2, 3, 8, 100}) {
        CAPTURE(reach, count, domains);
        const SpmmSteps s = spmm_steps_of(rows, reach, tile, domains).of(count);
        REQUIRE(s.tiles * tile >= rows);
        std::vector<index_t> when(static_cast<std::size_t>(count * s.tiles), -1);  // the turn of each item
        const auto at = [&](int step, index_t t) -> index_t& {
          return when[static_cast<std::size_t>(step * s.tiles + t)];
        };
        for (int d = 0; d < domains; ++d)
          for (index_t place = 0; place < s.places(d); ++place) {
            const auto item = s.item(d, place);
            if (item.tile < 0) continue;
            REQUIRE((item.tile < s.tiles && at(item.step, item.tile) == -1));
            at(item.step, item.tile) = place / count;
          }
        bool all = true, waits = true;
        for (int step = 0; step < count; ++step)
          for (index_t t = 0; t < s.tiles; ++t) {
            all = all && at(step, t) >= 0;
            const index_t first = std::max<index_t>(t - s.reach, 0), last = std::min(t + s.reach, s.tiles - 1);
            waits = waits && first * tile <= std::max<index_t>(t * tile - reach, 0) &&
                    (last + 1) * tile >= std::min((t + 1) * tile + reach, rows);
            // Whatever is waited for has an earlier turn, in whichever domain: somebody can always go on.
            for (index_t near = first; step > 0 && near <= last; ++near)
              waits = waits && at(step - 1, near) < at(step, t);
          }
        CHECK(all);
        CHECK(waits);
      }
}
