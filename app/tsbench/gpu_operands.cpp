#include "tallskinny/app/tsbench/gpu_operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ts::bench {

namespace {

constexpr std::int64_t least_room = std::int64_t{256} << 20;
constexpr std::int64_t part_room = std::int64_t{64} << 20;
constexpr index_t sampled_rows = 4096, checked_rows = 32;

bool in_place(Operation op) {
  return op == Operation::trsm || op == Operation::tsmm_in_place || op == Operation::project_out;
}
bool tall_result(Operation op) {
  return in_place(op) || op == Operation::tsmm || op == Operation::tsm2r || op == Operation::spmm;
}
bool two_tall_inputs(Operation op) {
  return op == Operation::tsmttsm || op == Operation::inner_and_gram;
}
std::size_t bytes_of(index_t elements, std::size_t size) {
  return static_cast<std::size_t>(elements) * size;
}

}  // namespace

template <class T>
GpuPool<T>::GpuPool(const cuda::Stream& stream, std::int64_t bytes, std::int64_t host_bytes, index_t width)
    : stream_(stream),
      bytes_(std::max(bytes, least_room)),
      host_(std::max(host_bytes, part_room), width),
      x_(stream, static_cast<std::size_t>(bytes_) + 65536),
      y_(stream, static_cast<std::size_t>(bytes_) + 65536),
      out_(stream, static_cast<std::size_t>(bytes_) + 65536),
      small_(stream, bytes_of(width * width, sizeof(R))),
      result_(stream, bytes_of(width * width, sizeof(R))),
      gram_(stream, bytes_of(width * width, sizeof(R))) {}

template <class T>
index_t GpuPool<T>::out_width(const Problem& p) const noexcept {
  return p.operation == Operation::trsm || p.operation == Operation::tsmm_in_place ? p.p : p.q;
}

template <class T>
void GpuPool<T>::spread(void* to, const void* part, std::size_t part_bytes, int fold) {
  auto* const begin = static_cast<unsigned char*>(to);
  cuda::copy_bytes(stream_, begin, part, part_bytes);
  for (int f = 0; f < fold; ++f) cuda::copy_bytes(stream_, begin + (part_bytes << f), begin, part_bytes << f);
}

template <class T>
GpuOperands<T> GpuPool<T>::operands(Problem problem) {
  GpuOperands<T> o;
  const Operation op = problem.operation;
  const double bytes = cost_of(problem).bytes();
  // A part is checked in long double: some rows of a large D, some tens of megabytes of anything else.
  const auto small_enough = [&] {
    return op == Operation::tsm2r ? problem.n >> o.fold <= checked_rows
                                  : std::ldexp(bytes, -o.fold) <= static_cast<double>(part_room);
  };
  if (op != Operation::spmm)
    while (!small_enough()) o.fold += 2;
  problem.n = std::max<index_t>(1, problem.n >> o.fold) << o.fold;

  Problem part = problem;
  part.n = problem.n >> o.fold;
  o.part = host_.operands(part);
  const std::size_t x_bytes = bytes_of(
      (op == Operation::spmm ? problem.p : problem.n) * (op == Operation::spmm ? problem.q : problem.p),
      sizeof(T));
  const std::size_t y_bytes = two_tall_inputs(op)      ? bytes_of(problem.n * problem.q, sizeof(T))
                              : op == Operation::tsm2r ? bytes_of(problem.p * problem.q, sizeof(T))
                                                       : 0;
  const std::size_t out_bytes = tall_result(op) ? bytes_of(problem.n * out_width(problem), sizeof(R)) : 0;
  const auto apart = [](std::size_t size) { return (size + 255) / 256 * 256; };
  const std::size_t largest = apart(std::max({x_bytes, y_bytes, out_bytes}));
  const auto rotating =
      static_cast<std::size_t>(std::ceil(4.0 * static_cast<double>(stream_.device().l2_bytes) / bytes));
  const std::size_t count = std::clamp<std::size_t>(static_cast<std::size_t>(bytes_) / largest, 1,
                                                    std::clamp<std::size_t>(rotating, 1, 64));
  cuda::copy_bytes(stream_, small_.data(), o.part.small,
                   bytes_of(problem.p * (op == Operation::trsm ? problem.p : problem.q),
                            op == Operation::tsm2r || op == Operation::spmm ? 0 : sizeof(R)));
  for (std::size_t s = 0; s < count; ++s) {
    const auto at = [s](const cuda::Memory& m, std::size_t size) {
      return static_cast<unsigned char*>(m.data()) + s * size;
    };
    Operands<T> set;
    set.problem = problem;
    set.x = reinterpret_cast<const T*>(at(x_, apart(x_bytes)));
    set.y = reinterpret_cast<const T*>(at(y_, apart(y_bytes)));
    set.out = reinterpret_cast<R*>(at(out_, apart(out_bytes)));
    set.small = static_cast<const R*>(small_.data());
    set.result = static_cast<R*>(result_.data());
    set.gram = static_cast<R*>(gram_.data());
    spread(at(x_, apart(x_bytes)), o.part.x, x_bytes >> o.fold, o.fold);
    if (op == Operation::tsm2r)
      cuda::copy_bytes(stream_, at(y_, apart(y_bytes)), o.part.y, y_bytes);
    else
      spread(at(y_, apart(y_bytes)), o.part.y, y_bytes >> o.fold, o.fold);
    o.sets.push_back(set);
  }
  if (op == Operation::spmm) {
    if (sparse_.rows() != problem.n) sparse_ = DeviceCsrMatrix<T>(stream_, o.part.sparse);
    o.sparse = sparse_.view();
  }
  refill(o);
  stream_.synchronize();
  return o;
}

