#include "tallskinny/app/tsbench/gpu/pool.hpp"

#include <algorithm>
#include <cmath>

namespace ts::bench {

namespace {

constexpr std::size_t least_room = std::size_t{1} << 30;  // what the roofs are measured with
constexpr std::size_t most_sets = 64;

/// Bytes of the operands of a case; small ones of what any operation may need.
struct Sizes {
  std::size_t x = 0, y = 0, out = 0, small = 0;
};

Sizes sizes_of(const Case& c) {
  const Problem& p = c.problem;
  const std::size_t in = size_of(p.type), result = std::max<std::size_t>(in, 4);
  const bool sparse = p.operation == Operation::spmm, large = p.operation == Operation::tsm2r;
  const bool two = p.operation == Operation::tsmttsm || p.operation == Operation::inner_and_gram;
  Sizes s;
  s.x = c.tall_bytes(sparse ? p.p : p.n, sparse ? p.q : p.p, in);
  if (two || large) s.y = c.tall_bytes(large ? p.p : p.n, p.q, in);
  if (tall_result(p.operation)) s.out = c.tall_bytes(p.n, out_width(p), result);
  if (!sparse && !large) s.small = static_cast<std::size_t>(std::max(p.p, p.q) * std::max(p.p, p.q)) * result;
  return s;
}

/// So many sets of operands that none is still in the cache when its turn comes.
std::size_t sets_of(const Case& c, const cuda::DeviceInfo& device) {
  const double wanted = 4.0 * static_cast<double>(device.l2_bytes) / cost_of(c.problem).bytes();
  return static_cast<std::size_t>(std::clamp(std::ceil(wanted), 1.0, static_cast<double>(most_sets)));
}

Sizes room_for(const std::vector<Case>& cases, const cuda::DeviceInfo& device) {
  Sizes room{least_room, 0, least_room, 256};
  for (const Case& c : cases) {
    const Sizes s = sizes_of(c);
    const std::size_t sets = sets_of(c, device);
    room.x = std::max(room.x, sets * s.x), room.y = std::max(room.y, sets * s.y);
    room.out = std::max(room.out, sets * s.out), room.small = std::max(room.small, s.small);
  }
  return room;
}

}  // namespace

GpuPool::GpuPool(const Context& ctx, const std::vector<Case>& cases) : ctx_(ctx) {
  const Sizes room = room_for(cases, ctx.stream.device());
  x_ = cuda::Memory(ctx.stream, room.x), y_ = cuda::Memory(ctx.stream, room.y);
  out_ = cuda::Memory(ctx.stream, room.out), small_ = cuda::Memory(ctx.stream, room.small);
  result_ = cuda::Memory(ctx.stream, room.small), gram_ = cuda::Memory(ctx.stream, room.small);
  // All bits set is NaN in every type: what lies between lines must not matter.
  for (const cuda::Memory* m : {&x_, &y_, &out_}) cuda::fill_bytes(ctx.stream, m->data(), 0xff, m->bytes());
}

template <class T>
DeviceOperands<T> operands_at(const Case& c, const Places& at) {
  using R = result_t<T>;
  const Problem& p = c.problem;
  const bool sparse = p.operation == Operation::spmm, large = p.operation == Operation::tsm2r;
  const Sizes size = sizes_of(c);
  const auto square = [](std::byte* place, index_t rows, index_t columns) {
    return DeviceStrided<R>(DeviceView<R>(reinterpret_cast<R*>(place), rows, columns));
  };
  DeviceOperands<T> d;
  d.problem = p;
  if (!in_place(p.operation) || p.operation == Operation::project_out)
    d.x = c.tall(reinterpret_cast<T*>(at.x), sparse ? p.p : p.n, sparse ? p.q : p.p);
  if (size.y > 0) d.y = c.tall(reinterpret_cast<T*>(at.y), large ? p.p : p.n, p.q);
  if (size.out > 0) d.out = c.tall(reinterpret_cast<R*>(at.out), p.n, out_width(p));
  d.small = square(at.small, p.p, p.operation == Operation::trsm ? p.p : p.q);
  d.result = square(at.result, p.p, p.operation == Operation::gram ? p.p : p.q);
  d.gram = square(at.gram, p.q, p.q);
  return d;
}

template <class T>
OperandSets<T> GpuPool::operands(const Case& c) {
  using R = result_t<T>;
  const Problem& p = c.problem;
  const Sizes size = sizes_of(c);
  OperandSets<T> o;
  o.described = c;
  const bool sparse = p.operation == Operation::spmm;
  if (sparse) o.sparse = make_sparse<T>(ctx_, {c.pattern, p.n});
  for (std::size_t s = 0; s < sets_of(c, ctx_.stream.device()); ++s) {
    const auto at = [s](const cuda::Memory& m, std::size_t bytes = 0) {
      return static_cast<std::byte*>(m.data()) + s * bytes;
    };
    DeviceOperands<T> d = operands_at<T>(
        c, {at(x_, size.x), at(y_, size.y), at(out_, size.out), at(small_), at(result_), at(gram_)});
    const auto prepare = [&](const cuda::Memory& m, std::size_t bytes, DeviceStrided<const T> a,
                             std::uint64_t first) {
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

#define TS_INSTANTIATE(T)                                                \
  template DeviceOperands<T> operands_at<T>(const Case&, const Places&); \
  template OperandSets<T> GpuPool::operands<T>(const Case&);             \
  template void GpuPool::refill<T>(const DeviceOperands<T>&) const;
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
