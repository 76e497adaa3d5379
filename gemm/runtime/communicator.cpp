#include "tallskinny/gemm/runtime/communicator.hpp"

#include <algorithm>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/row_slabs.hpp"

namespace ts::inline v0 {

namespace {

class SelfCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] int size() const noexcept override { return 1; }
  [[nodiscard]] bool all_gather(std::byte*, std::span<const std::size_t>) override { return true; }
  [[nodiscard]] bool all_gather(const cuda::Stream&, std::byte*, std::span<const std::size_t>) override { return true; }
  void add(std::span<std::uint64_t>) override {}
  void add(const cuda::Stream&, std::span<std::uint64_t>) override {}
};

}  // namespace

bool Communicator::all_gather(const cuda::Stream& stream, std::byte* data, std::span<const std::size_t> offsets) {
  std::vector<std::byte> here(offsets.back());
  const std::size_t begin = offsets[static_cast<std::size_t>(rank())],
                    end = offsets[static_cast<std::size_t>(rank()) + 1];
  cuda::copy_bytes(stream, here.data() + begin, data + begin, end - begin);
  stream.synchronize();
  if (!all_gather(here.data(), offsets)) return false;
  cuda::copy_bytes(stream, data, here.data(), here.size());
  stream.synchronize();  // before `here` goes
  return true;
}

void Communicator::add(std::span<std::uint64_t> values) {
  const auto ranks = static_cast<std::size_t>(size()), here = static_cast<std::size_t>(rank());
  std::vector<std::uint64_t> all(ranks * values.size());
  std::vector<std::size_t> offsets(ranks + 1);
  for (std::size_t r = 0; r <= ranks; ++r) offsets[r] = r * values.size_bytes();
  std::copy(values.begin(), values.end(), all.begin() + static_cast<std::ptrdiff_t>(here * values.size()));
  expects(all_gather(reinterpret_cast<std::byte*>(all.data()), offsets), "slabs one after the other have no sums");
  std::fill(values.begin(), values.end(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) values[i % values.size()] += all[i];
}

void Communicator::add(const cuda::Stream& stream, std::span<std::uint64_t> values) {
  std::vector<std::uint64_t> here(values.size());
  cuda::copy_bytes(stream, here.data(), values.data(), values.size_bytes());
  stream.synchronize();
  add(here);
  cuda::copy_bytes(stream, values.data(), here.data(), values.size_bytes());
  stream.synchronize();  // before `here` goes
}

std::unique_ptr<Exchange> Communicator::begin_exchange(std::span<const Outgoing> out, std::span<const Incoming> in) {
  expects(out.empty() && in.empty(), "these ranks cannot send to each other");
  class Nothing final : public Exchange {
    void wait() override {}
  };
  return std::make_unique<Nothing>();
}

namespace {

/// Pieces that are on a device while those that are sent and received are copies in host memory.
class ThroughHost final : public Exchange {
 public:
  ThroughHost(Communicator& ranks, const cuda::Stream& stream, std::span<const Outgoing> out,
              std::span<const Incoming> in)
      : stream_(stream), in_(in.begin(), in.end()) {
    std::vector<Outgoing> sends;
    std::vector<Incoming> receives;
    for (const Outgoing& piece : out) {
      auto& copy = copies_.emplace_back(piece.data.size());
      cuda::copy_bytes(stream, copy.data(), piece.data.data(), copy.size());
      sends.push_back({piece.to, copy});
    }
    arrived_ = copies_.size();
    for (const Incoming& piece : in) receives.push_back({piece.from, copies_.emplace_back(piece.data.size())});
    stream.synchronize();
    under_way_ = ranks.begin_exchange(sends, receives);
  }
  void wait() override {
    under_way_->wait();
    for (std::size_t k = 0; k < in_.size(); ++k)
      cuda::copy_bytes(stream_, in_[k].data.data(), copies_[arrived_ + k].data(), in_[k].data.size());
    stream_.synchronize();  // before the copies go
  }

 private:
  cuda::Stream stream_;
  std::vector<Incoming> in_;
  std::vector<std::vector<std::byte>> copies_;  ///< those that are sent, then from `arrived_` on those that come
  std::size_t arrived_ = 0;
  std::unique_ptr<Exchange> under_way_;  ///< gone before what it touches
};

}  // namespace

std::unique_ptr<Exchange> Communicator::begin_exchange(const cuda::Stream& stream, std::span<const Outgoing> out,
                                                       std::span<const Incoming> in) {
  return std::make_unique<ThroughHost>(*this, stream, out, in);
}

const std::shared_ptr<Communicator>& self_communicator() {
  static const std::shared_ptr<Communicator> self = std::make_shared<SelfCommunicator>();
  return self;
}

RowSlabs::RowSlabs(std::vector<index_t> begins) : begins_(std::move(begins)) {
  expects(begins_.size() >= 2 && begins_.front() == 0 && std::is_sorted(begins_.begin(), begins_.end()),
          "slabs of rows: the list of where they begin must start with 0, not decrease, and end with the "
          "number of rows");
}

RowSlabs RowSlabs::of_units(index_t rows, int slabs) { return of_pieces(rows, slabs, row_unit(rows)); }

RowSlabs RowSlabs::of_pieces(index_t rows, int slabs, index_t piece) {
  expects(rows >= 0 && slabs >= 1 && piece >= 1,
          "slabs of rows: there must be a slab or more, no fewer than 0 rows, and a row or more in a piece");
  const index_t pieces = (rows + piece - 1) / piece;
  std::vector<index_t> begins;
  for (int slab = 0; slab <= slabs; ++slab) begins.push_back(std::min(rows, pieces * slab / slabs * piece));
  return RowSlabs(std::move(begins));
}

int RowSlabs::slab_of(index_t row) const noexcept {
  return static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), row) - begins_.begin()) - 1;
}

}  // namespace ts::inline v0
