// Numbers of two float64: about 32 digits, for what is small or rare.
#pragma once

#include <cmath>

namespace ts::inline v0 {

/// The unevaluated sum hi + lo with |lo| <= ulp(hi) / 2. Source: Dekker 1971; Joldes, Muller, Popescu 2017,
/// "Tight and rigorous error bounds for basic building blocks of double-word arithmetic". What GPUs must do
/// alike is in device/twofold.cuh.
struct Twofold {
  double hi = 0, lo = 0;

  static Twofold sum_of(double a, double b) noexcept {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
  }
  /// Times a power of two.
  [[nodiscard]] Twofold scaled(double power) const noexcept { return {hi * power, lo * power}; }
  friend Twofold operator-(Twofold a) noexcept { return {-a.hi, -a.lo}; }
  friend Twofold operator+(Twofold a, double b) noexcept {
    const Twofold s = sum_of(a.hi, b);
    return sum_of(s.hi, s.lo + a.lo);
  }
  friend Twofold operator+(Twofold a, Twofold b) noexcept {
    const Twofold s = sum_of(a.hi, b.hi), t = sum_of(a.lo, b.lo);
    const Twofold c = sum_of(s.hi, s.lo + t.hi);
    return sum_of(c.hi, c.lo + t.lo);
  }
  friend Twofold operator-(Twofold a, Twofold b) noexcept { return a + -b; }
  friend Twofold operator*(Twofold a, Twofold b) noexcept {
    const double p = a.hi * b.hi;
    return sum_of(p, std::fma(a.hi, b.hi, -p) + (a.hi * b.lo + a.lo * b.hi));
  }
  friend Twofold operator*(Twofold a, double b) noexcept {
    const double p = a.hi * b;
    return sum_of(p, std::fma(a.hi, b, -p) + a.lo * b);
  }
  friend Twofold operator/(Twofold a, Twofold b) noexcept {
    const double q = a.hi / b.hi;
    const Twofold rest = a - b * q;
    return sum_of(q, rest.hi / b.hi);
  }
};

}  // namespace ts::inline v0
