#include "tallskinny/app/tsbench/summary.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "tallskinny/gemm/plan/text.hpp"

namespace ts::bench {

namespace {

struct Range {
  double low = HUGE_VAL, high = 0;
  void add(double x) { low = std::min(low, x), high = std::max(high, x); }
  [[nodiscard]] std::string text() const {
    return high > 0 ? format("%5.1f .. %5.1f", 100 * low, 100 * high) : std::string(14, ' ');
  }
};

struct Line {
  std::string table, operation, type, form;
  Range narrow, broad, sectors;
  int cells = 0, wrong = 0, differ = 0, against = 0, behind = 0;
  double log_ratio = 0, least_ratio = HUGE_VAL;

  void add(const Cell& c) {
    ++cells, wrong += c.seconds == 0, differ += !c.same_bits;
    if (c.seconds == 0) return;
    // Of the operations with a large matrix, the block is what is narrow.
    const bool large = c.operation == "tsm2r" || c.operation == "spmm" || c.table == "wide";
    ((large ? c.q : std::max(c.p, c.q)) <= 32 ? narrow : broad).add(c.share);
    if (c.sector_share > 0) sectors.add(c.sector_share);
    if (c.ratio <= 0) return;
    ++against, behind += c.ratio < 0.98;
    log_ratio += std::log(c.ratio), least_ratio = std::min(least_ratio, c.ratio);
  }
  [[nodiscard]] std::string text() const {
    std::string t = format("%-12s %-14s %-11s %-9s %5d  %s  %s", table.c_str(), operation.c_str(), type.c_str(),
                           form.c_str(), cells, narrow.text().c_str(), broad.text().c_str());
    t += against > 0 ? format("  %6.2f %6.2f %5d", std::exp(log_ratio / against), least_ratio, behind)
                     : std::string("       -      -     -");
    if (sectors.high > 0) t += "  by sectors " + sectors.text();
    if (wrong > 0) t += format("  %d WRONG", wrong);
    if (differ > 0) t += format("  %d with other BITS", differ);
    return t;
  }
};

}  // namespace

void print_summary(std::ostream& out, const std::vector<Cell>& cells) {
  std::vector<Line> lines;
  Line all{"all", "", "", "", {}, {}, {}};
  for (const Cell& c : cells) {
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) {
      return l.table == c.table && l.operation == c.operation && l.type == c.type && l.form == c.form;
    });
    if (line == lines.end()) line = lines.insert(lines.end(), {c.table, c.operation, c.type, c.form, {}, {}, {}});
    line->add(c), all.add(c);
  }
  out << format("%-12s %-14s %-11s %-9s %5s  %-14s  %-14s  %6s %6s %5s\n", "table", "operation", "type", "form",
                "cells", "roof% to 32", "roof% beyond", "/vendor", "least", "<.98");
  for (const Line& line : lines) out << line.text() << '\n';
  out << all.text() << '\n';
}

}  // namespace ts::bench
