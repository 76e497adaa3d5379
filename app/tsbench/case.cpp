#include "tallskinny/app/tsbench/case.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/app/tsbench/operands.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::bench {

bool exists(Operation op, DType type, Shape s) {
  const bool half = scalar_bytes(type) == 2;
  switch (op) {
    case Operation::tsmm_in_place: return !half && s.q <= s.p;
    case Operation::inner_and_gram:
    case Operation::project_out: return !half;
    case Operation::trsm: return !half && s.p == s.q;
    case Operation::gram:
    case Operation::column_norms:
    case Operation::tsm2r:
    case Operation::spmm: return s.p == s.q;  // one width only
    default: return true;
  }
}

bool in_place(Operation op) noexcept {
  return op == Operation::trsm || op == Operation::tsmm_in_place || op == Operation::project_out;
}

bool tall_result(Operation op) noexcept {
  return in_place(op) || op == Operation::tsmm || op == Operation::tsm2r || op == Operation::spmm;
}

index_t out_width(const Problem& p) noexcept {
  return p.operation == Operation::trsm || p.operation == Operation::tsmm_in_place ? p.p : p.q;
}

Problem problem_of(Operation op, DType type, index_t p, index_t q, std::int64_t bytes, Pattern pattern) {
  Problem problem{op, type, 1 << 20, p, q};
  if (op == Operation::tsm2r) {  // D is square
    problem.n = problem.p =
        static_cast<index_t>(std::sqrt(static_cast<double>(bytes) / static_cast<double>(size_of(type))));
    return problem;
  }
  if (op == Operation::spmm) {
    const auto per_row = SparsePattern::entries_a_row(pattern) * static_cast<double>(size_of(type) + 4) + 8 +
                         2.0 * static_cast<double>(q) * static_cast<double>(std::max<std::size_t>(size_of(type), 4));
    const auto matrix = SparsePattern::of_rows(pattern, static_cast<double>(bytes) / per_row);
    problem.n = problem.p = matrix.rows;
    problem.nonzeros = matrix.entries();
    return problem;
  }
  const double per_row = cost_of(problem).bytes() / static_cast<double>(problem.n);
  problem.n = static_cast<index_t>(static_cast<double>(bytes) / per_row) / 16 * 16;
  return problem;
}

std::string Case::form() const {
  if (pattern != Pattern::stencil) return std::string(name_of(pattern));
  std::string text = layout == Layout::row_major ? "rows" : "columns";
  if (gap > 0) text += " +" + std::to_string(gap);
  if (offset > 0) text += " @" + std::to_string(offset);
  return text;
}

double Case::sector_bytes() const {
  constexpr double sector = 32;
  const auto moved = [&](index_t rows, index_t columns, std::size_t element, bool written) {
    const bool by_rows = layout == Layout::row_major;
    const auto s = static_cast<double>(element);
    const double lines = static_cast<double>(by_rows ? rows : columns),
                 line = static_cast<double>(by_rows ? columns : rows) * s, space = static_cast<double>(gap) * s;
    const double touched = std::min(line + space, line + sector - s);
    const double partial = std::min({touched, space + sector - s, 2 * (sector - s)});
    return lines * (touched + (written && gap > 0 ? partial : 0));
  };
  const std::size_t in = size_of(problem.type), out = std::max<std::size_t>(in, 4);
  double bytes = 0;
  const bool replaced = problem.operation == Operation::trsm || problem.operation == Operation::tsmm_in_place;
  bytes += moved(problem.n, problem.p, replaced ? out : in, false);
  if (problem.operation == Operation::tsmttsm) bytes += moved(problem.n, problem.q, in, false);
  if (tall_result(problem.operation)) bytes += moved(problem.n, out_width(problem), out, !replaced);
  return bytes;
}

std::size_t Case::tall_bytes(index_t rows, index_t columns, std::size_t element) const noexcept {
  const bool by_rows = layout == Layout::row_major;
  const index_t lines = by_rows ? rows : columns, length = (by_rows ? columns : rows) + gap;
  return (static_cast<std::size_t>(lines * length + offset) * element + 511) / 256 * 256;
}

