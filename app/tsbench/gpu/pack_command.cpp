// tsbench pack: the kernels that the programs start by default, listed, or compiled into one file.
#include <complex>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/architectures.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"

namespace ts::bench {

namespace {

/// tssolve on small and large sparse matrices, with the default block and basis.
void rehearse_eigen(const Context& ctx) {
  using solvers::Precision;
  const auto rehearse = [&]<class T>(std::type_identity<T>, Precision precision,
                                     std::initializer_list<index_t> wanted) {
    for (const index_t rows : {2'000, 2'000'000})
      for (const index_t nev : wanted)
        for (const index_t row_entries : {3, 7}) {
          solvers::EigenOptions options;
          options.nev = nev, options.precision = precision;
          solvers::prepare_lanczos<T>(ctx, rows, rows * row_entries, solvers::plan_eigen(rows, sizeof(T), options, 0),
                                      precision);
        }
  };
  constexpr std::type_identity<double> real;
  rehearse(std::type_identity<std::complex<double>>{}, Precision::float64, {1, 8, 16, 24});
  rehearse(real, Precision::float64, {1, 8, 16, 24});
  rehearse(real, Precision::float32, {1, 8, 16, 24});
  rehearse(real, Precision::mixed, {10, 20});  // in float64 as wide as the wanted are many
}

/// tskmeans on dense features, for its default number of clusters.
void rehearse_kmeans(const Context& ctx) {
  const solvers::KMeansOptions options;
  for (const DType type : {DType::float64, DType::float32})
    for (const index_t cols : {2, 8, 16, 32, 64})
      solvers::prepare_kmeans(ctx, type, 1'000'000, cols, options.clusters, options);
}

/// Chips with units for float64, comma-separated: for others kernels are compiled when they are needed.
std::string server_architectures() {
  std::string all;
  for (const std::string& arch : split_list(cuda::architecture_names(",", ",")))
    if (const cuda::DeviceInfo device = cuda::typical_device(arch); 4 * device.float64_flops > device.float32_flops)
      all.append(all.empty() ? "" : ",").append(arch);
  return all;
}

/// Every kernel once, by its program.
std::map<std::string, cuda::CompileJob> default_kernels(const std::string& arch, const std::string& programs) {
  Context ctx;
  ctx.stream = cuda::Stream::rehearsing(cuda::typical_device(arch));
  if (programs != "tskmeans") rehearse_eigen(ctx);
  if (programs != "tssolve") rehearse_kmeans(ctx);
  std::map<std::string, cuda::CompileJob> jobs;
  for (const cuda::KernelPlan& plan : ctx.stream.rehearsal()->kernels) {
    cuda::CompileJob job = cuda::job_of(plan, arch);
    std::string key = job.family + "\n" + cuda::program_of(job);
    jobs.emplace(std::move(key), std::move(job));
  }
  return jobs;
}

}  // namespace

int pack_command(app::Arguments arguments) {
  std::string archs = server_architectures(), programs = "all", output;
  int threads = 0;
  app::Options options({"tsbench pack",
                        "The GPU kernels that tssolve and tskmeans start by default, listed or compiled. Needs no GPU.",
                        "[options]",
                        {{"how many there are", "tsbench pack"},
                         {"those for one architecture, in a file that TALLSKINNY_KERNELS can name",
                          "tsbench pack --arch " + cuda::usual_architecture() + " --output kernels.pack"}},
                        "Programs look for share/tallskinny/kernels.pack beside the folder that they are in."});
  options.value("arch", "ARCH,...", archs, cuda::architecture_names())
      .value("programs", "all|tssolve|tskmeans", programs, "whose kernels")
      .value("output", "FILE", output, "the file that they are compiled into")
      .value("threads", "N", threads, "0: as many as there are", app::at_least(0));
  if (!options.parse(arguments)) return app::exit_ok;
  expects(programs == "all" || programs == "tssolve" || programs == "tskmeans",
          "--programs: expected all, tssolve or tskmeans");

  std::vector<cuda::CompileJob> all;
  std::istringstream words(archs);
  for (std::string arch; std::getline(words, arch, ',');) {
    const auto jobs = default_kernels(arch, programs);
    std::map<std::string, int> families;
    for (const auto& [key, job] : jobs) ++families[job.family], all.push_back(job);
    std::cout << arch << ": " << jobs.size() << " kernels\n";
    for (const auto& [family, count] : families) std::cout << format("  %-16s %d\n", family.c_str(), count);
  }
  if (output.empty()) return app::exit_ok;
  const Stopwatch watch;
  cuda::write_kernel_pack(output, all, threads);
  std::cout << format("wrote %s: %zu kernels, %.1f MB, by NVRTC %s in %s\n", output.c_str(), all.size(),
                      1e-6 * static_cast<double>(std::filesystem::file_size(output)), cuda::compiler_version().c_str(),
                      time_text(watch.seconds()).c_str());
  return app::exit_ok;
}

}  // namespace ts::bench
