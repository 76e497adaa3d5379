// The process that has a file open: same answers, no rights, its end is a sentence, and others go on
// meanwhile.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tallskinny/io/hdf5/message.hpp"
#include "tallskinny/io/hdf5/sandbox.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/tests/io/support.hpp"

namespace {

/// Findings about a file: the message of its refusal, or of each matrix its description and elements.
std::vector<std::string> findings(const std::filesystem::path& file, bool trusted) {
  io::ReadOptions options{.memory_limit = 1 << 30, .trusted = trusted};
  std::vector<std::string> found;
  const auto refused = refusal_of([&] {
    io::visit_objects(file, options, [&](const io::Description& d, const auto& read) {
      found.push_back(d.where.text() + " " + d.convention + " " + d.stored_type + " " + d.note + d.problem);
      const auto not_read = refusal_of([&] {
        const Table table = table_of(read(options));
        found.emplace_back(reinterpret_cast<const char*>(table.values.data()),
                           table.values.size() * sizeof table.values[0]);
      });
      found.push_back(not_read.sentence);
    });
  });
  found.push_back(refused.sentence);
  return found;
}

/// A file with one dense matrix of `rows` x 3, without compression.
std::filesystem::path plain_file(const TemporaryFolder& folder, index_t rows) {
  return write_h5(folder / "a.h5", "X", Matrix<double>::zeros(rows, 3));
}

}  // namespace

TEST_CASE("a process of its own finds what this one finds, in the same words") {
  for (const auto& entry : std::filesystem::directory_iterator(TS_IO_FIXTURES)) {
    if (entry.path().filename() == "links.h5" || entry.path().filename() == "many_empty_rows.mat") continue;
    INFO(entry.path());
    CHECK(findings(entry.path(), false) == findings(entry.path(), true));
  }
}

TEST_CASE("a process without rights opens, starts and connects nothing") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char gained = io::hdf5::give_up_rights({ends[1]}, ~std::uint64_t{0}) ? 0 : 32;
    if (::open("/dev/null", O_RDONLY) >= 0) gained |= 1;
    if (::socket(AF_UNIX, SOCK_STREAM, 0) >= 0) gained |= 2;
    if (::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) gained |= 4;
    if (::kill(::getppid(), 0) == 0) gained |= 8;
    if (const pid_t other = ::fork(); other == 0)
      ::_exit(0);
    else if (other > 0)
      gained |= 16;
    ::_exit(::write(ends[1], &gained, 1) == 1 ? 0 : 1);
  }
  ::close(ends[1]);
  char gained = 127;
  CHECK(::read(ends[0], &gained, 1) == 1);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(gained == 0);
}

TEST_CASE("a process without rights gets the file that is handed to it, once") {
  const TemporaryFolder folder;
  const std::string file = folder.file("a", "content");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int kept = ::open(file.c_str(), O_RDONLY);
    const bool filtered = io::hdf5::give_up_rights({ends[1], kept}, ~std::uint64_t{0}, kept);
    std::string found(7, '\0');
    const int opened = ::open("/etc/passwd", O_RDONLY), again = ::open(file.c_str(), O_RDONLY);
    if (!filtered || again >= 0 || ::read(opened, found.data(), 7) != 7) found = "failure";
    ::_exit(::write(ends[1], found.data(), 7) == 7 ? 0 : 1);
  }
  ::close(ends[1]);
  std::string found(7, '\0');
  CHECK(::read(ends[0], found.data(), 7) == 7);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  CHECK(found == "content");
}

TEST_CASE("where system calls cannot be filtered, files are read only if they are trusted") {
  const auto sentence = [](const char* name, bool trusted) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      // A system without such filters answers like this.
      const sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
                                     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      const sock_fprog filter{std::size(program), const_cast<sock_filter*>(program)};
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      std::string said = "no filter";
      if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
        said = refusal_of(name, {.trusted = trusted}).sentence;
      said += '\n';
      ::_exit(::write(ends[1], said.data(), said.size()) == std::ssize(said) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said(4096, '\0');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], said.data(), said.size()), 0)));
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return said;
  };
  const std::string words =
      " cannot be read by a process without rights, as this system filters no system calls: "
      "--trust-input reads it all the same\n";
  std::vector<const char*> names = {"dense.h5:/little_f4"};
  if (!refusal_of("matlab5.mat:/A").says("libmatio")) names.push_back("matlab5.mat:/A");
  for (const char* name : names) {
    CAPTURE(name);
    CHECK(sentence(name, false).ends_with(words));
    CHECK(sentence(name, true) == "\n");
  }
}

TEST_CASE("a process that computes without end is ended") {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)io::hdf5::give_up_rights({}, ~std::uint64_t{0});
    io::hdf5::allow_seconds(0.1);
    for (std::atomic<unsigned> i = 0;; ++i) {
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGVTALRM);
}

TEST_CASE("no process, descriptor or answer is left when a file is closed") {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  (void)table_in("dense.h5:/little_f4");
  const auto before = count();
  (void)table_in("dense.h5:/little_f4");
  (void)refusal_of("broken.h5:/negative_pointer");
  CHECK(count() == before);
  int status = 0;
  CHECK(::waitpid(-1, &status, WNOHANG) == -1);  // there is no child
}

TEST_CASE("a file that becomes shorter while it is read is an error") {
  const TemporaryFolder folder;
  const auto file = plain_file(folder, 100000);
  const io::RowReader reader({file, "/X"}, {});
  std::vector<double> rows(3 * 100000);
  reader.read(0, 100000, true, rows.data());
  std::filesystem::resize_file(file, 1000000);
  check_refusal(refusal_of([&] { reader.read(0, 100000, true, rows.data()); }), Errc::bad_input,
                {"damaged or truncated"});
}

TEST_CASE("a file that another program writes is refused, unless locks are switched off") {
  const TemporaryFolder folder;
  const auto file = plain_file(folder, 10);
  const int writer = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(writer, LOCK_EX | LOCK_NB) == 0);
  for (const bool trusted : {false, true})
    check_refusal(refusal_of(io::Location{file, "/X"}, {.trusted = trusted}), Errc::bad_input,
                  {"is being written by another program", "HDF5_USE_FILE_LOCKING=FALSE"});
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  CHECK(io::read_dense_as<double>({file, "/X"}).rows() == 10);
  ::unsetenv("HDF5_USE_FILE_LOCKING");
  ::close(writer);
}

TEST_CASE("messages hold what was put, and nothing else is taken from them") {
  using io::hdf5::Message;
  using io::hdf5::Node;
  Message message;
  message.put(std::optional<std::string>("a")).put(std::vector<index_t>{1, -2}).put(true);
  message.put(Node::Member{"b", {io::hdf5::ElementType::Kind::real, "float32", DType::float32}, 7});
  Message received(message.bytes());
  CHECK(received.get<std::optional<std::string>>() == "a");
  CHECK(received.get<std::vector<index_t>>() == std::vector<index_t>{1, -2});
  CHECK(received.get<bool>());
  const auto member = received.get<Node::Member>();
  CHECK(member.name == "b");
  CHECK(member.type.read_as == DType::float32);
  CHECK(member.width == 7);
  CHECK_THROWS_AS(received.get<char>(), std::runtime_error);
  CHECK_THROWS_AS(Message(Message().put(std::size_t{1} << 60).bytes()).get<std::string>(), std::runtime_error);
  CHECK_THROWS_AS(Message(Message().put(std::size_t{1} << 60).bytes()).get<std::vector<index_t>>(), std::runtime_error);
  CHECK_THROWS_AS(Message(Message().put(1000).bytes()).get<DType>(), std::runtime_error);
}