namespace {

constexpr std::int64_t sparse_bytes = std::int64_t{512} << 20;
constexpr index_t large_order = 20480;  // of the square matrix of tsm2r
constexpr Operation dense[] = {Operation::tsmttsm, Operation::gram, Operation::tsmm};
constexpr Operation two_widths[] = {Operation::tsmttsm, Operation::tsmm};

// Most telling first: a run that is cut off has these.
constexpr Table all_tables[] = {
    {"dense", "tsmttsm, gram and tsmm at every width from 1 to 64, row-major",
     [](CaseMaker& m) {
       for (const Operation op : dense)
         for (index_t w = 1; w <= 64; ++w) m.add(op, w, w);
     }},
    {"tsm2r", "a square matrix of order 20480 times 1 to 16 columns, both layouts",
     [](CaseMaker& m) {
       for (const Layout layout : {Layout::row_major, Layout::col_major})
         for (const index_t w : {1, 2, 4, 8, 16})
           if (m.add(Operation::tsm2r, w, w, layout)) m.cases.back().problem.n = m.cases.back().problem.p = large_order;
     }},
    {"short", "2^14 to 2^20 rows, where starting a kernel counts",
     [](CaseMaker& m) {
       for (const Operation op : two_widths)
         for (const index_t w : {8, 32})
           for (int k = 14; k <= 20; ++k)
             if (m.add(op, w, w)) m.cases.back().problem.n = index_t{1} << k;
     }},
    {"wide", "a basis of up to 512 columns against a block",
     [](CaseMaker& m) {
       for (const Operation op : two_widths) {
         for (const index_t q : {1, 4, 8, 16, 32, 64}) m.add(op, 512, q);
         m.add(op, 128, 16), m.add(op, 256, 32);
       }
     }},
    {"others", "the other operations at 14 widths",
     [](CaseMaker& m) {
       for (const Operation op : every_operation)
         if (std::find(std::begin(dense), std::end(dense), op) == std::end(dense) && op != Operation::tsm2r)
           for (const index_t w : {1, 2, 3, 4, 7, 8, 12, 16, 24, 31, 32, 48, 63, 64}) m.add(op, w, w);
     }},
    {"sparse", "spmm by every kernel there is: a stencil, a band, random columns, a graph, blocks of rows",
     [](CaseMaker& m) {
       for (const Pattern pattern : every_pattern)
         for (const index_t w : {1, 2, 4, 8, 16, 20, 24, 32, 64})
           m.add(Operation::spmm, w, w, Layout::row_major, 0, 0, pattern);
     }},
    {"floor", "tsmttsm, gram and tsmm at widths, pairs of widths and layouts that nobody tuned for", [](CaseMaker& m) {
       constexpr Shape pairs[] = {{64, 5}, {5, 64}, {200, 12}, {256, 32}};
       constexpr index_t widths[] = {1, 2, 5, 8, 13, 16, 19, 24, 31, 32, 48, 64, 100, 200};
       for (const Operation op : dense) {
         for (const index_t w : widths) m.add(op, w, w);
         if (op == Operation::gram) m.add(op, 256, 256);
         for (const Shape s : pairs) m.add(op, s.p, s.q);
         for (const index_t w : {7, 16, 31}) m.add(op, w, w, Layout::row_major, 1);
         for (const index_t w : {8, 29}) m.add(op, w, w, Layout::row_major, 3);
         m.add(op, 12, 12, Layout::row_major, 0, 1);
         for (const index_t w : {4, 16, 60}) m.add(op, w, w, Layout::col_major);
       }
     }}};

}  // namespace

bool CaseMaker::add(Operation op, index_t p, index_t q, Layout layout, index_t gap, index_t offset, Pattern pattern) {
  if (!exists(op, type, {p, q})) return false;
  const bool sparse = op == Operation::spmm;
  cases.push_back({table, problem_of(op, type, p, q, sparse ? std::min(bytes, sparse_bytes) : bytes, pattern), layout,
                   gap, offset, pattern});
  if (sparse) cases.back().sparse = facts_of(SparsePattern::of(pattern, cases.back().problem.n));
  return true;
}

std::span<const Table> tables() noexcept { return all_tables; }

std::vector<Case> table_cases(const std::string& name, DType type, std::int64_t bytes) {
  std::string listed;
  for (const Table& table : all_tables) {
    if (table.name == name) {
      CaseMaker maker{name, type, bytes, {}};
      table.make(maker);
      return maker.cases;
    }
    listed.append(listed.empty() ? "" : ", ").append(table.name);
  }
  throw Error(Errc::invalid_argument, "no table is called '" + name + "': there are " + listed);
}

std::vector<Case> selected_cases(const Selection& s, DType type) {
  CaseMaker maker{"selection", type, s.bytes, {}};
  for (const Operation op : s.operations)
    for (const Shape shape : s.shapes)
      if (maker.add(op, shape.p, shape.q, s.layout, s.gap, s.offset) && s.rows > 0 && op != Operation::spmm &&
          op != Operation::tsm2r)
        maker.cases.back().problem.n = s.rows;
  return maker.cases;
}

