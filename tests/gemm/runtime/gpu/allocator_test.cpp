// Device memory from a pool of the program's.
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/engine.hpp"

namespace {

/// A pool of pieces that the driver gave, which notes what is asked of it.
struct Pool {
  cuda::Stream plain{0};
  std::map<void*, cuda::Memory> pieces;
  int taken = 0;
  bool other_stream = false, empty = false;
  CUstream_st* of = nullptr;

  cuda::DeviceAllocator allocator() {
    return {[this](std::size_t bytes, CUstream_st* stream) -> void* {
              if (empty) return nullptr;
              if (of == nullptr) of = stream;
              other_stream = other_stream || stream != of;
              cuda::Memory piece(plain, bytes);
              void* const data = piece.data();
              ++taken;
              pieces.emplace(data, std::move(piece));
              return data;
            },
            [this](void* data, std::size_t, CUstream_st* stream) {
              other_stream = other_stream || stream != of;
              pieces.erase(data);
            },
            [] { return std::uint64_t{12345}; }};
  }
};

}  // namespace

TEST_CASE("a stream takes all device memory from its allocator and gives all of it back", "[gpu]") {
  Pool pool;
  {
    DeviceMatrix<double> outlives;
    {
      Context ctx{.stream = cuda::Stream(0, pool.allocator())};
      CHECK(cuda::free_memory(ctx.stream) == 12345);
      auto x = Matrix<double>::zeros(5000, 3);
      for (index_t i = 0; i < x.rows(); ++i) x(i, i % 3) = 1;
      const auto there = copy_there(ctx, x);
      DeviceMatrix<double> c(ctx.stream, 3, 3);
      gram(ctx, Op::adjoint, 1.0, there.cview(), 0.0, c.view());
      const auto back = copy_here(ctx.stream, c);
      CHECK((back(0, 0) == 1667 && back(2, 2) == 1666 && back(0, 1) == 0));
      CHECK(pool.taken >= 4);
      outlives = std::move(c);
    }
    CHECK(pool.pieces.size() == 1);
  }
  CHECK(pool.pieces.empty());
  CHECK_FALSE(pool.other_stream);
}

TEST_CASE("an allocator that gives nothing is an error that names the bytes; half an allocator is refused", "[gpu]") {
  Pool pool;
  const cuda::Stream stream(0, pool.allocator());
  CHECK(stream.another().handle() != stream.handle());
  pool.empty = true;
  const auto refusal = message_of([&] { const DeviceMatrix<float> m(stream, 1000, 2); });
  CHECK(mentions(refusal, "none of 8000 bytes"));
  cuda::DeviceAllocator half = pool.allocator();
  half.release = {};
  CHECK_THROWS_AS(cuda::Stream(0, half), Error);
}

TEST_CASE("memory that goes back stays for what asks next while somebody keeps it", "[gpu]") {
  const cuda::Stream stream(0);
  void* first = nullptr;
  {
    const cuda::KeepMemory keep(stream);
    first = cuda::Memory(stream, 10 << 20).data();
    const std::uint64_t free = cuda::free_memory(stream);
    {
      const cuda::Memory again(stream, (10 << 20) - 5), other(stream, 10 << 20);
      CHECK(again.data() == first);
      CHECK(again.bytes() == (10 << 20) - 5);
      CHECK(other.data() != first);
      const cuda::KeepMemory inner(stream);
    }
    CHECK(cuda::Memory(stream, 6 << 20).data() != first);  // much smaller
    CHECK(cuda::free_memory(stream) + (1 << 20) > free);   // what is kept counts as free
    // Blocks beyond an eighth of the device's memory are not kept, and all kept go where there is not enough.
    const std::size_t most = stream.device().memory_bytes;
    { const cuda::Memory large(stream, most / 5); }
    CHECK_THROWS_AS(cuda::Memory(stream, most), Error);
  }
  const cuda::KeepMemory keep(stream);
  CHECK_NOTHROW(cuda::Memory(stream, 1));
}
