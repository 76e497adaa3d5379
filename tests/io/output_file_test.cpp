#include "tallskinny/io/output_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "tallskinny/tests/io/support.hpp"
#include "tallskinny/tests/support/operands.hpp"

using io::OutputFile;
using io::Structure;

namespace {

std::size_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

/// Numbers that every type holds.
template <class T>
Matrix<T> numbered(index_t rows, index_t cols) {
  return matrix_of<T>(rows, cols, [cols](index_t i, index_t j) {
    const auto x = static_cast<double>((i * cols + j) % (std::is_same_v<T, bfloat16> ? 200 : 1000));
    return element<T>(x, -x);
  });
}

/// Writes rows x cols in three layouts and reads all of them back.
template <class T>
void round_trip(index_t rows, index_t cols) {
  TemporaryFolder folder;
  const auto a = numbered<T>(rows, cols);
  Matrix<T> wide(rows, cols + 3);
  Matrix<T, Space::host, Layout::col_major> by_columns(rows, cols);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) wide(i, j + 1) = by_columns(i, j) = a(i, j);
  const std::string file =
      write_h5(folder / "r.h5", "rows", a, "wide", rows > 0 ? std::as_const(wide).view().cols(1, cols) : a.view(),
               "group/columns", by_columns);
  for (const char* name : {"/rows", "/wide", "/group/columns"}) {
    INFO(name);
    const auto read = io::read_dense({file, name});
    const auto* same = std::get_if<Matrix<T>>(&read);
    REQUIRE(same != nullptr);
    REQUIRE(same->rows() == rows);
    REQUIRE(same->cols() == cols);
    CHECK(std::equal(a.data(), a.data() + rows * cols, same->data()));
  }
}

}  // namespace

TEST_CASE("matrices of every type and layout come back bit by bit") {
  round_trip<double>(7, 3);
  round_trip<std::complex<double>>(7, 3);
  round_trip<float>(7, 3);
  round_trip<std::complex<float>>(7, 3);
  round_trip<float16>(7, 3);
  round_trip<bfloat16>(7, 3);
  round_trip<double>(0, 3);
  round_trip<float>(60000, 5);   // chunked
  round_trip<float>(3, 300001);  // rows wider than a chunk
}

TEST_CASE("lists, scalars, texts, attributes") {
  TemporaryFolder folder;
  std::vector<double> values(300000);
  std::iota(values.begin(), values.end(), 0.0);
  const std::vector<std::int64_t> labels = {3, -1, 1LL << 40};
  {
    OutputFile out(folder / "r.h5", {.gzip = 4});
    out.write("eigenvalues", values);
    out.write("labels", labels);
    out.write("few", std::vector<std::int32_t>{1, 2});
    out.write("z", std::vector<std::complex<float>>{{1, 2}});
    out.write("inertia", 2.5);
    out.write("n_iter", 7);
    out.write("device", "cpu");
    out.attribute("eigenvalues", "which", "LA");
    out.attribute("/", "version", 1);
    out.attribute("labels", "tolerance", 1e-3);
    CHECK(refusal_of([&] { out.attribute("nothing", "x", 1); }).code == Errc::invalid_argument);
    CHECK(refusal_of([&] { out.write("inertia", 3.5); }).says("/inertia could not be written"));
    out.commit();
    CHECK(refusal_of([&] { out.write("late", 1); }).says("is finished"));
  }
  CHECK(std::filesystem::file_size(folder / "r.h5") < 1200000);  // compressed
  CHECK(io::read_vector({folder / "r.h5", "eigenvalues"}) == values);
  CHECK(io::read_vector({folder / "r.h5", "labels"}) == std::vector<double>{3, -1, 0x1p40});
  CHECK(table_of(io::read_matrix({folder / "r.h5", "z"})) == Table(1, 1, {{1, 2}}));
}

