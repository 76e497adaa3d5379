#include "tallskinny/app/common/ranks.hpp"

#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/ranks.hpp"

using namespace ts::app;

namespace {

Launch launched(const std::map<std::string, std::string>& variables) {
  return launch_of([&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

}  // namespace

TEST_CASE("what launchers say of ranks") {
  const auto launch = [](const std::map<std::string, std::string>& variables) {
    return std::pair(launched(variables).ranks, launched(variables).rank);
  };
  CHECK(launch({}) == std::pair(1, 0));
  CHECK(launch({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}}) == std::pair(4, 3));
  CHECK(launch({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}) == std::pair(2, 1));
  CHECK(launch({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "0"}}) == std::pair(8, 0));
  CHECK(launch({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}) == std::pair(1, 0));  // a job's script, not its steps
  CHECK(launch({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}) == std::pair(1, 0));
  CHECK(launch({{"PMI_SIZE", "two"}, {"PMI_RANK", "1"}}) == std::pair(1, 0));
  CHECK(launch({{"PMI_SIZE", "2"}, {"PMI_RANK", "2"}}) == std::pair(1, 0));
}

TEST_CASE("srun says which MPI its processes speak, or they refuse") {
  const auto without = [](std::map<std::string, std::string> variables) {
    variables.insert({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "0"}});
    return launched(variables).without_mpi;
  };
  CHECK(without({}));
  CHECK(without({{"SLURM_MPI_TYPE", "none"}}));
  CHECK_FALSE(without({{"SLURM_MPI_TYPE", "cray_shasta"}}));
  CHECK_FALSE(without({{"PMIX_RANK", "0"}, {"SLURM_MPI_TYPE", "pmix"}}));
  CHECK_FALSE(without({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}, {"SLURM_MPI_TYPE", "pmi2"}}));
  CHECK_FALSE(without({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}}));  // mpirun inside of a job
  CHECK_THROWS_WITH(
      Ranks(Launch{2, 0, true}),
      "srun has started 2 processes without MPI: start them with the mpirun of the MPI that is installed, "
      "or with srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH)");
}

TEST_CASE("a process that nothing started with others is rank 0 of one") {
  const Ranks alone;
  CHECK(alone.size() == 1);
  CHECK(alone.first());
  CHECK(alone.works({false, "because"}));
  std::string told;
  const auto report = [&](const std::string& sentence) { told += sentence; };
  CHECK(alone.agree({3}, report) == 3);
  CHECK(told.empty());
  CHECK(alone.agree({4, "a sentence"}, report) == 4);
  CHECK(told == "a sentence");
  CHECK(RanksPlan{true}.text() == "together");
  CHECK(RanksPlan{false, "because"}.text() == "rank 0 alone: because");
}

TEST_CASE("of several errors the first that follows no other is told, with its rank, and all end alike") {
  const auto settled = [](const std::vector<Ending>& endings) {
    std::mutex one_at_a_time;
    std::string told;
    std::vector<int> codes(endings.size());
    run_sessions_on_threads(static_cast<int>(endings.size()), [&](const std::shared_ptr<RankSession>& session) {
      const Ranks ranks(session);
      const auto rank = static_cast<std::size_t>(ranks.rank());
      codes[rank] = ranks.agree(endings[rank], [&](const std::string& sentence) {
        const std::lock_guard lock(one_at_a_time);
        told += sentence + ".";
      });
    });
    CHECK(codes == std::vector<int>(endings.size(), codes.front()));
    return std::pair(codes.front(), told);
  };
  CHECK(settled({{0}, {0}, {0}}) == std::pair(0, std::string()));
  CHECK(settled({{0}, {143}, {3}}) == std::pair(143, std::string()));
  CHECK(settled({{4, "all say so"}, {4, "all say so"}}) == std::pair(4, std::string("all say so.")));
  CHECK(settled({{0}, {4, "no"}, {2, "never"}}) == std::pair(4, std::string("rank 1: no.")));
  CHECK(settled({{1, "another ended", true}, {0}, {4, "no"}}) == std::pair(4, std::string("rank 2: no.")));
  CHECK(settled({{0}, {1, "another ended", true}}) == std::pair(1, std::string("rank 1: another ended.")));
}

