#include "tallskinny/gemm/comm/thread_ranks.hpp"

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/comm/mpi_communicator.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/engine.hpp"
#include "tallskinny/tests/support/gather.hpp"
#include "tallskinny/tests/support/ranks.hpp"

namespace {

std::mutex catch_is_for_one_thread;

Context at_level(Determinism level, int threads = 1) {
  Context ctx = fast_context(Simd::best, threads);
  ctx.determinism = level;
  return ctx;
}

/// Numbers that no two rows share.
template <class T>
Matrix<T> numbers(index_t n, index_t p, std::uint64_t stream) {
  Matrix<result_t<T>> wide(n, p);
  fill_random<result_t<T>>(Context{}, Philox{7, stream}, wide.view());
  return matrix_of<T>(n, p, [&](index_t i, index_t j) { return narrowed<T>(widened(wide(i, j))); });
}

template <class Body>
void refused_on_threads(int ranks, const Body& body, const char* sentence) {
  expect_misuse([&] { run_on_threads(ranks, body); }, {sentence});
}

}  // namespace

TEST_CASE("ranks that are threads gather what each has, and an error of one ends all") {
  for (const int ranks : {1, 2, 5}) {
    std::vector<std::vector<std::byte>> got(static_cast<std::size_t>(ranks));
    run_on_threads(ranks, [&](const Shared& c) {
      CHECK(c->size() == ranks);
      std::vector<std::size_t> offsets{0};  // rank r contributes r bytes
      for (int r = 0; r < ranks; ++r) offsets.push_back(offsets.back() + static_cast<std::size_t>(r));
      std::vector<std::byte> data(offsets.back());
      const auto rank = static_cast<std::size_t>(c->rank());
      for (int turn = 0; turn < 3; ++turn) {
        for (std::size_t i = offsets[rank]; i < offsets[rank + 1]; ++i) data[i] = static_cast<std::byte>(rank + i);
        (void)c->all_gather(data.data(), offsets);
      }
      got[rank] = data;
    });
    for (const auto& data : got) CHECK(data == got.front());
    for (std::size_t r = 0, i = 0; r < got.size(); ++r)
      for (std::size_t e = 0; e < r; ++e, ++i) CHECK(got.front()[i] == static_cast<std::byte>(r + i));
  }
  const std::vector<std::size_t> one_each{0, 1, 2, 3};
  const auto gather = [&](const Shared& c, std::span<const std::size_t> offsets) {
    std::vector<std::byte> data(offsets.back());
    (void)c->all_gather(data.data(), offsets);
  };
  refused_on_threads(
      3,
      [&](const Shared& c) {
        gather(c, one_each);
        if (c->rank() == 1) throw Error(Errc::invalid_argument, "rank 1 has had enough");
        gather(c, one_each);
      },
      "rank 1 has had enough");
  refused_on_threads(
      2,
      [&](const Shared& c) {
        gather(c, std::vector<std::size_t>{0, 1, c->rank() == 0 ? std::size_t{2} : std::size_t{3}});
      },
      "same calls in the same order");
}

