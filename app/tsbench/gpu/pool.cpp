#include "tallskinny/app/tsbench/gpu/pool.hpp"

#include <algorithm>
#include <cmath>

namespace ts::bench {

namespace {

constexpr std::size_t least_bytes = std::size_t{1} << 30;  // what the roofs are measured with
constexpr std::size_t most_sets = 64;

/// So many sets of operands that none is still in the cache when its turn comes.
std::size_t sets_of(const Case& c, const cuda::DeviceInfo& device) {
  const double wanted = 4.0 * static_cast<double>(device.l2_bytes) / cost_of(c.problem).bytes();
  return static_cast<std::size_t>(std::clamp(std::ceil(wanted), 1.0, static_cast<double>(most_sets)));
}

OperandBytes most_bytes(const std::vector<Case>& cases, const cuda::DeviceInfo& device) {
  OperandBytes most{least_bytes, 0, least_bytes, 256};
  for (const Case& c : cases) {
    const OperandBytes one = operand_bytes(c);
    const std::size_t sets = sets_of(c, device);
    most.x = std::max(most.x, sets * one.x), most.y = std::max(most.y, sets * one.y);
    most.out = std::max(most.out, sets * one.out), most.small = std::max(most.small, one.small);
  }
  return most;
}

}  // namespace

GpuPool::GpuPool(const Context& ctx, const std::vector<Case>& cases) : ctx_(ctx) {
  const OperandBytes most = most_bytes(cases, ctx.stream.device());
  x_ = cuda::Memory(ctx.stream, most.x), y_ = cuda::Memory(ctx.stream, most.y);
  out_ = cuda::Memory(ctx.stream, most.out), small_ = cuda::Memory(ctx.stream, most.small);
  result_ = cuda::Memory(ctx.stream, most.small), gram_ = cuda::Memory(ctx.stream, most.small);
  // All bits set is NaN in every type: what lies between lines must not matter.
  for (const cuda::Memory* m : {&x_, &y_, &out_}) cuda::fill_bytes(ctx.stream, m->data(), 0xff, m->bytes());
}

template <class T>
DeviceSets<T> GpuPool::operands(const Case& c) const {
  using R = result_t<T>;
  const Problem& p = c.problem;
  const OperandBytes size = operand_bytes(c);
  DeviceSets<T> o;
  const bool sparse = p.operation == Operation::spmm;
  if (sparse) o.sparse = make_sparse<T>(ctx_, SparsePattern::of(c.pattern, p.n), c.sparse);
  for (std::size_t s = 0; s < sets_of(c, ctx_.stream.device()); ++s) {
    const auto at = [s](const cuda::Memory& m, std::size_t bytes = 0) {
      return static_cast<std::byte*>(m.data()) + s * bytes;
    };
    DeviceOperands<T> d = operands_at<T, Space::device>(
        c, {at(x_, size.x), at(y_, size.y), at(out_, size.out), at(small_), at(result_), at(gram_)});
    const auto prepare = [&](const cuda::Memory& m, std::size_t bytes, DeviceStrided<const T> a, std::uint64_t first) {
      if (a.empty()) return;
      if (c.gap > 0) cuda::fill_bytes(ctx_.stream, at(m, bytes), 0xff, bytes);
      fill(ctx_, DeviceStrided<T>(const_cast<T*>(a.data), a.rows, a.cols, a.row_stride, a.col_stride), first);
    };
    prepare(x_, size.x, d.x, first_key.x), prepare(y_, size.y, d.y, first_key.y);
    if (sparse) {
      d.sparse = o.sparse.view(), d.pattern = o.sparse.pattern;
      d.short_pointers = static_cast<const std::int32_t*>(o.sparse.short_pointers.data());
    }
    refill(d);
    o.sets.push_back(d);
  }
  if (size.small > 0) {
    Matrix<R> small(std::max(p.p, p.q), std::max(p.p, p.q));
    fill_small(small, p);
    cuda::copy_bytes(ctx_.stream, small_.data(), small.data(),
                     static_cast<std::size_t>(small.rows() * small.cols()) * sizeof(R));
    ctx_.stream.synchronize();
  }
  return o;
}

template <class T>
void GpuPool::refill(const DeviceOperands<T>& o) const {
  if (in_place(o.problem.operation)) fill(ctx_, o.out, first_key.out);
}

#define TS_INSTANTIATE(T)                                         \
  template DeviceSets<T> GpuPool::operands<T>(const Case&) const; \
  template void GpuPool::refill<T>(const DeviceOperands<T>&) const;
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
