#include <cmath>
#include <iostream>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/ortho_measure.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/app/tsbench/words.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::bench {

namespace {

struct OrthoRequest {
  std::string methods, json_file;
  OrthoSize size{500000, 64, 8, 0, 2};
  bool no_speed = false;
};

bool parse_request(OrthoRequest& request, app::Arguments arguments) {
  app::Options options(
      {"tsbench ortho",
       "Orthonormalises hard and large matrices by every block Gram-Schmidt method.",
       "[options]",
       {{"every method", "tsbench ortho"},
        {"three methods on a wider basis", "tsbench ortho --method default,BCGSI+P-1S,TSQR --columns 256"}},
       "First the loss of orthogonality ||I - Q^T Q|| on twelve matrices of 1000 x 100 in blocks of 5; "
       "'broke' is a "
       "breakdown that the method reports, ! marks what is not accepted: more than ten times what published "
       "algorithms lose there. Then, for a random matrix of float64, sums over all rows (each a "
       "synchronisation where rows are distributed) and passes over the basis for one more block, both "
       "counted as they happen, and the time of a whole factorisation; muscles, which have no passes over a "
       "basis, take one block. roof% is the share of what memory can do at best with the bytes that the "
       "operations of the method must move. The Householder reference runs on one thread and is not timed. "
       "Exit code 1 when a loss was not accepted."});
  options.value("method", "LIST", request.methods, "methods, comma-separated; all unless given")
      .value("rows", "N", request.size.rows, "of the large matrix", app::between<std::int64_t>(1000, 1000000000000))
      .value("columns", "N", request.size.columns, "of the large matrix", app::between<std::int64_t>(1, 100000))
      .value("width", "N", request.size.width, "columns of a block", app::between<std::int64_t>(1, 100000))
      .value("repetitions", "N", request.size.repetitions, "of each timing; the best counts", app::between(1, 1000))
      .value("threads", "N", request.size.threads, "0: as many as there are", app::at_least(0))
      .flag("no-speed", request.no_speed, "leave the large matrix out")
      .value("json", "FILE", request.json_file, "also write all figures here");
  if (!options.parse(arguments)) return false;
  app::check_output_paths({{"--json", request.json_file}});
  expects(request.size.columns <= request.size.rows, "--columns cannot exceed --rows");
  return true;
}

std::vector<ortho::NamedMethod> methods_of(const std::string& list) {
  if (list.empty()) return ortho::every_method();
  std::vector<ortho::NamedMethod> methods;
  for (const std::string& name : split_list(list)) {
    const auto method = ortho::method_named(name);
    if (!method) {
      std::string sentence = "--method: no method is called '";
      sentence.append(name).append("': there are");
      const char* before = " ";
      for (const auto& m : ortho::every_method()) sentence.append(before).append(m.name), before = ", ";
      throw Error(Errc::invalid_argument, sentence);
    }
    methods.push_back(*method);
  }
  return methods;
}

std::string cell_of(const OrthoAccuracy& a) {
  const std::string text = a.outcome.complete ? format("%.0e", a.loss) : "broke";
  return a.passes() ? text : text + "!";
}

/// The first table; whether everything was accepted.
bool report_accuracy(const std::vector<ortho::NamedMethod>& methods, std::vector<app::JsonObject>& json) {
  const auto matrices = generators::gram_schmidt_matrices();
  std::cout << "Loss of orthogonality on 1000 x 100, blocks of 5\n" << format("%-16s", "");
  const auto family = [](const std::string& name) { return name.substr(0, name.find(' ')); };
  for (const auto& m : matrices) std::cout << format(" %8s", family(m.name).c_str());
  std::cout << '\n' << format("%-16s", "method");
  for (const auto& m : matrices) std::cout << format(" %8s", m.name.substr(m.name.find(' ') + 1).c_str());
  std::cout << '\n';
  bool all_accepted = true;
  for (std::size_t k = 0; k < methods.size(); ++k) {
    std::cout << format("%-16s", std::string(methods[k].name).c_str());
    std::vector<double> losses;
    bool accepted = true;
    for (std::size_t number = 0; number < matrices.size(); ++number) {
      const auto a = measure_ortho_accuracy(methods[k], matrices[number], number);
      accepted = accepted && a.passes();
      losses.push_back(a.outcome.complete ? a.loss : NAN);  // null in JSON
      std::cout << format(" %8s", cell_of(a).c_str());
    }
    std::cout << (accepted ? "  pass" : "  FAIL") << std::endl;
    json[k].add("method", methods[k].name).add("losses", losses).add("accepted", accepted);
    all_accepted = all_accepted && accepted;
  }
  return all_accepted;
}

void report_speed(const OrthoRequest& request, const std::vector<ortho::NamedMethod>& methods,
                  std::vector<app::JsonObject>& json) {
  const OrthoSize& size = request.size;
  solvers::expect_memory("the benchmark", {{"matrices", OrthoBench::bytes(size)}}, app::available_memory());
  OrthoBench bench(size);
  std::cout << format("\nOne more block, and %lld x %lld in blocks of %lld (muscles: one block), float64\n",
                      static_cast<long long>(size.rows), static_cast<long long>(size.columns),
                      static_cast<long long>(size.width))
            << format("%-16s %5s %7s %10s %8s %6s\n", "method", "syncs", "passes", "ms", "GB/s", "roof%");
  for (std::size_t k = 0; k < methods.size() && !app::stop_requested(); ++k) {
    const OrthoCounts c = count_ortho(methods[k]);
    json[k].add("reductions_per_block", c.reductions).add("basis_passes_per_block", c.passes);
    std::cout << format("%-16s %5d %7.2f", std::string(methods[k].name).c_str(), c.reductions, c.passes);
    if (!is_reference(methods[k])) {
      const OrthoSpeed s = bench.measure(methods[k]);
      json[k].add("seconds", s.seconds).add("bytes", s.bytes).add("roof_share", s.roof_seconds / s.seconds);
      std::cout << format(" %10.1f %8.2f %6.1f", s.seconds * 1e3, s.bytes / s.seconds * 1e-9,
                          100 * s.roof_seconds / s.seconds);
    }
    std::cout << std::endl;
  }
}

}  // namespace

int ortho_command(app::Arguments arguments) {
  OrthoRequest request;
  if (!parse_request(request, arguments)) return app::exit_ok;
  const auto methods = methods_of(request.methods);
  std::vector<app::JsonObject> json(methods.size());
  const bool accepted = report_accuracy(methods, json);
  if (!request.no_speed) report_speed(request, methods, json);
  ResultsFile file(request.json_file);
  app::JsonObject header;
  header.add("date", utc_now()).add("commit", commit()).add("device", this_cpu().name);
  header.add("rows", request.size.rows).add("columns", request.size.columns).add("width", request.size.width);
  file.set_header(header);
  for (auto& row : json) file.add(std::move(row));
  file.finish();
  if (app::stop_requested()) return app::stop_exit_code();
  return accepted ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
