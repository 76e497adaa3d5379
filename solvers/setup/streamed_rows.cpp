#include "tallskinny/solvers/setup/streamed_rows.hpp"

#include <algorithm>
#include <cstring>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/solvers/setup/block_pass.hpp"

namespace ts::inline v0::solvers {

namespace {

/// memcpy by several threads, since one is slower than the way to a device.
void copy_in_parts(char* to, const char* from, std::size_t bytes) {
  constexpr index_t worth_a_thread = index_t{4} << 20, most_threads = 8;
  const auto size = static_cast<index_t>(bytes), most = std::min<index_t>(most_threads, default_threads());
  const auto team = static_cast<int>(std::clamp<index_t>(size / worth_a_thread, 1, most));
  parallel_ranges(team, size, [to, from](index_t first, index_t last) {
    std::memcpy(to + first, from + first, static_cast<std::size_t>(last - first));
  });
}

index_t rows_of_block(const RowOrigin& origin, std::uint64_t row_bytes, std::uint64_t block_bytes) {
  // Blocks are whole chunks of the sums; where a chunk of the file fits in as well, whole ones of those.
  index_t unit = chunk_rows;
  if (origin.chunk_rows > 0) {
    index_t both = origin.chunk_rows;
    while (both % chunk_rows != 0 && both <= (index_t{1} << 24)) both += origin.chunk_rows;
    if (both % chunk_rows == 0 && static_cast<std::uint64_t>(both) * row_bytes <= block_bytes) unit = both;
  }
  const auto fitting = static_cast<index_t>(std::min<std::uint64_t>(block_bytes / row_bytes, std::uint64_t{1} << 40));
  return std::max<index_t>(1, fitting / unit) * unit;
}

/// Blocks on their way to a device, through page-locked buffers and a stream of copies.
class Sender {
 public:
  Sender(const cuda::Stream& stream, std::size_t block_bytes, index_t buffers) : copies_(stream.another()) {
    for (index_t b = 0; b < buffers; ++b) pinned_.emplace_back(copies_, block_bytes);
    for (index_t b = 0; b < buffers; ++b) begun_.emplace_back(copies_), ended_.emplace_back(copies_);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  /// Where copies go may be taken back in the order of another stream: so none is under way any more.
  ~Sender() {
    try {
      copies_.synchronize();
    } catch (const Error&) {  // what follows will tell
    }
  }
  [[nodiscard]] index_t buffers() const noexcept { return static_cast<index_t>(pinned_.size()); }
  [[nodiscard]] void* buffer(index_t block) const { return pinned_[at(block)].data(); }
  void send(index_t block, void* to, std::size_t bytes) {
    begun_[at(block)].record(copies_);
    cuda::copy_bytes(copies_, to, buffer(block), bytes);
    ended_[at(block)].record(copies_);
  }
  /// Waits, and tells how long the copy took.
  double arrive(index_t block) { return ended_[at(block)].seconds_since(begun_[at(block)]); }

 private:
  [[nodiscard]] std::size_t at(index_t block) const { return static_cast<std::size_t>(block % buffers()); }

  cuda::Stream copies_;
  std::vector<cuda::PinnedMemory> pinned_;
  std::vector<cuda::Event> begun_, ended_;
};

}  // namespace

Rows dense_rows(DType type, const void* data, index_t n, index_t d, const cuda::Stream& where) {
  return by_real_type(type, [&]<class T>(std::type_identity<T>) {
    const auto* first = static_cast<const T*>(data);
    return where ? Rows(where, DeviceView<const T>::unchecked(first, n, d, d))
                 : Rows(HostView<const T>::unchecked(first, n, d, d));
  });
}

RowOrigin RowOrigin::memory(const Rows& points) {
  expects(!points.sparse() && !points.on_device() && points.col_stride() == 1 && points.row_stride() == points.cols(),
          "points that are sent in blocks lie in host memory by rows");
  const auto row_bytes = static_cast<std::size_t>(points.cols() * size_of(points.type()));
  return {points.rows(), points.cols(), points.type(), 0,
          [points, row_bytes](index_t first, index_t count, void* out, bool) {
            copy_in_parts(static_cast<char*>(out),
                          static_cast<const char*>(points.values()) + static_cast<std::size_t>(first) * row_bytes,
                          static_cast<std::size_t>(count) * row_bytes);
          }};
}

RowOrigin RowOrigin::in_float64(const Context& ctx, const Rows& points) {
  expects(!points.sparse() && !points.on_device(), "rows that are widened block by block are dense, in host memory");
  const index_t d = points.cols();
  return {points.rows(), d, DType::float64, 0,
          [points, d, team = ctx.thread_count()](index_t first, index_t count, void* out, bool) {
            parallel_for(team, count, [&](index_t i) { points.load(first + i, static_cast<double*>(out) + i * d); });
          }};
}

double PassTimes::share_of_slowest() const {
  return all > 0 ? std::min(1.0, std::max({reading, sending, using_them}) / all) : 0;
}

struct StreamedRows::Buffers {
  std::vector<std::unique_ptr<std::byte[]>> host;
  std::vector<cuda::Memory> places;
  std::unique_ptr<Sender> sender;  ///< goes before the places that it copies to
};

StreamedRows::StreamedRows(RowOrigin origin, std::uint64_t block_bytes, cuda::Stream stream)
    : origin_(std::move(origin)),
      row_bytes_(static_cast<std::uint64_t>(origin_.cols * size_of(origin_.type))),
      stream_(std::move(stream)) {
  block_rows_ = std::min(rows_of_block(origin_, row_bytes_, block_bytes),
                         (origin_.rows + chunk_rows - 1) / chunk_rows * chunk_rows);
}

StreamedRows::~StreamedRows() = default;

void StreamedRows::get_buffers() const {
  if (buffers_ != nullptr) return;
  auto buffers = std::make_unique<Buffers>();
  const auto bytes = static_cast<std::size_t>(block_rows_) * row_bytes_;
  if (stream_) {
    buffers->sender = std::make_unique<Sender>(stream_, bytes, pinned_buffers);
    for (index_t b = 0; b < device_buffers; ++b) buffers->places.emplace_back(stream_, bytes);
    stream_.synchronize();  // what was allocated in its order is there for the copies
  } else {
    for (index_t b = 0; b < host_buffers; ++b)
      buffers->host.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  }
  buffers_ = std::move(buffers);
}

void StreamedRows::for_each_block(const Use& use) const {
  if (rows() == 0) return;
  const Stopwatch watch;
  const PassTimes before = times_;
  get_buffers();
  Sender* const sender = buffers_->sender.get();
  const index_t buffers = sender != nullptr ? sender->buffers() : host_buffers;
  const auto count_of = [this](index_t b) { return std::min(block_rows_, rows() - b * block_rows_); };
  const auto place = [&](index_t b) -> void* {
    if (sender != nullptr) return buffers_->places[static_cast<std::size_t>(b % device_buffers)].data();
    return buffers_->host[static_cast<std::size_t>(b % host_buffers)].get();
  };
  BlockSteps steps;
  steps.read = [&](index_t b) {
    const Stopwatch step;
    origin_.fill(b * block_rows_, count_of(b), sender != nullptr ? sender->buffer(b) : place(b), times_.passes == 0);
    times_.reading += step.seconds();
  };
  if (sender != nullptr) {
    steps.send = [&](index_t b) { sender->send(b, place(b), static_cast<std::size_t>(count_of(b)) * row_bytes_); };
    steps.arrive = [&](index_t b) { times_.sending += sender->arrive(b); };
  }
  steps.use = [&](index_t b) {
    const Stopwatch step;
    use(b * block_rows_, dense_rows(type(), place(b), count_of(b), cols(), stream_));
    if (stream_) stream_.synchronize();  // the next copy but one overwrites this block
    times_.using_them += step.seconds();
  };
  pass_over_blocks((rows() + block_rows_ - 1) / block_rows_, buffers, steps);
  ++times_.passes;
  times_.bytes += static_cast<std::uint64_t>(rows()) * row_bytes_;
  times_.all += watch.seconds();
  times_.slowest_of_last = std::max(
      {times_.reading - before.reading, times_.sending - before.sending, times_.using_them - before.using_them});
}

void StreamedRows::load(index_t i, double* row) const {
  std::vector<std::byte> stored(row_bytes_);
  origin_.fill(i, 1, stored.data(), false);
  dense_rows(type(), stored.data(), 1, cols()).load(0, row);
}

namespace {

Rows send_all(const cuda::Stream& stream, const RowOrigin& origin, std::uint64_t block_bytes, cuda::Memory& memory) {
  const auto row_bytes = static_cast<std::uint64_t>(origin.cols * size_of(origin.type));
  memory = cuda::Memory(stream, static_cast<std::size_t>(static_cast<std::uint64_t>(origin.rows) * row_bytes));
  const index_t rows = std::min(rows_of_block(origin, row_bytes, block_bytes), origin.rows);
  const auto count_of = [&](index_t b) { return std::min(rows, origin.rows - b * rows); };
  stream.synchronize();  // as above
  Sender sender(stream, static_cast<std::size_t>(rows) * row_bytes, StreamedRows::pinned_buffers);
  BlockSteps steps;
  steps.read = [&](index_t b) { origin.fill(b * rows, count_of(b), sender.buffer(b), true); };
  steps.send = [&](index_t b) {
    sender.send(b, static_cast<char*>(memory.data()) + static_cast<std::uint64_t>(b * rows) * row_bytes,
                static_cast<std::size_t>(count_of(b)) * row_bytes);
  };
  steps.arrive = [&](index_t b) { (void)sender.arrive(b); };
  steps.use = [](index_t) {};
  pass_over_blocks((origin.rows + rows - 1) / rows, sender.buffers(), steps);
  return dense_rows(origin.type, memory.data(), origin.rows, origin.cols, stream);
}

}  // namespace

DeviceRows::DeviceRows(const cuda::Stream& stream, const RowOrigin& origin, std::uint64_t block_bytes)
    : rows_(send_all(stream, origin, block_bytes, memory_)) {}

}  // namespace ts::inline v0::solvers
