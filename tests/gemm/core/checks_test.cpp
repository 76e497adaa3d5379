#include "tallskinny/gemm/core/checks.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

/// Marks what a view covers: the slow and certain way to see whether two views meet.
template <class V>
std::vector<bool> covered(const V& view, const double* base, std::size_t size) {
  std::vector<bool> cells(size, false);
  for (index_t i = 0; i < view.rows(); ++i)
    for (index_t j = 0; j < view.cols(); ++j) cells[static_cast<std::size_t>(&view(i, j) - base)] = true;
  return cells;
}

template <class V>
void compare_all_blocks(const V& parent, std::size_t size) {
  std::vector<V> blocks;
  for (index_t i = 0; i < parent.rows(); i += 2)
    for (index_t j = 0; j < parent.cols(); ++j)
      for (index_t r = 0; i + r <= parent.rows(); r += 2)
        for (index_t c = 0; j + c <= parent.cols(); ++c) blocks.push_back(parent.block(i, j, r, c));
  for (const V& a : blocks)
    for (const V& b : blocks) {
      const auto in_a = covered(a, parent.data(), size), in_b = covered(b, parent.data(), size);
      bool meet = false;
      for (std::size_t k = 0; k < size; ++k) meet = meet || (in_a[k] && in_b[k]);
      if (detail::overlap(Strided<double>(a), Strided<double>(b)) != meet)
        FAIL("blocks at " << a.data() - parent.data() << " (" << a.rows() << " x " << a.cols() << ") and "
                          << b.data() - parent.data() << " (" << b.rows() << " x " << b.cols() << ")");
    }
  SUCCEED();
}

}  // namespace

TEST_CASE("overlap of blocks of one parent is exact") {
  std::vector<double> memory(64);
  compare_all_blocks(HostView<double>(memory.data(), 6, 5, 5), memory.size());
  compare_all_blocks(HostView<double>(memory.data(), 6, 5, 9), memory.size());
  compare_all_blocks(HostView<double, Layout::col_major>(memory.data(), 6, 4, 6), memory.size());
  compare_all_blocks(HostView<double, Layout::col_major>(memory.data(), 6, 4, 11), memory.size());
}

TEST_CASE("overlap of views with unlike strides or element types is judged by their addresses") {
  std::vector<double> memory(64);
  const Strided<double> a(HostView<double>(memory.data(), 4, 4));
  CHECK(detail::overlap(a, Strided<double>(HostView<double>(memory.data() + 15, 2, 3))));
  CHECK_FALSE(detail::overlap(a, Strided<double>(HostView<double>(memory.data() + 16, 2, 3))));
  auto* half = reinterpret_cast<float16*>(memory.data());
  CHECK(detail::overlap(a, Strided<float16>(HostView<float16>(half + 63, 1, 1))));
  CHECK_FALSE(detail::overlap(a, Strided<float16>(HostView<float16>(half + 64, 1, 1))));
  CHECK_FALSE(detail::overlap(a, Strided<double>()));
}
