#include "tallskinny/solvers/setup/streamed_rows.hpp"

#include "tallskinny/tests/solvers/setup/streamed_points.hpp"
#include "tallskinny/tests/support/device.hpp"

using namespace ts::test::streamed;
using solvers::RowOrigin;
using solvers::StreamedRows;

namespace {

/// Reads points and checks for NaN as a file would.
RowOrigin read_from(const Matrix<float>& x) {
  return {n, d, DType::float32, 0, [&x](index_t first, index_t count, void* out, bool check) {
            std::copy_n(&x(first, 0), count * d, static_cast<float*>(out));
            for (index_t i = first; check && i < first + count; ++i)
              for (index_t j = 0; j < d; ++j)
                if (std::isnan(x(i, j))) throw Error(Errc::bad_input, "row " + std::to_string(i));
          }};
}

}  // namespace

TEST_CASE("rows pass by in blocks, from memory and from what reads them") {
  const Matrix<float> x = points();
  check(RowOrigin::memory(Rows(x.cview())), {});
  check(read_from(x), {});
}

TEST_CASE("rows pass by in blocks on a device", "[gpu]") {
  const Matrix<float> x = points();
  check(RowOrigin::memory(Rows(x.cview())), test::device_stream());
  check(read_from(x), test::device_stream());
}

TEST_CASE("the first pass looks for numbers that are not finite") {
  Matrix<float> x = points();
  x(9000, 3) = std::nanf("");
  const StreamedRows rows(read_from(x), block_bytes);
  CHECK(mentions(message_of([&] { rows.for_each_block([](index_t, const Rows&) {}); }), "row 9000"));
}
