#include <sys/stat.h>

#include "tallskinny/app/common/options.hpp"

#include <iostream>

#include "tallskinny/tests/support/capture.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::app;

namespace {

enum class Which { largest, smallest };

struct Settings {
  std::string matrix;
  index_t nev = 6;
  double tol = 1e-8;
  std::optional<double> sigma;
  int threads = 0;
  std::uint64_t seed = 0;
  Which which = Which::largest;
  bool quiet = false;
  std::vector<std::string> notes;
};

Options declare(Settings& s) {
  Options options({"tsprobe", "Probes the options.", "MATRIX [options]", {}, {}});
  options.positional("MATRIX", s.matrix, "a file with a matrix")
      .value("nev,k", "COUNT", s.nev, "how many eigenpairs", at_least<index_t>(1))
      .value("tol", "REAL", s.tol, "tolerance", at_least(0.0))
      .value("sigma", "REAL", s.sigma, "shift")
      .value("threads", "COUNT", s.threads, "threads", between(0, 64))
      .known_as({"j", "n-jobs", "ncv"})
      .value("seed", "NUMBER", s.seed, "seed")
      .choice("which", s.which, "end of the spectrum", {{"LA", Which::largest}, {"SA", Which::smallest}})
      .flag("quiet,q", s.quiet, "say less")
      .values("note", "TEXT", s.notes, "remarks");
  return options;
}

Settings parsed(const std::vector<std::string>& arguments) {
  Settings s;
  Options options = declare(s);
  REQUIRE(options.parse(arguments));
  return s;
}

std::string refusal(const std::vector<std::string>& arguments) {
  Settings s;
  Options options = declare(s);
  return message_of(Errc::invalid_argument, [&] { (void)options.parse(arguments); });
}

struct Environment {  // NOLINTNEXTLINE(concurrency-mt-unsafe): the tests of one executable run one by one
  Environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  const char* name_;
};

}  // namespace

TEST_CASE("options are read in every usual spelling") {
  const Settings s = parsed({"a.mtx", "-k5", "--tol=1e-6", "--sigma", "-1.5", "-q", "--which", "SA", "--note", "one",
                             "--note=two", "--seed", "18446744073709551615"});
  CHECK(s.matrix == "a.mtx");
  CHECK(s.nev == 5);
  CHECK(s.tol == 1e-6);
  CHECK(s.sigma == -1.5);
  CHECK(s.quiet);
  CHECK(s.which == Which::smallest);
  CHECK(s.notes == std::vector<std::string>{"one", "two"});
  CHECK(s.seed == UINT64_MAX);
  CHECK(parsed({"--", "-odd-name.mtx"}).matrix == "-odd-name.mtx");
  CHECK(parsed({"-k", "7", "a.mtx"}).nev == 7);
  CHECK(parsed({"--nev", "1e6", "a.mtx"}).nev == 1000000);
}

TEST_CASE("options that are not given keep their defaults, and say so") {
  Settings s;
  Options options = declare(s);
  REQUIRE(options.parse(std::vector<std::string>{"a.mtx", "--tol", "0"}));
  CHECK(s.nev == 6);
  CHECK_FALSE(s.sigma.has_value());
  CHECK_FALSE(s.quiet);
  CHECK(options.given("tol"));
  CHECK_FALSE(options.given("nev"));
}

TEST_CASE("a refused value is answered with the option and what it accepts") {
  CHECK(refusal({"a", "--nev", "0"}) == "--nev is '0': expected an integer of at least 1");
  CHECK(refusal({"a", "-k", "0"}) == "--nev is '0': expected an integer of at least 1");
  CHECK(refusal({"a", "--nev", "2.5"}) == "--nev is '2.5': expected an integer of at least 1");
  CHECK(refusal({"a", "--nev", "99999999999999999999"}).starts_with("--nev is '99999999999999999999'"));
  CHECK(refusal({"a", "--nev", "5x"}).starts_with("--nev is '5x'"));
  CHECK(refusal({"a", "--tol", "nan"}) == "--tol is 'nan': expected a number of at least 0");
  CHECK(refusal({"a", "--tol", "-1e-9"}) == "--tol is '-1e-9': expected a number of at least 0");
  CHECK(refusal({"a", "--threads", "65"}) == "--threads is '65': expected an integer from 0 to 64");
  CHECK(refusal({"a", "--seed", "-1"}) == "--seed is '-1': expected a non-negative integer");
  CHECK(refusal({"a", "--which", "XX"}) == "--which is 'XX': expected one of LA|SA");
  CHECK(refusal({"a", "--nev", "1", "--nev", "2"}) == "--nev is given more than once");
}