TEMPLATE_TEST_CASE("a dataset can be written in pieces of rows", "", double, std::complex<double>, float,
                   std::complex<float>, float16, bfloat16) {
  using T = TestType;
  TemporaryFolder folder;
  for (const int gzip : {0, 4})
    for (const index_t rows : {0, 1, 7, 200000}) {
      CAPTURE(gzip, rows);
      const index_t cols = 3;
      const auto a = numbered<T>(rows, cols);
      OutputFile out(folder / "r.h5", {.gzip = gzip});
      out.write("whole", a);
      out.template begin_rows<T>("group/pieces", rows, cols);
      out.write("between", 1.5);
      index_t piece = 1;
      for (index_t begin = 0; begin < rows; begin += piece, piece = 1 + 3 * piece) {
        piece = std::min(piece, rows - begin);
        out.add_rows("group/pieces",
                     std::span<const T>(a.data() + begin * cols, static_cast<std::size_t>(piece * cols)));
      }
      out.commit();
      const auto read = io::read_dense({folder / "r.h5", "/group/pieces"});
      const auto& b = std::get<Matrix<T>>(read);
      REQUIRE((b.rows() == rows && b.cols() == cols));
      CHECK(std::equal(a.data(), a.data() + rows * cols, b.data()));
      CHECK(out.contents().ends_with(": whole, group, between"));
    }
}

TEST_CASE("lists in pieces, and pieces that do not fit") {
  TemporaryFolder folder;
  {
    OutputFile out(folder / "r.h5");
    out.begin_rows<std::int32_t>("labels", 5);
    out.begin_rows<double>("none", 4, 0);
    const std::vector<std::int32_t> labels = {1, 2, 3, 4, 5};
    out.add_rows("labels", std::span(labels).first(2));
    const auto misuse = [&](const auto& call, const std::string& words) {
      const Refusal refused = refusal_of(call);
      CHECK(refused.code == Errc::invalid_argument);
      CHECK(refused.says(words));
    };
    misuse([&] { out.add_rows("labels", std::span(labels).first(4)); }, "4 values are no whole rows of the 3 x 1");
    misuse([&] { out.add_rows("labels", std::span<const double>()); }, "not begun with elements of this type");
    misuse([&] { out.add_rows("other", std::span(labels)); }, "not begun");
    misuse([&] { out.commit(); }, "labels has 2 of its 5 rows");
    out.add_rows("labels", std::span(labels).last(3));
    misuse([&] { out.add_rows("labels", std::span(labels).first(0)); }, "is whole");
    out.begin_rows<float>("rows", 2, 3);
    const std::vector<float> four(4);
    misuse([&] { out.add_rows("rows", std::span<const float>(four)); }, "no whole rows of the 2 x 3");
    out.add_rows("rows", std::span<const float>(std::vector<float>(6)));
    out.commit();
  }
  CHECK(io::read_vector({folder / "r.h5", "labels"}) == std::vector<double>{1, 2, 3, 4, 5});
  {
    OutputFile out(folder / "r.h5");
    out.begin_rows<double>("x", 5);
  }  // nothing appears
  CHECK(io::read_vector({folder / "r.h5", "labels"}).size() == 5);
}

TEST_CASE("the same content makes the same file, whenever it is written") {
  TemporaryFolder folder;
  const auto write = [&](const char* name) {
    const auto a = Matrix<double>::zeros(3, 2);
    return content_of(write_h5(folder / name, "rows", a, "a/b/c", a, "number", 1.0));
  };
  const std::string before = write("one.h5");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 has times in seconds
  CHECK((write("two.h5") == before));
}

TEST_CASE("without commit nothing appears and the old file stays") {
  TemporaryFolder folder;
  const auto old = file_in(folder, "r.h5", "old content");
  {
    OutputFile out(folder / "r.h5");
    out.write("x", 1.0);
    CHECK(files_in(folder) == 2);
  }
  CHECK(files_in(folder) == 1);
  CHECK(std::filesystem::file_size(old.file) == 11);
  {
    OutputFile out(folder / "new.h5");
    out.write("x", 1.0);
    OutputFile moved = std::move(out);
  }
  CHECK(files_in(folder) == 1);
}

TEST_CASE("commit replaces the target, keeps its mode and follows links") {
  TemporaryFolder folder;
  const auto old = file_in(folder, "r.h5", "old");
  ::chmod(old.file.c_str(), 0640);
  std::filesystem::create_symlink(old.file, folder / "link.h5");
  write_h5(folder / "link.h5", "x", std::vector<double>{1, 2});
  CHECK(files_in(folder) == 2);
  CHECK(std::filesystem::is_symlink(folder / "link.h5"));
  CHECK(io::read_vector({folder / "r.h5", "/x"}) == std::vector<double>{1, 2});
  struct stat status {};
  REQUIRE(::stat(old.file.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
}

TEST_CASE("a file that replaces a private one is private while it is written, too") {
  TemporaryFolder folder;
  const auto old = file_in(folder, "r.h5", "old");
  ::chmod(old.file.c_str(), 0600);
  OutputFile out(old.file);
  out.write("x", 1.0);
  for (const auto& entry : std::filesystem::directory_iterator(old.file.parent_path()))
    CHECK((entry.status().permissions() & std::filesystem::perms(0077)) == std::filesystem::perms::none);
  out.commit();
  CHECK(std::filesystem::status(old.file).permissions() == std::filesystem::perms(0600));
  CHECK(out.contents() == old.file.string() + ": x");
}

TEST_CASE("a link that leads to nothing yet is written behind, a circle refused") {
  TemporaryFolder folder;
  std::filesystem::create_symlink("target.h5", folder / "link.h5");
  write_h5(folder / "link.h5", "x", 1.0);
  CHECK(std::filesystem::is_symlink(folder / "link.h5"));
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "target.h5")));
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  CHECK(refusal_of([&] { OutputFile circle(folder / "a"); }).code == Errc::io_failure);
}

