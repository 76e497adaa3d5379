#include "tallskinny/app/common/ranks.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/comm/mpi_communicator.hpp"
#include "tallskinny/gemm/comm/nccl_communicator.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/write/new_file.hpp"

namespace ts::app {

namespace {

/// Machine of a process, and the processors that it may use.
struct Place {
  std::array<char, 256> machine{};
  cpu_set_t processors{};
  [[nodiscard]] bool same_machine(const Place& other) const {
    return std::strcmp(machine.data(), other.machine.data()) == 0;
  }
};

Place place_here() {
  Place here;
  ::gethostname(here.machine.data(), here.machine.size() - 1);
  CPU_ZERO(&here.processors);
  ::sched_getaffinity(0, sizeof(here.processors), &here.processors);
  return here;
}

/// Kind of vector instructions, on which the last bits of results depend.
std::string kind_of_processor() {
  std::string kind = "no vector instructions that matter";
#if defined(__x86_64__)
  kind = __builtin_cpu_supports("avx512f") != 0 ? "AVX-512" : __builtin_cpu_supports("avx2") != 0 ? "AVX2" : "SSE2";
#endif
  const char* (*core)() = nullptr;
  if (lapack_library().bind(core, "openblas_get_corename"))
    kind += std::string(" and OpenBLAS's kernels for ") + core();
  return kind;
}

Context of(const std::shared_ptr<Communicator>& communicator) {
  Context ctx;
  ctx.communicator = communicator;
  return ctx;
}

}  // namespace

Launch launch_of(const std::function<const char*(const char*)>& variable) {
  constexpr std::array<std::array<const char*, 2>, 3> launchers = {{{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                                                    {"PMI_SIZE", "PMI_RANK"},
                                                                    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}};
  for (const auto& [size, rank] : launchers) {
    Launch launch;
    const char *const ranks = variable(size), *const mine = variable(rank);
    if (ranks != nullptr && mine != nullptr && parse_value(ranks, launch.ranks) && parse_value(mine, launch.rank) &&
        launch.ranks > 1 && launch.rank >= 0 && launch.rank < launch.ranks) {
      const char* const kind = variable("SLURM_MPI_TYPE");
      launch.without_mpi = std::string_view(size).starts_with("SLURM") && variable("PMIX_RANK") == nullptr &&
                           (kind == nullptr || std::string_view(kind) == "none");
      return launch;
    }
  }
  return {};
}

Launch launch_of_environment() {
  return launch_of([](const char* name) { return std::getenv(name); });
}

Ranks::Ranks(const Launch& launch) {
  if (launch.ranks == 1) return;
  const std::string ranks = std::to_string(launch.ranks);
  const std::string how =
      ": start them with the mpirun of the MPI that is installed, or with srun --mpi=pmix (Open MPI) or --mpi=pmi2 "
      "(MPICH)";
  if (launch.without_mpi) throw Error(Errc::no_device, "srun has started " + ranks + " processes without MPI" + how);
  session_ = std::make_shared<const MpiSession>();
  world_ = session_->world();
  if (size() != launch.ranks)
    throw Error(Errc::no_device, ranks + " processes were started, but MPI sees " + std::to_string(size()) + how);
  const Place mine = place_here();
  int on_machine = 0, same_processors = 0, r = 0;
  for (const Place& place : gather_lists<Place>(of(world_), std::span(&mine, 1))) {
    const bool here = place.same_machine(mine);
    on_machine += here ? 1 : 0;
    rank_on_machine_ += here && r++ < rank() ? 1 : 0;
    same_processors += here && CPU_EQUAL(&place.processors, &mine.processors) ? 1 : 0;
  }
  share_processors(same_processors);
  io::share_memory(on_machine);
}

Ranks::Ranks(std::shared_ptr<const RankSession> threads)
    : session_(std::move(threads)), world_(session_->world()), rank_on_machine_(world_->rank()), threads_(true) {}

void Ranks::work_alone() const {
  share_processors(1);
  share_threads(1);
  io::share_memory(1);
}

void Ranks::work_together() const {
  const std::string mine = kind_of_processor();
  const auto kinds = gather_bytes(of(world_), std::as_bytes(std::span(mine)));
  const auto text = [&kinds](std::size_t r) {
    return std::string(reinterpret_cast<const char*>(kinds[r].data()), kinds[r].size());
  };
  for (std::size_t r = 1; r < kinds.size(); ++r)
    if (text(r) != text(0))
      throw Error(Errc::no_device,
                  "rank 0 runs on a processor with " + text(0) + ", rank " + std::to_string(r) + " on one with " +
                      text(r) +
                      ": their results would differ in the last bits; start all ranks on machines of one kind");
  if (threads_ && !threads_may_call_openblas())
    throw Error(Errc::no_device,
                "this OpenBLAS is single-threaded, and every GPU needs a thread: install libopenblas0-pthread, or "
                "start a process for each GPU (mpirun -n P ... --device cuda)");
}

std::shared_ptr<Communicator> Ranks::on_devices(int device, const std::function<void(const std::string&)>& note) const {
  if (size() == 1) return world_;
  const std::string mine = std::string(place_here().machine.data()) + " " + std::to_string(device);
  auto all = gather_bytes(of(world_), std::as_bytes(std::span(mine)));
  std::sort(all.begin(), all.end());
  const bool shared = std::adjacent_find(all.begin(), all.end()) != all.end();
  const std::string why = shared ? "ranks share a GPU" : why_no_nccl();
  if (any_rank(of(world_), !why.empty())) {
    note("sums of GPUs go through host memory: " + (why.empty() ? "another rank found no NCCL" : why));
    return world_;
  }
  return nccl_beside(world_, device);
}

int Ranks::agree(const Ending& mine, const std::function<void(const std::string&)>& report) const {
  const bool failed = !mine.sentence.empty();
  if (size() == 1) {
    if (failed) report(mine.sentence);
    return mine.code;
  }
  using namespace std::chrono_literals;
  const std::string by = rank() == 0 ? "" : "rank " + std::to_string(rank()) + ": ";
  // Later for higher ranks, so that only one reports the error when several fail.
  const auto patience =
      failed && !mine.follows ? 2000ms + std::min(rank(), 20) * 50ms : std::chrono::milliseconds(24h * 36500);
  if (!session_->all_are_here(patience)) {
    report(by + mine.sentence);
    io::remove_unfinished_files();
    session_->abort(mine.code);
    std::_Exit(mine.code);
  }
  struct Verdict {
    int code = 0;
    bool failed = false, follows = false;
  };
  const Verdict verdict{mine.code, failed, mine.follows};
  const auto all = gather_lists<Verdict>(of(world_), std::span(&verdict, 1));
  const auto worst = [&]() -> std::size_t {
    for (const bool follows : {false, true})
      for (std::size_t r = 0; r < all.size(); ++r)
        if (all[r].failed && all[r].follows == follows) return r;
    // After a signal that only some ranks received, one of these reports its number.
    const auto greatest = [](const Verdict& a, const Verdict& b) { return a.code < b.code; };
    return static_cast<std::size_t>(std::max_element(all.begin(), all.end(), greatest) - all.begin());
  }();
  if (failed && worst == static_cast<std::size_t>(rank())) report(by + mine.sentence);
  return all[worst].code;
}

}  // namespace ts::app