namespace {

constexpr index_t band_width = 17, random_count = 16, block_rows = 64, least_block = 4, block_kinds = 6;
constexpr double graph_mean = 16, graph_power = 0.8;  // the row of rank r has r^-0.8 times as many entries as the first

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): evenly spread numbers from consecutive ones.
std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
/// In [0, 1).
double uniform_of(std::uint64_t key) noexcept { return static_cast<double>(mixed(key) >> 11) * 0x1p-53; }

}  // namespace

std::string_view name_of(Pattern kind) noexcept {
  constexpr std::string_view names[] = {"stencil", "band", "random", "graph", "blocks"};
  return names[static_cast<std::size_t>(kind)];
}

double SparsePattern::entries_a_row(Pattern kind) noexcept {
  constexpr double mean_block = least_block * ((1 << block_kinds) - 1) / static_cast<double>(block_kinds);
  constexpr double means[] = {7, band_width, random_count, graph_mean, mean_block};
  return means[static_cast<std::size_t>(kind)];
}

SparsePattern SparsePattern::of(Pattern kind, index_t rows) {
  SparsePattern pattern{kind, rows, {}};
  std::vector<index_t> pointers(static_cast<std::size_t>(rows) + 1);
  parallel_for(default_threads(), rows,
               [&](index_t i) { pointers[static_cast<std::size_t>(i) + 1] = pattern.length_of(i); });
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  pattern.pointers = std::make_shared<const std::vector<index_t>>(std::move(pointers));
  return pattern;
}

SparsePattern SparsePattern::of_rows(Pattern kind, double rows) {
  if (kind != Pattern::stencil) return of(kind, std::max(least_rows, static_cast<index_t>(rows)));
  const auto side = std::max<index_t>(1, static_cast<index_t>(std::cbrt(rows)));
  return of(kind, side * side * side);
}

index_t SparsePattern::side() const { return static_cast<index_t>(std::llround(std::cbrt(static_cast<double>(rows)))); }

index_t SparsePattern::length_of(index_t i) const {
  switch (kind) {
    case Pattern::stencil: {
      const index_t s = side();
      const auto beside = [s](index_t x) { return (x > 0) + (x + 1 < s); };
      return 1 + beside(i % s) + beside(i / s % s) + beside(i / s / s);
    }
    case Pattern::band: return band_width;
    case Pattern::random: return random_count;
    case Pattern::graph: {  // of a rank anywhere among the rows
      const double rank = std::max(uniform_of(static_cast<std::uint64_t>(i)), 1 / static_cast<double>(rows));
      return std::llround(graph_mean * (1 - graph_power) * std::pow(rank, -graph_power));
    }
    case Pattern::blocks:
      return std::min(rows, least_block << (mixed(static_cast<std::uint64_t>(i / block_rows)) % block_kinds));
  }
  return 0;
}

index_t SparsePattern::column(index_t i, index_t first, index_t k, index_t count) const {
  const auto key = static_cast<std::uint64_t>(first + k);
  if (kind == Pattern::band) return std::clamp<index_t>(i - band_width / 2, 0, rows - band_width) + k;
  if (kind == Pattern::blocks) return std::min(i / block_rows * block_rows, rows - count) + k;
  if (kind == Pattern::random) {  // one in each sixteenth of the columns
    const index_t part = rows / random_count;
    return k * part + static_cast<index_t>(mixed(key) % static_cast<std::uint64_t>(part));
  }
  // A rank by the same law as the rows', and the column of this rank: somewhere.
  const double u = uniform_of(key);
  const auto rank = static_cast<std::uint64_t>(u * u * u * u * u * static_cast<double>(rows));
  return static_cast<index_t>(mixed(rank) % static_cast<std::uint64_t>(rows));
}

SparseFacts facts_of(const SparsePattern& pattern) {
  const index_t* const pointers = pattern.pointers->data();
  SparseFacts facts = cuda::facts_of_rows(pointers, pattern.rows, cuda::cut_rows(pointers, pattern.rows));
  facts.scattered = cuda::ColumnSample::scattered(pattern.rows, [&](index_t i, auto&& add) { pattern.row(i, add); });
  return facts;
}

template <class T>
CsrMatrix<T> sparse_matrix(const SparsePattern& pattern) {
  CsrMatrix<T> a;
  a.rows = a.cols = pattern.rows;
  a.pointers = *pattern.pointers;
  a.indices.resize(static_cast<std::size_t>(pattern.entries())), a.values.resize(a.indices.size());
  parallel_for(default_threads(), a.rows, [&](index_t i) {
    auto entry = static_cast<std::size_t>(pattern.first_entry(i));
    pattern.row(i, [&](index_t column) {
      a.indices[entry] = static_cast<std::int32_t>(column);
      a.values[entry] = value_at<T>(entry + 1), ++entry;
    });
  });
  return a;
}
TS_FOR_EACH_TYPE(TS_FUNCTION, sparse_matrix)

}  // namespace ts::bench
