#include "tallskinny/app/tsbench/tables.hpp"

#include <algorithm>

namespace ts::bench {

namespace {

constexpr std::int64_t sparse_bytes = std::int64_t{512} << 20;
constexpr index_t large_order = 20480;  // of the square matrix of tsm2r
constexpr index_t few[] = {1, 4, 7, 8, 16, 31, 32, 48, 64};
constexpr index_t some[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 31, 32, 48, 63, 64};
constexpr Operation dense[] = {Operation::tsmttsm, Operation::gram, Operation::tsmm};

// Most telling first: a run that is cut off has these.
constexpr TableName names[] = {
    {"dense", "tsmttsm, gram and tsmm at every width from 1 to 64, row-major"},
    {"tsm2r", "a square matrix of order 20480 times 1 to 16 columns, both layouts"},
    {"short", "2^14 to 2^20 rows, where starting a kernel counts"},
    {"wide", "a basis of up to 512 columns against a block"},
    {"others", "the other operations at 14 widths"},
    {"sparse", "spmm by every kernel there is: a stencil, a band, random columns, a graph, blocks of rows"},
    {"gaps", "rows one element apart: ld = width + 1"},
    {"rectangular", "tsmttsm and tsmm at all pairs of 1, 4, 7, 8, 16, 31, 32, 48 and 64"},
    {"offsets", "operands that begin one element off an aligned address"},
    {"columns", "tsmttsm, gram and tsmm, column-major"}};

struct Maker {
  DType type;
  std::int64_t bytes;
  std::vector<Case> cases;

  void add(const char* table, Operation op, index_t p, index_t q, Layout layout = Layout::row_major, index_t gap = 0,
           index_t offset = 0, Pattern pattern = Pattern::stencil) {
    if (!exists(op, type, {p, q})) return;
    const bool sparse = op == Operation::spmm;
    cases.push_back({table, problem_of(op, type, p, q, sparse ? std::min(bytes, sparse_bytes) : bytes, pattern), layout,
                     gap, offset, pattern});
    if (sparse) cases.back().sparse = facts_of(SparsePattern::of(pattern, cases.back().problem.n));
  }
  void set_rows(index_t n) { cases.back().problem.n = n; }
};

void make(Maker& m, const std::string& name) {
  if (name == "dense") {
    for (const Operation op : dense)
      for (index_t w = 1; w <= 64; ++w) m.add("dense", op, w, w);
  } else if (name == "others") {
    for (const Operation op : every_operation)
      if (std::find(std::begin(dense), std::end(dense), op) == std::end(dense) && op != Operation::tsm2r)
        for (const index_t w : some) m.add("others", op, w, w);
  } else if (name == "sparse") {
    for (const Pattern pattern : every_pattern)
      for (const index_t w : {1, 2, 4, 8, 16, 20, 24, 32, 64})
        m.add("sparse", Operation::spmm, w, w, Layout::row_major, 0, 0, pattern);
  } else if (name == "tsm2r") {
    for (const Layout layout : {Layout::row_major, Layout::col_major})
      for (const index_t w : {1, 2, 4, 8, 16}) {
        m.add("tsm2r", Operation::tsm2r, w, w, layout);
        m.cases.back().problem.n = m.cases.back().problem.p = large_order;
      }
  } else if (name == "columns") {
    for (const Operation op : dense)
      for (const index_t w : few) m.add("columns", op, w, w, Layout::col_major);
  } else if (name == "rectangular") {
    for (const Operation op : {Operation::tsmttsm, Operation::tsmm})
      for (const index_t p : few)
        for (const index_t q : few)
          if (p != q) m.add("rectangular", op, p, q);
  } else if (name == "gaps") {
    for (const Operation op : dense)
      for (const index_t w : few) m.add("gaps", op, w, w, Layout::row_major, 1);
  } else if (name == "offsets") {
    for (const Operation op : dense)
      for (const index_t w : few) m.add("offsets", op, w, w, Layout::row_major, 0, 1);
  } else if (name == "wide") {
    for (const Operation op : {Operation::tsmttsm, Operation::tsmm}) {
      for (const index_t q : {1, 4, 8, 16, 32, 64}) m.add("wide", op, 512, q);
      m.add("wide", op, 128, 16), m.add("wide", op, 256, 32);
    }
  } else if (name == "short") {
    for (const Operation op : {Operation::tsmttsm, Operation::tsmm})
      for (const index_t w : {8, 32})
        for (int k = 14; k <= 20; ++k) m.add("short", op, w, w), m.set_rows(index_t{1} << k);
  } else {
    std::string listed;
    for (const TableName& known : names) listed += (listed.empty() ? "" : ", ") + std::string(known.name);
    throw Error(Errc::invalid_argument, "no table is called '" + name + "': there are " + listed);
  }
}

}  // namespace

std::span<const TableName> table_names() noexcept { return names; }

std::vector<Case> table_cases(const std::string& name, DType type, std::int64_t bytes) {
  Maker maker{type, bytes, {}};
  make(maker, name);
  return maker.cases;
}

std::vector<Case> selected_cases(const Selection& s, DType type) {
  Maker maker{type, s.bytes, {}};
  for (const Operation op : s.operations)
    for (const Shape shape : s.shapes) {
      const std::size_t before = maker.cases.size();
      maker.add("selection", op, shape.p, shape.q, s.layout, s.gap, s.offset);
      if (maker.cases.size() > before && s.rows > 0 && op != Operation::spmm && op != Operation::tsm2r)
        maker.set_rows(s.rows);
    }
  return maker.cases;
}

}  // namespace ts::bench
