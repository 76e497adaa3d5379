// Ranks that are threads of this process with a GPU each.
#include <exception>

#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/engine.hpp"
#include "tallskinny/tests/support/gather.hpp"
#include "tallskinny/tests/support/needs.hpp"
#include "tallskinny/tests/support/ranks.hpp"
#include "tallskinny/tests/support/sums_over_rows.hpp"

namespace {

/// use(context) by one thread for each GPU, at most three.
template <class Use>
void on_all_ranks(Determinism level, const Use& use) {
  const int ranks = std::min(3, static_cast<int>(cuda::list_devices().devices.size()));
  const NcclId id = new_nccl_id();
  std::vector<std::exception_ptr> failure(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Context ctx{.determinism = level, .stream = cuda::Stream(rank)};
        ctx.communicator = nccl_communicator(id, rank, ranks, rank);
        use(ctx);
      } catch (...) {
        failure[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& e : failure)
    if (e) std::rethrow_exception(e);
}

}  // namespace

TEST_CASE("an NCCL communicator says what is missing, and which ranks there are") {
  expect_misuse([] { (void)nccl_communicator({}, 2, 2, 0); }, {"nccl_communicator", "rank"});
  if (cuda::list_devices().devices.empty())
    CHECK_THROWS_AS(new_nccl_id(), Error);
  else if (const std::string reason = obstacle_to("gpus"); !reason.empty())
    CHECK((mentions(reason, "libnccl.so.2") || mentions(reason, "one GPU")));
}

TEMPLATE_TEST_CASE("on all GPUs the bits of sums over rows are those of one GPU", "[gpus]", TS_ALL_TYPES) {
  using Bits = std::vector<unsigned char>;
  std::vector<SumsOverRows<TestType>> all;
  std::vector<Bits> alone;
  for (const index_t n : {1, 300, 20011})
    for (std::size_t form = 0; form < 3; ++form) {
      all.emplace_back(n, 9, 4, form_number(form));
      alone.push_back(all.back().bits_of_whole(device_context(Determinism::gpu_to_gpu)));
    }
  std::vector<std::vector<Bits>> of_ranks(3, alone);  // a communicator takes a second to make: one for all sums
  on_all_ranks(Determinism::gpu_to_gpu, [&](Context& ctx) {
    const int rank = ctx.communicator->rank();
    for (std::size_t c = 0; c < all.size(); ++c) {
      ctx.slabs = RowSlabs::of_units(all[c].rows(), ctx.communicator->size());
      of_ranks[static_cast<std::size_t>(rank)][c] =
          all[c].bits_of_slab(ctx, ctx.slabs.begin(rank), ctx.slabs.rows(rank));
    }
  });
  for (const auto& of_rank : of_ranks)
    for (std::size_t c = 0; c < all.size(); ++c) CHECK(of_rank[c] == alone[c]);
}

TEST_CASE("ranks send to each other from GPU to GPU, beside other work", "[gpus]") {
  on_all_ranks(Determinism::run_to_run, [](Context& ctx) {
    const int ranks = ctx.communicator->size(), rank = ctx.communicator->rank();
    const auto bytes = [](DeviceView<double> v) {
      return std::as_writable_bytes(std::span(v.data(), static_cast<std::size_t>(v.rows())));
    };
    DeviceMatrix<double> sent(ctx.stream, 5, 1), arrived(ctx.stream, 5 * ranks, 1);
    const auto numbers = [](int turn, int of) {
      return matrix_of<double>(5, 1, [&](index_t i, index_t) { return static_cast<double>(100 * turn + 10 * of + i); });
    };
    for (int turn = 0; turn < 3; ++turn) {
      const auto here = numbers(turn, rank);
      copy(ctx.stream, sent.view(), here.cview());
      std::vector<Outgoing> out;
      std::vector<Incoming> in;
      for (int other = 0; other < ranks; ++other) {
        out.push_back({other, bytes(sent.view())});
        in.push_back({other, bytes(arrived.view().rows(5 * other, 5))});
      }
      ctx.communicator->begin_exchange(ctx.stream, out, in)->wait();
      const auto got = copy_here(ctx.stream, arrived);
      for (int other = 0; other < ranks; ++other)
        expect(same_rows(got, 5 * other, numbers(turn, other)), "something else of rank " + std::to_string(other));
    }
  });
}

TEST_CASE("NCCL gathers parts of any lengths, empty ones too, in host memory", "[gpus]") {
  on_all_ranks(Determinism::run_to_run, [](Context& ctx) { expect(gathers_parts(*ctx.communicator), "other parts"); });
}

TEST_CASE("an ncclComm_t of the program's serves as it is, and is not destroyed", "[gpus]") {
  const cuda::SharedLibrary library(std::array<const char*, 1>{"libnccl.so.2"}, cuda::toolkit_folders());
  int (*init)(ncclComm**, int, NcclId, int) = nullptr;
  int (*destroy)(ncclComm*) = nullptr;
  REQUIRE((library.bind(init, "ncclCommInitRank") && library.bind(destroy, "ncclCommDestroy")));
  const cuda::Stream stream(0);
  ncclComm* theirs = nullptr;
  stream.with_device([&] { REQUIRE(init(&theirs, 1, new_nccl_id(), 0) == 0); });
  for (int twice = 0; twice < 2; ++twice) {
    const auto one = nccl_communicator(theirs, stream);
    CHECK((one->rank() == 0 && one->size() == 1));
    std::array<std::uint64_t, 2> words = {3, 4};
    one->add(std::span<std::uint64_t>(words));
    CHECK((words[0] == 3 && words[1] == 4));
  }
  expect_misuse([&] { (void)nccl_communicator(theirs, cuda::Stream(1)); }, {"device 0", "device 1"});
  expect_misuse([&] { (void)nccl_communicator(nullptr, stream); }, {"ncclComm_t", "null"});
  stream.with_device([&] { CHECK(destroy(theirs) == 0); });
}
