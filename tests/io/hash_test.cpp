#include "tallskinny/io/hash.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/tests/io/support.hpp"

namespace {

/// Rows of 0 to 4 entries.
template <class T>
CsrMatrix<T> some_rows(index_t n) {
  return csr_by_rows<T>(n, 90, [&](index_t i, auto add) {
    for (index_t k = 0; k < i % 5; ++k) add(7 * k + i % 60, T(static_cast<float>(i + k)));
  });
}

std::uint64_t free_in(const TemporaryFolder& folder) {
  return io::control_group_free({folder / "cgroup", folder / "sys"});
}

constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("a hash depends on every bit") {
  std::vector<unsigned char> data(2 << 20, 7);
  const auto hash = [&](std::size_t bytes) { return io::Hash().add(data.data(), bytes).value(); };
  const auto before = hash(data.size());
  for (const std::size_t at : {std::size_t{0}, std::size_t{1234567}, data.size() - 1}) {
    data[at] ^= 16;
    CHECK(hash(data.size()) != before);
    data[at] ^= 16;
  }
  CHECK(hash(data.size()) == before);
  CHECK(hash(data.size() - 1) != before);
}

TEMPLATE_TEST_CASE("hashes of pieces of rows are the same whoever has which pieces", "", double, float,
                   std::complex<double>, std::complex<float>) {
  using T = TestType;
  using Hashes = std::vector<std::uint64_t>;
  const auto a = some_rows<T>(1000);
  const Hashes whole = io::row_hashes<T>(a.view(), 256);
  REQUIRE(whole.size() == 4);
  CHECK(io::row_hashes<T>(a.view(), 256, 3) == whole);
  Matrix<T> dense(1000, 5), wide(1000, 7);
  for (index_t i = 0; i < 1000; ++i)
    for (index_t j = 0; j < 5; ++j) dense(i, j) = wide(i, j + 1) = T(static_cast<float>(5 * i + j));
  const Hashes whole_dense = io::row_hashes<T>(dense.cview(), 256, 2);
  REQUIRE(whole_dense.size() == 4);
  CHECK(io::row_hashes<T>(wide.cview().cols(1, 5), 256) == whole_dense);
  Hashes sparse_parts, dense_parts;
  for (const auto& [begin, end] : {std::pair<index_t, index_t>{0, 512}, {512, 512}, {512, 768}, {768, 1000}}) {
    const auto rows = io::row_slice(CsrMatrix<T>(a), begin, end);
    for (const std::uint64_t h : io::row_hashes<T>(rows.view(), 256)) sparse_parts.push_back(h);
    for (const std::uint64_t h : io::row_hashes<T>(dense.cview().rows(begin, end - begin), 256))
      dense_parts.push_back(h);
  }
  CHECK(sparse_parts == whole);
  CHECK(dense_parts == whole_dense);

  // A changed value, a column and an entry that went to the next row: each in its piece alone.
  const auto changed = [&](const auto& change, std::size_t piece) {
    auto b = a;
    change(b);
    const Hashes others = io::row_hashes<T>(b.view(), 256);
    for (std::size_t p = 0; p < 4; ++p) CHECK((others[p] != whole[p]) == (p == piece));
  };
  changed([](auto& b) { b.values.back() += T{1}; }, 3);
  changed([](auto& b) { ++b.indices[600]; }, 1);
  changed([](auto& b) { --b.pointers[10]; }, 0);
  dense(300, 4) = T{-1};
  const Hashes others = io::row_hashes<T>(dense.cview(), 256);
  for (std::size_t p = 0; p < 4; ++p) CHECK((others[p] != whole_dense[p]) == (p == 1));
}

TEST_CASE("control groups of version 2: every ancestor, max and high, page cache is free") {
  const TemporaryFolder folder;
  write_file(folder / "cgroup", "0::/a/b\n");
  CHECK(free_in(folder) == unlimited);
  write_file(folder / "sys/a/b/memory.max", "max\n");
  write_file(folder / "sys/a/b/memory.current", "300\n");
  CHECK(free_in(folder) == unlimited);
  write_file(folder / "sys/a/memory.max", "1000\n");
  write_file(folder / "sys/a/memory.current", "900\n");
  CHECK(free_in(folder) == 100);
  write_file(folder / "sys/a/memory.stat", "anon 500\ninactive_file 350\nactive_file 50\n");
  CHECK(free_in(folder) == 450);
  write_file(folder / "sys/a/b/memory.high", "400\n");
  CHECK(free_in(folder) == 100);
  write_file(folder / "sys/memory.max", "1000\n");
  write_file(folder / "sys/memory.current", "2000\n");
  CHECK(free_in(folder) == 0);
}

TEST_CASE("control groups of version 1 have a folder for memory") {
  const TemporaryFolder folder;
  write_file(folder / "cgroup", "12:cpuset:/x\n9:hugetlb,memory:/docker/c\n1:name=systemd:/y\n");
  CHECK(free_in(folder) == unlimited);
  write_file(folder / "sys/memory/memory.limit_in_bytes",
             "5000\n");  // a container sees its own group as the root
  write_file(folder / "sys/memory/memory.usage_in_bytes", "4000\n");
  write_file(folder / "sys/memory/memory.stat", "cache 1\ninactive_file 7\ntotal_inactive_file 2500\n");
  CHECK(free_in(folder) == 3500);
  write_file(folder / "sys/memory/docker/c/memory.limit_in_bytes", "600\n");
  write_file(folder / "sys/memory/docker/c/memory.usage_in_bytes", "500\n");
  CHECK(free_in(folder) == 100);
}
