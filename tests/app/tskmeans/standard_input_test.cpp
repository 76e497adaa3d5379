// Pipes in and out.
#include <iomanip>

#include "tallskinny/io/table_output.hpp"
#include "tallskinny/tests/app/tskmeans/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// What a shell makes of it; $P is tskmeans, whose name has no blanks.
ProcessResult in_shell(const std::string& command) {
  return run_process("/bin/sh", {"-c", "P='" TS_TSKMEANS "'; " + command});
}

}  // namespace

TEST_CASE("points come from standard input in every format, as a file or a pipe", "[tskmeans]") {
  const TemporaryFolder folder;
  const std::string h5 = blobs_file(folder) + ":/features", csv = folder / "p.csv", npy = folder / "p.npy";
  const auto x = io::read_dense_as<double>(io::parse_location(h5));
  io::TableOutput<double> text(csv, 300, 5, {}), binary(npy, 300, 5, {});
  for (auto* out : {&text, &binary}) out->add({x.data(), 1500}), out->commit();
  std::ofstream mtx(folder / "p.mtx");
  mtx << "%%MatrixMarket matrix array real general\n300 5\n" << std::setprecision(17);
  for (index_t j = 0; j < 5; ++j)
    for (index_t i = 0; i < 300; ++i) mtx << x(i, j) << '\n';
  mtx.close();
  const auto inertia = json_of(tskmeans({csv, "-k", "4", "--json"}))["inertia"];
  for (const std::string& file : {csv, npy, folder / "p.mtx"}) {
    CAPTURE(file);
    const auto piped = json_of(in_shell("cat '" + file + "' | $P - -k 4 --json"));
    CHECK(piped["inertia"] == inertia);
    CHECK(piped["input"] == "standard input");
    CHECK(json_of(in_shell("$P - -k 4 --json < '" + file + "'"))["inertia"] == inertia);
  }
  CHECK(json_of(in_shell("gzip -c '" + csv + "' | $P - -k 4 --json"))["inertia"] == inertia);
  // Text to text.
  const ProcessResult labels = in_shell("cat '" + csv + "' | $P - -k 4 --labels-out - -q");
  CHECK(labels.code == 0);
  CHECK(std::count(labels.out.begin(), labels.out.end(), '\n') == 301);
}

TEST_CASE("what standard input cannot be is said of standard input", "[tskmeans]") {
  const auto refused = [](const std::string& command, int code) {
    const ProcessResult r = in_shell(command);
    INFO(r.err);
    CHECK(r.code == code);
    return r.err;
  };
  CHECK(
      mentions(refused("printf 'a,b\\n1,x\\n' | $P -", 4), "standard input line 2: field 2 (b) is 'x', not a number"));
  CHECK(mentions(refused(": | $P -", 4), "standard input is empty"));
  CHECK(mentions(refused("printf '\\001\\002' | $P -", 4), "standard input is in no known format: --format says"));
  CHECK(mentions(refused("printf '1;2\\n3;4\\n' | $P - -k 2 --format npy", 4), "standard input"));
  CHECK(mentions(refused("printf '1,2\\n' | $P - -k 1 --format jpeg", 2), "one of mtx|npy|npz|"));
  CHECK(mentions(refused("printf '1,2\\n' | $P - -k 1 -o -", 2), "cannot be written to standard output"));
  CHECK(mentions(refused("printf '1,2\\n' | TMPDIR=/no/folder $P - -k 1", 1),
                 "standard input cannot be kept: /no/folder, which TMPDIR names for temporary files, is no folder"));
  // A format that a name hides.
  const TemporaryFolder folder;
  const std::string plain = folder.file("points", "1,2\n3,4\n");
  CHECK(refused("$P '" + plain + "' -k 2", 4).find("its name is none of") != std::string::npos);
  CHECK(json_of(tskmeans({plain, "-k", "2", "--format", "csv", "--json"}))["rows"] == 2);
}