TEST_CASE("ranks that are threads send to each other, add integers and agree") {
  for (const int ranks : {1, 2, 5})
    run_on_threads(ranks, [&](const Shared& c) {
      const bool right = exchanges_and_adds(*c);
      Context ctx;
      ctx.communicator = c;
      std::vector<double> sum = {0.1, c->rank() == 0 ? 1.0 : -1e9};
      in_turn(ctx, sum, [&] { sum[0] /= 3, sum[1] += c->rank(); });
      double expected = 0.1;
      for (int r = 0; r < ranks; ++r) expected /= 3;
      const std::vector<int> mine(static_cast<std::size_t>(c->rank()), c->rank());
      std::vector<int> all;
      for (int r = 0; r < ranks; ++r) all.insert(all.end(), static_cast<std::size_t>(r), r);
      const bool agreed = any_rank(ctx, c->rank() == ranks - 1) && !any_rank(ctx, false) &&
                          max_of_ranks(ctx, c->rank()) == ranks - 1 && min_of_ranks(ctx, c->rank()) == 0;
      const std::vector<int> lists = gather_lists<int>(ctx, mine);
      ctx.slabs = RowSlabs::of_pieces(3 * ranks, ranks, 3);  // owners bring (row, -row)
      const std::vector<index_t> rows = {3 * ranks - 1, 0, 2, 0};
      std::vector<index_t> brought, pairs;
      for (const index_t row : rows) {
        pairs.insert(pairs.end(), {row, -row});
        if (ctx.slabs.slab_of(row) == c->rank()) brought.insert(brought.end(), {row, -row});
      }
      const std::vector<index_t> gathered = gather_from_owners(ctx, rows, brought, 2);
      const std::lock_guard lock(catch_is_for_one_thread);
      CHECK(right);
      CHECK(agreed);
      CHECK(sum == std::vector<double>{expected, 1.0 + ranks * (ranks - 1) / 2.0});
      CHECK(lists == all);
      CHECK(gathered == pairs);
    });
  refused_on_threads(
      2,
      [](const Shared& c) {
        if (c->rank() == 1) throw Error(Errc::invalid_argument, "rank 1 sends nothing");
        std::byte got{};
        const Incoming piece{1, {&got, 1}};
        c->begin_exchange({}, std::span(&piece, 1))->wait();
      },
      "rank 1 sends nothing");
}

TEST_CASE("ranks that are threads meet at their end, release those that wait for them, and begin anew") {
  using namespace std::chrono_literals;
  std::vector<std::string> seen(3);
  run_sessions_on_threads(3, [&](const std::shared_ptr<RankSession>& session) {
    const Shared c = session->world();
    const auto rank = static_cast<std::size_t>(c->rank());
    const auto gathered = [&] {
      std::string all(3, '.');
      all[rank] = static_cast<char>('a' + rank);
      const std::vector<std::size_t> one_each{0, 1, 2, 3};
      (void)c->all_gather(reinterpret_cast<std::byte*>(all.data()), one_each);
      return all;
    };
    const auto received = [&] {
      std::byte piece{};
      const Incoming in{0, {&piece, 1}};
      c->begin_exchange({}, {&in, 1})->wait();
      return std::string("received ");
    };
    const auto ends = [](const auto& call) {
      try {
        return call();
      } catch (const RankEnded&) {
        return std::string("ended ");
      }
    };
    if (rank == 0) {
      const std::byte piece{};
      const Outgoing out{1, {&piece, 1}};
      c->begin_exchange({&out, 1}, {})->wait();
    } else {
      if (rank == 1) seen[1] = received();  // what was sent arrives, nothing else will
      if (rank == 1) seen[1] += ends(received);
      seen[rank] += ends(gathered);
    }
    seen[rank] += session->all_are_here(1min) ? "here " : "";
    seen[rank] += gathered();
  });
  CHECK(seen == std::vector<std::string>{"here abc", "received ended ended here abc", "ended here abc"});

  bool here = false, released = false;
  expect_misuse(
      [&] {
        run_sessions_on_threads(2, [&](const std::shared_ptr<RankSession>& session) {
          const Shared c = session->world();
          if (c->rank() == 1) throw Error(Errc::invalid_argument, "rank 1 does not come to its end");
          here = session->all_are_here(1min);
          const std::vector<std::size_t> nothing(3);
          try {
            (void)c->all_gather(nullptr, nothing);
          } catch (const RankEnded&) {
            released = true;
          }
        });
      },
      {"rank 1 does not come"});
  CHECK(here);
  CHECK(released);

  std::atomic<bool> tired = false;
  std::vector<char> met(2);
  run_sessions_on_threads(2, [&](const std::shared_ptr<RankSession>& session) {
    const bool first = session->world()->rank() == 0;
    if (first) tired.wait(false);
    met[first ? 0 : 1] = session->all_are_here(first ? 1min : 1ms);
    tired = true, tired.notify_all();
  });
  CHECK(met == std::vector<char>{1, 0});
}

