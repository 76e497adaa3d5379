// Ranks of tssolve that must be processes: MUMPS on all of them, signals, jobs of a batch system.
#include "tallskinny/tests/app/tssolve/on_ranks.hpp"

TEST_CASE("MUMPS factorises on all ranks where bits need not repeat: real, complex and next to an eigenvalue") {
  const TemporaryFolder folder;
  const std::string lap = cube(folder);
  const std::string torus = write_sparse(folder / "torus.h5", generators::hofstadter(85, 85, 1));
  std::vector<double> numbers(7000);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  const std::string at_one = write_sparse(folder / "diagonal.h5", diagonal(numbers));
  for (const auto& [file, sigma, ranks] :
       {std::tuple{lap, "0.5", 2}, std::tuple{torus, "0.2", 3}, std::tuple{at_one, "500", 2}}) {
    const Words near = {file, "-k", "6", "--sigma", sigma, "--json", "--quiet", "--determinism", "not_guaranteed"};
    const auto one = solve_on(1, {file, "-k", "6", "--sigma", sigma});
    const ProcessResult r = run_on_ranks(ranks, TS_TSSOLVE, near);
    INFO(r.err);
    REQUIRE(r.code == 0);
    const auto more = nlohmann::json::parse(r.out);
    CHECK(more["verified"] == true);
    const std::string work = more["ranks_work"];
    CHECK(work.starts_with("together, factors by "));
    CHECK((work == "together, factors by MUMPS on all ranks") == TS_MUMPS_ON_RANKS);
    std::vector<double> found = more["eigenvalues"], expected = one["eigenvalues"];
    std::sort(found.begin(), found.end()), std::sort(expected.begin(), expected.end());
    CHECK_THAT(found, Catch::Matchers::Approx(expected).epsilon(allowed::tight_run).margin(0));
  }
}

namespace {

/// A shell's loop until `test CONDITION` holds, or for a minute: a run may have ended before.
std::string wait_until(const std::string& condition) {
  return "n=0; while ! test " + condition + " && test $((n += 1)) -lt 3000; do sleep 0.02; done; ";
}

}  // namespace

TEST_CASE("a rank that is killed is not waited for, and its checkpoint is whole") {
  const TemporaryFolder folder;
  const std::string file = cube(folder, 32), state = folder / "state.h5";
  // Children of mpirun are the ranks; one of them is killed once there is a checkpoint.
  const auto command = [&](const std::string& then) {
    std::string words = "touch " + (folder / "begin") + "; ";
    for (const std::string& variable : mpi_environment) words += variable + " ";
    return words + TS_MPIEXEC + " -n 2 " + TS_TSSOLVE + " " + file +
           " -k 10 --which SA --method lanczos --tol 1e-15 --max-iter 100000000 --every 0.01 --checkpoint " + state +
           " & pid=$!; " + wait_until(state + " -nt " + (folder / "begin")) + then + "; wait $pid";
  };
  const auto killed =
      run_process("/bin/sh", {"-c", command("kill -KILL $(cut -d ' ' -f 2 /proc/$pid/task/$pid/children)")});
  CHECK(killed.code == 128 + SIGKILL);
  const auto ended = run_process("/bin/sh", {"-c", command("kill -USR1 $pid")});
  CHECK(ended.code == 128 + SIGUSR1);  // which mpirun sends on to all ranks
  CHECK(mentions(ended.out, "stopped on request"));
  const auto rest = solve_on(3, {file, "-k", "10", "--which", "SA", "--method", "lanczos", "--tol", "1e-15",
                                 "--max-iter", "100000000", "--checkpoint", state});
  CHECK(rest["ranks"] == 3);
}

TEST_CASE("the job script goes on from the checkpoint of the job before, with the bits of a run that was not stopped") {
  const TemporaryFolder folder;
  const std::string file = cube(folder, 32), state = folder / "state.h5", queued = folder / "queued";
  // In place of Slurm: two ranks, which get SIGUSR1 once there is a checkpoint, unless the job has queued again.
  const auto stand_in = [&](const std::string& name, const std::string& body) {
    write_file(folder / name, "#!/bin/sh\n" + body);
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  };
  stand_in("srun", "shift; " TS_MPIEXEC " -n 2 \"$@\" & pid=$!\nif ! test -e " + queued + "; then " +
                       wait_until("-e " + state) + "kill -USR1 $pid; fi\nwait $pid\n");
  stand_in("scontrol", "echo \"$@\" > " + queued + "\n");
  const Words options = {file, "-k", "10", "--which", "SA", "--method", "lanczos", "--tol", "1e-15"};
  const auto job = [&](const std::string& restarts) {
    const Words slurm = {"PATH=" + (folder / "") + ":/usr/bin:/bin", "SLURM_JOB_ID=7",
                         "SLURM_RESTART_COUNT=" + restarts};
    const Words run = {"bash", TS_JOB, TS_TSSOLVE, "-o", folder / "2.h5", "--checkpoint", state, "--every", "0.01"};
    return run_process("/usr/bin/env", joined(slurm, joined(run, options)), mpi_environment).code;
  };
  CHECK(job("50") == 128 + SIGUSR1);
  CHECK_FALSE(std::filesystem::exists(queued));
  std::filesystem::remove(state);
  CHECK(job("0") == 128 + SIGUSR1);
  CHECK(content_of(queued) == "requeue 7\n");
  CHECK(std::filesystem::exists(state));
  CHECK(job("1") == 0);
  solve_on(1, joined(options, {"-o", folder / "1.h5"}));
  CHECK(same_bits(folder / "1.h5", folder / "2.h5"));
}

TEST_CASE("srun without its MPI is told in one sentence") {
  const auto rank = [](const char* number) {
    return run_process(TS_TSSOLVE, {"lap.h5"}, {"SLURM_STEP_NUM_TASKS=2", std::string("SLURM_PROCID=") + number});
  };
  const auto first = rank("0"), second = rank("1");
  CHECK(first.code == 5);
  CHECK(second.code == 5);
  CHECK(first.err.starts_with("tssolve: srun has started 2 processes without MPI: start them with "));
  CHECK(second.err.empty());
}