template <class T>
void GpuPool<T>::refill(const GpuOperands<T>& o) {
  const Problem& p = o.part.problem;
  if (!in_place(p.operation)) return;
  const std::size_t part_bytes = bytes_of(p.n * out_width(p), sizeof(R));
  host_.refill(o.part);
  for (const Operands<T>& set : o.sets) spread(set.out, o.part.out, part_bytes, o.fold);
  stream_.synchronize();
}

template <class T>
void GpuPool<T>::download(const GpuOperands<T>& o) {
  const Problem& p = o.part.problem;
  const Operands<T>& set = o.sets.front();
  const index_t entries = p.operation == Operation::gram ? p.p * p.p : p.p * p.q;
  const auto small = [&](R* to, const R* from, index_t count) {
    cuda::copy_bytes(stream_, to, from, bytes_of(count, sizeof(R)));
    stream_.synchronize();
    const auto share = static_cast<real_t<R>>(std::ldexp(1.0, -o.fold));
    for (index_t i = 0; i < count; ++i) to[i] *= share;
  };
  if (tall_result(p.operation)) {
    cuda::copy_bytes(stream_, o.part.out, set.out, bytes_of(p.n * out_width(p), sizeof(R)));
    stream_.synchronize();
  }
  if (p.operation ==
      Operation::column_norms) {  // reals, packed: spread them over the elements they belong to
    std::vector<real_t<T>> values(static_cast<std::size_t>(p.p));
    cuda::copy_bytes(stream_, values.data(), set.result, values.size() * sizeof(real_t<T>));
    stream_.synchronize();
    for (std::size_t j = 0; j < values.size(); ++j)
      o.part.result[j] = values[j] * static_cast<real_t<T>>(std::ldexp(1.0, -o.fold / 2));
  } else if (!tall_result(p.operation) || p.operation == Operation::project_out) {
    small(o.part.result, set.result, entries);
    if (p.operation == Operation::inner_and_gram || p.operation == Operation::project_out)
      small(o.part.gram, set.gram, p.q * p.q);
  }
}

template <class T>
std::vector<unsigned char> GpuPool<T>::result_bits(const GpuOperands<T>& o) {
  const Operands<T>& set = o.sets.front();
  const Problem& p = set.problem;
  std::vector<unsigned char> bits;
  const auto take = [&](const void* from, std::size_t size) {
    bits.resize(bits.size() + size);
    cuda::copy_bytes(stream_, bits.data() + bits.size() - size, from, size);
    stream_.synchronize();
  };
  if (tall_result(p.operation)) {
    const index_t rows = std::min(sampled_rows, p.n), width = out_width(p);
    take(set.out, bytes_of(rows * width, sizeof(R)));
    take(set.out + (p.n - rows) * width, bytes_of(rows * width, sizeof(R)));
  } else if (p.operation == Operation::column_norms) {
    take(set.result, bytes_of(p.p, sizeof(real_t<T>)));
  } else {
    take(set.result, bytes_of(p.p * (p.operation == Operation::gram ? p.p : p.q), sizeof(R)));
  }
  return bits;
}

template <class T>
bool GpuPool<T>::repeats(const GpuOperands<T>& o) {
  const Operands<T>& set = o.sets.front();
  const Problem& p = set.problem;
  if (!tall_result(p.operation) || o.fold == 0) return true;
  const index_t part_rows = o.part.problem.n, rows = std::min(sampled_rows, part_rows), width = out_width(p);
  std::vector<R> first(static_cast<std::size_t>(rows * width)), last = first;
  const std::size_t size = first.size() * sizeof(R);
  cuda::copy_bytes(stream_, first.data(), set.out + (part_rows - rows) * width, size);
  cuda::copy_bytes(stream_, last.data(), set.out + (p.n - rows) * width, size);
  stream_.synchronize();
  return std::memcmp(first.data(), last.data(), size) == 0;
}

#define TS_INSTANTIATE(T) template class GpuPool<T>;
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