TEST_CASE("rank 0 writes the rows of all, also where it has none and where it fails") {
  const TemporaryFolder folder;
  for (const std::vector<index_t>& begins : {std::vector<index_t>{0, 7}, {0, 3, 3, 1000}, {0, 0, 40, 41, 41}}) {
    const RowSlabs slabs(begins);
    const std::string file = folder / ("rows" + std::to_string(slabs.slabs()) + ".h5");
    const auto value = [](index_t i, index_t j) { return static_cast<double>(10 * i + j); };
    run_on_threads(slabs.slabs(), [&](const Shared& c) {
      const Context ctx = of_rank(Context(), c, slabs);
      const index_t first = slabs.begin(c->rank()), rows = slabs.rows(c->rank());
      const auto wide = matrix_of<double>(  // of which the block has columns 1 to 3
          rows, 5, [&](index_t i, index_t j) { return value(first + i, j - 1); });
      std::vector<std::int64_t> list(static_cast<std::size_t>(rows));
      std::iota(list.begin(), list.end(), first);
      const HostView<const double> block = wide.cview().cols(1, 3);
      const HostView<const std::int64_t> numbers(list.data(), rows, 1);
      with_rows_of_ranks(ctx, {own_rows<double>(block), own_rows<std::int64_t>(numbers)}, [&](const RowsOfRanks& all) {
        io::OutputFile out(file);
        write_rows<std::int64_t>(out, "list", all, 1, slabs.rows(), -1);
        write_rows<double>(out, "block", all, 0, slabs.rows(), 3);
        out.commit();
      });
    });
    CHECK(test::same(io::read_dense_as<double>({file, "/block"}, {}), matrix_of<double>(slabs.rows(), 3, value)));
    std::vector<double> numbers(static_cast<std::size_t>(slabs.rows()));
    std::iota(numbers.begin(), numbers.end(), 0.0);
    CHECK(io::read_vector({file, "/list"}) == numbers);
  }
  const auto said = on_slabs(Context(), RowSlabs({0, 2, 4, 6}), [](const Context& ctx) {
    const Matrix<double> rows(2, 1);
    with_rows_of_ranks(ctx, {own_rows<double>(rows.cview())},
                       [](const RowsOfRanks&) { throw Error(Errc::io_failure, "the disk is full"); });
  });
  CHECK(mentions(said, "the disk is full"));
}

TEST_CASE("rows are written in pieces, and where a rank fails in the middle the old file stays whole") {
  const TemporaryFolder folder;
  const std::string file = folder / "rows.h5";
  const auto write = [&](index_t failing) {
    const RowSlabs slabs({0, 40000, 90000});
    return on_slabs(Context(), slabs, [&](const Context& ctx) {
      const index_t first = first_row(ctx);
      std::size_t largest = 0;
      const OwnRows rows{400, [&](index_t begin, index_t count, std::byte* to) {
                           largest = std::max(largest, static_cast<std::size_t>(count) * 400);
                           for (index_t i = begin; i < begin + count; ++i) {
                             if (first + i == failing) throw Error(Errc::bad_input, "a row is lost");
                             const std::vector<double> row(50, static_cast<double>(first + i));
                             std::memcpy(to + (i - begin) * 400, row.data(), 400);
                           }
                         }};
      with_rows_of_ranks(ctx, {rows}, [&](const RowsOfRanks& all) {
        io::OutputFile out(file);
        write_rows<double>(out, "block", all, 0, slabs.rows(), 50);
        out.commit();
      });
      test::expect(largest <= std::size_t{8} << 20, "a piece of a block is large");
    });
  };
  const auto last = [&] { return io::read_dense_as<double>({file, "/block"}, {})(89999, 49); };
  CHECK(write(-1).empty());
  CHECK(last() == 89999);
  for (const index_t failing : {39999, 40000, 89999}) {  // of rank 0, of rank 1 in its first piece, in its last
    CAPTURE(failing);
    CHECK(mentions(write(failing), "a row is lost"));
    CHECK(last() == 89999);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);  // nothing beside it
  }
}
