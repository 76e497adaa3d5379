// Rows gathered on a device. Internal to the room.
#pragma once

#include "tallskinny/gemm/assign/rows/launch.hpp"
#include "tallskinny/gemm/assign/rows/upload.hpp"
#include "tallskinny/gemm/assign/seeding/plan.hpp"
#include "tallskinny/gemm/assign/seeding/potential.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::inline v0::assign_device {

template <class S>
constexpr bool is_wide = sizeof(S) == sizeof(double);

/// The numbers are on the device; none: all rows. With a shift, in the coordinates of distances.
template <class S>
void launch_gather(const Context& ctx, const Rows& x, const index_t* numbers, index_t count, const double* shift,
                   double scale, S* out, index_t ld) {
  cuda::launch_with<cuda::SeedGatherPolicy>(
      ctx, cuda::threads_plan("seed_gather", cuda::SeedGatherPolicy{x.type(), is_wide<S>}, count * ld),
      {argument_of(x), static_cast<int>(x.cols()), numbers, count, shift, scale, out, static_cast<int>(ld)});
}

/// Rows in the coordinates of distances, filled up with zeros to whole loads.
template <class S>
struct RowsInUnit {
  index_t n, d, ld;
  cuda::Memory memory;

  RowsInUnit(const Context& ctx, const Rows& x, const SeedingUnit& unit)
      : n(x.rows()),
        d(x.cols()),
        ld(cuda::ceil_div(d, together) * together),
        memory(ctx.stream, static_cast<std::size_t>(n * ld) * sizeof(S)) {
    Upload upload(ctx, d);
    upload.add(unit.moments.shift);
    Workspace w;
    const std::size_t shift = w.reserve<double>(d);
    w.get(ctx.stream);
    upload.send(w.at<double>(shift));
    launch_gather(ctx, x, nullptr, n, w.at<double>(shift), unit.scale, static_cast<S*>(memory.data()), ld);
  }
  [[nodiscard]] const S* data() const noexcept { return static_cast<const S*>(memory.data()); }

 private:
  static constexpr index_t together = 16 / static_cast<index_t>(sizeof(S));
};

}  // namespace ts::inline v0::assign_device
