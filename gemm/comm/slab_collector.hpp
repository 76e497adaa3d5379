// Slabs of rows that one process works on one after the other, as one that reads its operands from a file
// does.
#pragma once

#include <vector>

#include "tallskinny/gemm/runtime/communicator.hpp"

namespace ts::inline v0 {

/// Stands for as many ranks as there are slabs. For each slab the caller makes the same calls:
///
///   for (int slab = 0; slab < slabs; ++slab) {
///     collector->begin(slab);
///     ... read the slab; gram(ctx, ...); ...
///   }
///
/// What the slabs contribute is kept, and the calls for the last slab write the results; those before it
/// leave results alone, beta times the output included. With Context::slabs and level gpu_to_gpu the bits are
/// those of one call with all rows.
class SlabCollector final : public Communicator {
 public:
  explicit SlabCollector(int slabs) : slabs_(slabs) {}
  /// From here on calls are those of this slab. Slabs come in their order, 0 once more begins anew.
  void begin(int slab) noexcept;

  [[nodiscard]] int rank() const noexcept override { return slab_; }
  [[nodiscard]] int size() const noexcept override { return slabs_; }
  using Communicator::all_gather;
  [[nodiscard]] bool all_gather(std::byte* data, std::span<const std::size_t> offsets) override;

 private:
  int slabs_, slab_ = 0;
  std::size_t call_ = 0;                      ///< of this slab
  std::vector<std::vector<std::byte>> kept_;  ///< of every call, what was contributed so far
};

}  // namespace ts::inline v0
