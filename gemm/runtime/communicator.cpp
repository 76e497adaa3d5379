#include "tallskinny/gemm/runtime/communicator.hpp"

#include <vector>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts {

namespace {

class SelfCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] int size() const noexcept override { return 1; }
  [[nodiscard]] bool all_gather(std::byte*, std::span<const std::size_t>) override { return true; }
  [[nodiscard]] bool all_gather(const cuda::Stream&, std::byte*, std::span<const std::size_t>) override { return true; }
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

const std::shared_ptr<Communicator>& self_communicator() {
  static const std::shared_ptr<Communicator> self = std::make_shared<SelfCommunicator>();
  return self;
}

}  // namespace ts