TEST_CASE("misspelt, incomplete and superfluous arguments are refused with a hint") {
  CHECK(refusal({"a", "--nve", "3"}) == "unknown option --nve; did you mean --nev? (see tsprobe --help)");
  CHECK(refusal({"a", "--ne", "3"}).starts_with("unknown option --ne; did you mean --nev?"));
  CHECK(refusal({"a", "--thread", "3"}).starts_with("unknown option --thread; did you mean --threads?"));
  CHECK(refusal({"a", "--zzzzzzzz"}) == "unknown option --zzzzzzzz (see tsprobe --help)");
  CHECK(refusal({"a", "-z"}).starts_with("unknown option -z"));
  // Another program's name for it, which is not the nearest in letters.
  for (const char* name : {"-j", "--n_jobs", "--N-Jobs", "--ncv", "-ncv", "--eps_ncv", "-eps_ncv"}) {
    CAPTURE(name);
    CHECK(refusal({"a", name, "3"}) ==
          std::string("unknown option ") + name + "; did you mean --threads? (see tsprobe --help)");
  }
  CHECK(refusal({"a", "-eps_nev", "3"}).starts_with("unknown option -eps_nev; did you mean --nev?"));
  CHECK(refusal({"a", "--eps_nev=3"}).starts_with("unknown option --eps_nev; did you mean --nev?"));
  CHECK(refusal({"a", "--nev"}) == "option --nev needs a value (see tsprobe --help)");
  CHECK(refusal({"a", "--nev="}) == "option --nev needs a value (see tsprobe --help)");
  CHECK(refusal({"a", "--nev", "--quiet"}) == "option --nev needs a value (see tsprobe --help)");
  CHECK(refusal({"a", "--quiet=yes"}) == "option --quiet takes no value (see tsprobe --help)");
  CHECK(refusal({"a", "b"}).starts_with("'b' is one argument too many"));
  CHECK(refusal({}) == "MATRIX is missing: a file with a matrix (see tsprobe --help)");
}

TEST_CASE("the command line wins over the environment, and that over the configuration file") {
  const TemporaryFolder folder;
  const std::string file = folder.file(
      "a.ini", "# a comment\nnev = 3\ntol = 0.5\n\n[tsprobe]\nthreads = 4\nquiet = true\n\n[tssolve]\nsigma = 0\n");
  const Environment nev("TSPROBE_NEV", "4"), tol("TSPROBE_TOL", "0.25");
  const Settings s = parsed({"a.mtx", "--config", file, "--nev", "5"});
  CHECK(s.nev == 5);
  CHECK(s.tol == 0.25);
  CHECK(s.threads == 4);
  CHECK(s.quiet);

  const std::string marked = folder.file("b.ini", "\xef\xbb\xbfthreads = 6\r\n");  // as editors of Windows save it
  CHECK(parsed({"a.mtx", "--config", marked}).threads == 6);
  const Environment config("TSPROBE_CONFIG", file.c_str());
  CHECK(parsed({"a.mtx"}).threads == 4);
}

TEST_CASE("the command line as it would have to be typed") {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.ini", "quiet = true\ntol = 0.5\nnote = two words\n");
  const Environment nev("TSPROBE_NEV", "4"), tol("TSPROBE_TOL", "0.25");
  Settings s;
  Options options = declare(s);
  REQUIRE(options.parse(std::vector<std::string>{"it's.mtx", "--config", file, "-k", "5"}));
  CHECK(options.command_line() ==
        "tsprobe 'it'\\''s.mtx' --config " + file + " -k 5 --tol 0.25 --quiet --note 'two words'");
}

TEST_CASE("errors in the environment and in the file name their place") {
  const TemporaryFolder folder;
  {
    const Environment nev("TSPROBE_NEV", "many");
    CHECK(refusal({"a"}) == "environment variable TSPROBE_NEV is 'many': expected an integer of at least 1");
  }
  const std::string file = folder / "a.ini";
  const auto of = [&](const std::string& text) { return refusal({"a", "--config", folder.file("a.ini", text)}); };
  CHECK(of("nev = 0\n") == file + ": nev is '0': expected an integer of at least 1");
  CHECK(of("thread = 2\n") == file + ": unknown option 'thread'; did you mean threads?");
  CHECK(of("[tsprobes]\nnev = 2\n").starts_with(file + ": unknown option 'tsprobes.nev'"));
  CHECK(of("this is no option\n").starts_with(file + ": "));
  CHECK(of("\xff\xfen") == "--config: the file '" + file + "' is UTF-16 text: save it as UTF-8");
  CHECK(mentions(of("nev = 2\nnev = 3\n"), "more than once"));
  const std::string missing = folder / "missing.ini";
  CHECK(refusal({"a", "--config", missing}) == "--config: the file '" + missing + "' cannot be read");
  CHECK(mentions(refusal({"a", "--config", folder.path().string()}), "cannot be read"));
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);  // nobody writes to it: to open it would wait for ever
  CHECK(refusal({"a", "--config", pipe}).ends_with("cannot be read: it is not a regular file"));
}

TEST_CASE("help, version and the list of options end a program at once") {
  Settings s;
  for (const char* word : {"--help", "-h", "--version", "--list-options", "--man", "--completion=bash"}) {
    Options options = declare(s);
    const Capture out(std::cout);
    CHECK_FALSE(options.parse(std::vector<std::string>{word}));
    CHECK_FALSE(out.text().empty());
  }
  Options options = declare(s);
  const Capture out(std::cout);
  CHECK_FALSE(options.parse(std::vector<std::string>{"--list-options"}));
  CHECK(mentions(out.text(), "--nev\n--tol\n"));
  CHECK_FALSE(mentions(out.text(), "list-options"));
}

TEST_CASE("numbers are read whole or not at all") {
  int i = 0;
  double x = 0;
  bool b = false;
  CHECK((parse_value("+12", i) && i == 12));
  CHECK((parse_value("2e3", i) && i == 2000));
  for (const char* none : {"3000000000", "1e10", "", " 1", "0x10"}) CHECK_FALSE(parse_value(none, i));
  CHECK((parse_value("1e-300", x) && x == 1e-300));
  CHECK_FALSE(parse_value("1e-3x", x));
  CHECK((parse_value("off", b) && !b));
  CHECK_FALSE(parse_value("maybe", b));
  for (const double value : {1e-8, 0.1, 1.0 / 3, 6e23, -0.0}) {
    REQUIRE(parse_value(value_text(value), x));
    CHECK(x == value);
  }
}
