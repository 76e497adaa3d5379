#include "tallskinny/gemm/plan/text.hpp"

#include <array>

namespace ts::inline v0 {

namespace {

std::string scaled(double value, double base, const char* const* units) {
  int unit = 0;
  for (; value >= base && units[unit + 1] != nullptr; ++unit) value /= base;
  return format(value < 10 && unit > 0 ? "%.2f %s" : "%.0f %s", value, units[unit]);
}

}  // namespace

std::string bytes_text(double bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", nullptr};
  return scaled(bytes, 1024, units);
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (amount >= 1023.5 && unit + 1 < units.size()) amount /= 1024, ++unit;
  return format(amount < 9.995 ? "%.2f %s" : amount < 99.95 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

std::string flops_text(double flops) {
  static const char* const units[] = {"flop", "kflop", "Mflop", "Gflop", "Tflop", nullptr};
  return scaled(flops, 1000, units);
}

std::string time_text(double seconds) {
  if (seconds >= 1) return format("%.2f s", seconds);
  if (seconds >= 1e-3) return format("%.2f ms", seconds * 1e3);
  return format("%.2f us", seconds * 1e6);
}

std::string shape_text(const Problem& p) {
  const auto l = [](index_t i) { return static_cast<long long>(i); };
  switch (p.operation) {
    case Operation::gram:
    case Operation::column_norms:
    case Operation::trsm: return format("%lld x %lld", l(p.n), l(p.p));
    case Operation::spmm:
      return format("%lld x %lld with %lld entries, times %lld x %lld", l(p.n), l(p.p), l(p.nonzeros), l(p.p), l(p.q));
    case Operation::tsm2r:
    case Operation::tsmm:
    case Operation::tsmm_in_place: return format("%lld x %lld times %lld x %lld", l(p.n), l(p.p), l(p.p), l(p.q));
    default: return format("%lld x %lld and %lld x %lld", l(p.n), l(p.p), l(p.n), l(p.q));
  }
}

}  // namespace ts::inline v0