TEST_CASE("a signature finds what is foreign, damaged or cut") {
  TemporaryFolder folder;
  const std::string line = "a file, version 1";
  const std::string file =
      write_h5(folder / "s.h5", io::OutputOptions{.signature = line}, "x", std::vector<double>(70000, 1.5));
  CHECK(io::state_of_seal(file, line) == io::SealState::whole);
  CHECK(io::state_of_seal(file, "a file, version 2") == io::SealState::foreign);
  CHECK(io::read_vector({file, "/x"}) == std::vector<double>(70000, 1.5));
  std::fstream change(file, std::ios::in | std::ios::out | std::ios::binary);
  change.seekp(300000);
  change.put('x');
  change.close();
  CHECK(io::state_of_seal(file, line) == io::SealState::damaged);
  CHECK(io::state_of_seal(file, line, false) == io::SealState::whole);
  std::filesystem::resize_file(file, 1000);
  CHECK(io::state_of_seal(file, line) == io::SealState::damaged);
}

TEST_CASE("targets that cannot be written are refused at once") {
  TemporaryFolder folder;
  const auto refused = [](const std::filesystem::path& p) { return refusal_of([&] { OutputFile out(p); }); };
  CHECK(refused(folder / "no/such/r.h5").says("there is no folder"));
  CHECK(refused(folder.path()).says("is not a regular file"));
  CHECK(refused("/dev/null").says("is not a regular file"));
  CHECK(refused("/dev/null").code == Errc::io_failure);
  CHECK(refused("").code == Errc::io_failure);
  CHECK(refused("/proc/r.h5").code == Errc::io_failure);
}

namespace {

/// Collects text that is written to standard error during its lifetime.
class CaughtErrors {
 public:
  CaughtErrors() : before_(::dup(STDERR_FILENO)), file_(std::tmpfile()) { ::dup2(::fileno(file_), STDERR_FILENO); }
  ~CaughtErrors() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    std::fclose(file_);
  }
  CaughtErrors(const CaughtErrors&) = delete;
  CaughtErrors& operator=(const CaughtErrors&) = delete;
  [[nodiscard]] bool nothing() const { return ::lseek(STDERR_FILENO, 0, SEEK_CUR) == 0; }

 private:
  int before_;
  std::FILE* file_;
};

}  // namespace

/// HDF5 1.10 loses 264 bytes of its own when a file cannot be closed.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

TEST_CASE("a disk that fills up leaves nothing behind and is told in one sentence") {
  TemporaryFolder folder;
  const auto old = file_in(folder, "r.h5", "old");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  // Room for nothing, for less than HDF5 keeps back until datasets or the file are closed, for a part.
  for (const rlim_t room : {rlim_t{0}, rlim_t{100}, rlim_t{1000}, rlim_t{4000}, rlim_t{100000}}) {
    rlimit small = before;
    small.rlim_cur = room;
    bool silent = false;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto refused = refusal_of([&] {
      const CaughtErrors caught;
      try {
        OutputFile out(old.file);
        out.write("few", std::vector<double>(400));
        out.write("big", Matrix<double>::zeros(100000, 4));
        out.commit();
      } catch (const Error&) {
        silent = caught.nothing();
        throw;
      }
    });
    ::setrlimit(RLIMIT_FSIZE, &before);
    INFO("room for " << room << " bytes: " << refused.sentence);
    CHECK(silent);
    CHECK(refused.code == Errc::io_failure);
    CHECK(refused.says(old.file.string()));
    CHECK(files_in(folder) == 1);
    CHECK(std::filesystem::file_size(old.file) == 3);
  }
  std::signal(SIGXFSZ, handler);
}