TEST_CASE("a communicator of MPI is refused where MPI does not run") {
  const std::string said = message_of([] { (void)mpi_communicator(0); });
  CAPTURE(said);
  CHECK((said == "mpi_communicator: MPI_Init has not been called" || said.find("MPI was not found") == 0));
}

TEST_CASE("a context of several ranks must say which rows each has") {
  run_on_threads(2, [](const Shared& c) {
    Context ctx;
    ctx.communicator = c;
    CHECK_THROWS_AS(first_row(ctx), Error);
    ctx.slabs = RowSlabs({0, 30, 100});
    CHECK(first_row(ctx) == 30 * c->rank());
    CHECK(all_rows(ctx, 30) == 100);
    CHECK(all_rows(alone(ctx), 30) == 30);
    CHECK(first_row(alone(ctx)) == 0);
  });
}

TEMPLATE_TEST_CASE("rows that ranks compute alone have the bits of the whole", "", TS_ALL_TYPES) {
  using T = TestType;
  using R = result_t<T>;
  const index_t n = 5003;
  for (const index_t p : {1, 8, 33, 96})
    for (const Determinism level : {Determinism::run_to_run, Determinism::gpu_to_gpu}) {
      const Context ctx = at_level(level);
      const auto x = numbers<T>(n, p, 1);
      const auto wide = numbers<R>(n, p, 2);
      auto s = numbers<R>(p, p, 3);
      for (index_t j = 0; j < p; ++j) s(j, j) += R(static_cast<real_t<R>>(4 * p));
      struct Results {
        Matrix<R> product, in_place, solved, random;
      };
      const auto compute = [&](const Context& here, index_t first, index_t rows) {
        const auto part = x.cview().rows(first, rows);
        const auto own = [&] { return Matrix<R>::copy_of(wide.cview().rows(first, rows)); };
        Results r{own(), own(), own(), Matrix<R>(rows, p)};
        tsmm(here, Op::none, R{2}, part, s.cview(), R{1}, r.product.view());
        tsmm_in_place(here, Op::none, R{1}, r.in_place.view(), s.cview());
        trsm(here, r.solved.view(), s.cview());
        fill_random<R>(here, Philox{1, 2}, r.random.view(), first_row(here));
        return r;
      };
      const Results whole = compute(ctx, 0, n);
      for (const int ranks : {2, 3, 8}) {
        CAPTURE(p, ranks, static_cast<int>(level));
        run_on_threads(ranks, [&](const Shared& c) {
          const Context here = of_rank(ctx, c, n);
          const index_t first = first_row(here);
          const Results mine = compute(here, first, here.slabs.rows(c->rank()));
          const bool same[] = {
              same_rows(whole.product, first, mine.product), same_rows(whole.in_place, first, mine.in_place),
              same_rows(whole.solved, first, mine.solved), same_rows(whole.random, first, mine.random)};
          for (int k = 0; k < 4; ++k)
            expect(same[k],
                   std::string("other bits in ") + std::array{"tsmm", "tsmm_in_place", "trsm", "fill_random"}.at(k));
        });
      }
    }
}

TEST_CASE("sums of ranks that are threads have the bits of one at level gpu_to_gpu") {
  const index_t n = 20011, p = 12;
  const auto x = numbers<double>(n, p, 1);
  const Context ctx = at_level(Determinism::gpu_to_gpu, 2);
  Matrix<double> whole(p, p);
  gram(ctx, Op::transpose, 1.0, x.cview(), 0.0, whole.view());
  for (const int ranks : {1, 2, 3, 4, 8})
    run_on_threads(ranks, [&](const Shared& c) {
      const Context here = of_rank(ctx, c, n);
      Matrix<double> sum(p, p);
      gram(here, Op::transpose, 1.0, x.cview().rows(here.slabs.begin(c->rank()), here.slabs.rows(c->rank())), 0.0,
           sum.view());
      expect(same_rows(whole, 0, sum), "another sum");
    });
}
