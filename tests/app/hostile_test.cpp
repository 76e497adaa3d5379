// The programs on files made to break them: an answer or an exit status, soon, in little memory.
#include <sys/stat.h>

#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int done = 0, bad_input = 4;

/// The files in a folder of their own, in which this process runs, with the FIFO that two of them name.
class Hostile {
 public:
  Hostile() : before_(fs::current_path()) {
    for (const auto& entry : fs::directory_iterator(TS_HOSTILE))
      if (entry.path().extension() == ".h5") {
        files.push_back(entry.path().filename());
        fs::copy_file(entry.path(), folder_.path() / files.back());
      }
    std::sort(files.begin(), files.end());
    fs::create_directories(folder_.path() / "ext/hidden");
    REQUIRE(::mkfifo((folder_ / "ext/hidden/fifo").c_str(), 0600) == 0);
    fs::current_path(folder_.path());
  }
  ~Hostile() { fs::current_path(before_); }
  Hostile(const Hostile&) = delete;
  Hostile& operator=(const Hostile&) = delete;

  std::vector<std::string> files;

 private:
  TemporaryFolder folder_;
  fs::path before_;
};

ProcessResult run(const std::string& program, const std::vector<std::string>& arguments) {
  std::string line = program;
  for (const std::string& argument : arguments) line += ' ' + argument;
  const ProcessResult result = run_process(program, arguments);
  INFO(line << ": " << result.err);
  CHECK((result.code == done || result.code == bad_input));
  if (result.code == bad_input) CHECK_FALSE((result.err.empty() && !mentions(result.out, "problem")));
  for (const std::string* text : {&result.out, &result.err}) {
    const bool orders = std::any_of(text->begin(), text->end(), [](unsigned char c) { return c < 32 && c != '\n'; });
    CHECK_FALSE(orders);
  }
  CHECK_FALSE(mentions(result.err, "did not finish"));
  CHECK(result.most_bytes < (std::uint64_t{200} << 20));
  return result;
}

/// A run that is refused with these sentences.
void refused(const std::vector<std::string>& arguments, const std::vector<std::string>& said) {
  const ProcessResult result = run(TS_TSDATA, arguments);
  CHECK(result.code == bad_input);
  for (const std::string& part : said) CHECK(mentions(result.err, part));
}

}  // namespace

TEST_CASE("no program ends by a signal, waits or takes much memory, whatever a file holds") {
  const Hostile hostile;
  REQUIRE(hostile.files.size() == 21);
  for (const std::string& file : hostile.files) {
    run(TS_TSDATA, {"info", file});
    run(TS_TSDATA, {"info", file, "--missing-as-fill", "--json"});
    run(TS_TSDATA, {"convert", file, "out.h5"});
    run(TS_TSSOLVE, {file, "--quiet"});
    run(TS_TSKMEANS, {file, "-k", "1", "--quiet"});
    for (const char* object : {"/X", "/Y", "/columns", "/gzip", "/lzf_shuffled", "/szip"})
      run(TS_TSDATA, {"convert", file + ":" + object, "out.h5"});
  }
}

TEST_CASE("a crash of HDF5 is a sentence that says what to do") {
  const Hostile hostile;
  refused({"convert", "signal11_1_28221.h5:/gzip", "out.h5"}, {"signal11_1_28221.h5", "damaged"});
}

TEST_CASE("other files are named, and read for trusted files only, if they are files") {
  const Hostile hostile;
  CHECK(mentions(run(TS_TSDATA, {"convert", "ext_storage.h5:/X", "out.h5"}).err,
                 "ext_storage.h5:/X keeps its elements in another file, /etc/passwd: --trust-input"));
  CHECK(mentions(run(TS_TSDATA, {"convert", "ext_fifo.h5:/X", "out.h5"}).err,
                 "ext_fifo.h5:/X leads to another file, ./ext/hidden/fifo: --trust-input"));
  for (const char* file : {"ext_fifo.h5:/X", "ext_storage_fifo.h5:/X"})
    for (const char* how : {"--accept-unsorted", "--missing-as-fill"})
      refused({"convert", file, "out.h5", "--trust-input", how}, {"which is not a regular file"});
}

TEST_CASE("names of objects are printed without what a terminal would obey") {
  const Hostile hostile;
  const auto result = run(TS_TSDATA, {"info", "esc_one.h5"});
  CHECK(result.code == done);
  CHECK(mentions(result.out, "\\x1b"));
  CHECK(mentions(result.out, "\\x07"));
}

TEST_CASE("why an object cannot be read goes to standard error") {
  const Hostile hostile;
  const auto result = run(TS_TSDATA, {"info", "ext_storage.h5"});
  CHECK(result.code == bad_input);
  CHECK(mentions(result.out, "cannot be read"));
  CHECK_FALSE(mentions(result.out, "/etc/passwd"));
  CHECK(mentions(result.err, "tsdata: ext_storage.h5:/X keeps its elements"));
}

TEST_CASE("the memory option bounds what reading takes") {
  const TemporaryFolder folder;
  std::string table;
  for (int i = 0; i < 100000; ++i) table += "1,2,3\n";
  const std::string file = folder.file("a.csv", table), out = folder / "a.h5";
  for (const auto& [program, arguments] :
       {std::pair<std::string, std::vector<std::string>>{TS_TSDATA, {"convert", file, out}},
        {TS_TSKMEANS, {file, "-k", "2"}},
        {TS_TSSOLVE, {file, "--svd", "--device", "cpu"}}}) {
    const auto result = run_process(program, joined(arguments, {"--memory", "2M"}));
    INFO(program << ": " << result.err);
    CHECK(result.code == 1);
    CHECK(mentions(result.err, "of memory"));
  }
}

TEST_CASE("many objects in a file are described in little memory") {
  const TemporaryFolder folder;
  const std::string file = folder / "many.h5";
  io::OutputFile out(file);
  const Matrix<double> a = Matrix<double>::zeros(2, 3);
  constexpr int count = 10000;
  for (int i = 0; i < count; ++i) out.write("a" + std::to_string(i), a);
  out.commit();
  const ProcessResult result = run_process(TS_TSDATA, {"info", "--quick", file});
  CHECK(result.code == done);
  CHECK(std::count(result.out.begin(), result.out.end(), '\n') >= 3 * count);
  CHECK(result.most_bytes < (std::uint64_t{64} << 20));
}

TEST_CASE("without address space for OpenBLAS a run is refused: OpenBLAS would wait for ever") {
  const TemporaryFolder folder;
  const std::string matrix = folder / "lap.h5";
  REQUIRE(run_process(TS_TSDATA, {"gen", "lap3d", "--n", "18", "-o", matrix}).code == 0);
  const auto within = [&](const std::string& kilobytes) {
    return run_process("/bin/sh", {"-c", "ulimit -v " + kilobytes + "; exec " TS_TSSOLVE " " + matrix +
                                             " -k 12 --which SA --quiet --threads 2"});
  };
  const ProcessResult little = within("150000"), enough = within("8000000");
  CHECK(enough.code == done);
  if (little.code != done) {  // without OpenBLAS there is enough
    CHECK(little.code == 1);
    CHECK(mentions(little.err, "address space"));
  }
}
