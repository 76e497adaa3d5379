#include "tallskinny/app/tsbench/papers/figures.hpp"

namespace ts::bench {

namespace {

Case case_of(Operation op, DType type, index_t n, index_t p, index_t q, Layout layout = Layout::row_major) {
  return {"", Problem{op, type, n, p, q}, layout};
}

/// Rows for `elements` in a tall operand of this width.
index_t rows_for(index_t elements, index_t width) { return elements / width; }

std::vector<Case> ernst_widths(bool large) {
  const index_t elements = index_t{large ? 512 : 8} << 20;  // of an operand, as the authors' benchmark has it
  std::vector<Case> cases;
  for (const Operation op : {Operation::tsmttsm, Operation::tsmm})
    for (const DType type : {DType::float64, DType::complex128})
      for (const index_t w : {1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64})
        cases.push_back(case_of(op, type, rows_for(elements / (type == DType::complex128 ? 2 : 1), w), w, w));
  return cases;
}

std::vector<Case> ernst_reduction(bool large) {
  std::vector<Case> cases;
  for (const index_t w : {4, 64})
    for (int j = 10; j <= (large ? 38 : 24); j += 4)
      cases.push_back(case_of(Operation::tsmttsm, DType::float64, (index_t{1024} << (j / 2)) / w, w, w));
  return cases;
}

std::vector<Case> tang_heights(bool large) {
  std::vector<Case> cases;
  for (const DType type : {DType::float16, DType::bfloat16})
    for (int k = 14; k <= (large ? 22 : 18); ++k)
      cases.push_back(case_of(Operation::tsmttsm, type, index_t{1} << k, 32, 32));
  return cases;
}

std::vector<Case> tang_widths(bool large) {
  std::vector<Case> cases;
  for (const DType type : {DType::float16, DType::bfloat16})
    for (const index_t w : {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32})
      cases.push_back(case_of(Operation::tsmttsm, type, index_t{1} << (large ? 23 : 18), w, w));
  return cases;
}

std::vector<Case> tang_products(bool large) {
  std::vector<Case> cases;
  for (const DType type : {DType::float16, DType::bfloat16})
    for (const int k : {16, 20})
      for (const index_t w : {1, 2, 4, 8, 16, 24, 32})
        if (large || k == 16) cases.push_back(case_of(Operation::tsmm, type, index_t{1} << k, w, w));
  return cases;
}

std::vector<Case> rivera_squares(bool large) {
  std::vector<Case> cases;
  for (const DType type : {DType::float32, DType::float64})
    for (const Layout layout : {Layout::col_major, Layout::row_major})
      for (index_t order = 10240; order <= (large ? 40960 : 0); order += 10240)
        for (const index_t q : {2, 4, 8, 16}) cases.push_back(case_of(Operation::tsm2r, type, order, order, q, layout));
  if (!large)
    for (const DType type : {DType::float32, DType::float64})
      for (const index_t q : {2, 4, 8, 16}) cases.push_back(case_of(Operation::tsm2r, type, 2560, 2560, q));
  return cases;
}

std::vector<Case> rivera_depths(bool large) {
  std::vector<Case> cases;
  for (const DType type : {DType::float32, DType::float64})
    for (const index_t p : {16, 60, 240, 960, 3840, 15360})
      if (large || p <= 960)
        cases.push_back(case_of(Operation::tsm2r, type, 15360, p, 16, large ? Layout::col_major : Layout::row_major));
  return cases;
}

std::vector<Case> rivera_left(bool large) {
  std::vector<Case> cases;
  for (const DType type : {DType::float32, DType::float64})
    for (const index_t w : {8, 16})
      for (const index_t n : {10000, 100000, 1000000, 10000000})
        if (large || n <= 1000000)
          cases.push_back(case_of(Operation::tsmm, type, n, w, w, large ? Layout::col_major : Layout::row_major));
  return cases;
}

constexpr Figure all[] = {
    {"B1", "Ernst et al. 2020, figs. 3 and 4: A^T B and X S at widths 1 to 64",
     "V100: at least 2/3 of the roofline at all widths, cuBLAS far below it for most", ernst_widths},
    {"B2", "Ernst et al. 2020, reductions: widths 4 and 64 from few rows to many",
     "the reduction over blocks matters below about 10^5 rows", ernst_reduction},
    {"B3", "Tang et al. 2021, fig. 12: A^T B of 16-bit blocks 32 wide, 2^14 to 2^22 rows",
     "1.07 to 3.19 times cuBLAS 11 on V100, 1.04 to 3.70 on A100, over all their cases", tang_heights},
    {"B4", "Tang et al. 2021, figs. 13 to 15: widths 1 to 32 at 2^23 rows, energy",
     "energy saved against cuBLAS: 34 to 74 % on V100, 62 to 82 % on A100", tang_widths},
    {"B5", "Tang et al. 2021, fig. 16: X S of 2^16 and 2^20 rows",
     "the loading by bytes alone gains 15 to 41 % on V100", tang_products},
    {"B6", "Rivera et al. 2021 (TSM2X), figs. 6 to 11: square matrices times 2 to 16 columns",
     "1.6 times cuBLAS on average; over 90 % of the bandwidth on V100", rivera_squares},
    {"B7", "Rivera et al. 2021, figs. 4, 5 and 12: 15360 rows times 16 columns, more and more terms",
     "bandwidth as for square matrices once there are enough terms", rivera_depths},
    {"B8", "Rivera et al. 2021, figs. 13 and 14 (TSM2L): 10^4 to 10^7 rows, widths 8 and 16",
     "1.1 to 3.5 times cuBLAS in float32 (2.5 on average), 1.0 to 1.7 in float64 (1.3)", rivera_left}};

}  // namespace

std::span<const Figure> figures() noexcept { return all; }

}  // namespace ts::bench
