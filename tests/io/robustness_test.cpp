// Damaged files: cut short or with bits flipped anywhere, every fixture gives an Error or a sound matrix.
#include <sys/wait.h>
#include <unistd.h>

#include "tallskinny/tests/io/support.hpp"

namespace {

/// The invariants of what was read; false if one is broken.
bool sound(const io::MatrixFile& read) {
  if (const auto* sparse = std::get_if<io::SparseMatrix>(&read.matrix))
    return std::visit(
        [](const auto& a) {
          if (static_cast<index_t>(a.pointers.size()) != a.rows + 1 || a.pointers.front() != 0) return false;
          for (index_t i = 0; i < a.rows; ++i)
            if (a.pointers[i] > a.pointers[i + 1]) return false;
          for (const auto index : a.indices)
            if (index < 0 || index >= a.cols) return false;
          return a.indices.size() == a.values.size() && static_cast<index_t>(a.values.size()) == a.pointers.back();
        },
        *sparse);
  return std::visit([](const auto& a) { return a.rows() >= 0 && a.cols() >= 0; },
                    std::get<io::DenseMatrix>(read.matrix));
}

/// 0: fine, 1: something other than an Error, or an unsound matrix.
int try_all(const std::filesystem::path& file) {
  io::ReadOptions options{.memory_limit = 32 << 20, .check_finite = false};
  bool fine = true;
  const auto attempt = [&](const io::Location& where) {
    try {
      fine &= sound(io::read_matrix(where, options));
    } catch (const Error&) {
    }
  };
  try {
    attempt({file, ""});
    for (const auto& d : io::list_objects(file, options)) attempt(d.where);
  } catch (const Error&) {
  } catch (...) {
    fine = false;
  }
  return fine ? 0 : 1;
}

/// In a process of its own, with a time limit: a crash or a hang is seen and does not end the other tests.
int in_child(const std::filesystem::path& file) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(try_all(file));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string damaged(const std::string& whole, std::mt19937& random) {
  std::string content = whole;
  if (random() % 4 == 0) {
    content.resize(random() % (whole.size() + 1));
    return content;
  }
  for (unsigned flips = 1 + random() % 3; flips > 0; --flips)
    content[random() % content.size()] ^= static_cast<char>(1u << (random() % 8));
  return content;
}

}  // namespace

TEST_CASE("damaged files give errors, never crashes") {
  TemporaryFolder folder;
  const char* trials_set = std::getenv("TS_DAMAGE_TRIALS");
  const int trials = trials_set != nullptr ? std::atoi(trials_set) : 25;
  std::mt19937 random(trials_set != nullptr ? std::random_device{}() : 20261121u);
  for (const auto& entry : std::filesystem::directory_iterator(TS_IO_FIXTURES)) {
    const std::string whole = content_of(entry.path());
    for (int trial = 0; trial < trials; ++trial) {
      const auto where = file_in(folder, entry.path().filename(), damaged(whole, random));
      const int outcome = in_child(where.file);
      INFO(entry.path().filename() << " trial " << trial);
      if (outcome != 0)
        std::filesystem::copy_file(where.file,
                                   std::filesystem::temp_directory_path() /
                                       ("damaged-" + std::to_string(trial) + entry.path().filename().string()),
                                   std::filesystem::copy_options::overwrite_existing);
      CHECK(outcome == 0);
    }
  }
}

TEST_CASE("damaged bytes end in an error or an answer, never in a crash or a wait") {
  const TemporaryFolder folder;
  const std::string whole = content_of(fixture("filters.h5").file);
  std::mt19937 random(20261124);
  io::ReadOptions options{.memory_limit = 32 << 20};
  for (int trial = 0; trial < 300; ++trial) {
    std::string content = whole;
    for (unsigned flips = 1 + random() % 2; flips > 0; --flips)
      content[random() % content.size()] = static_cast<char>(random());
    const auto where = file_in(folder, "a.h5", content);
    INFO("trial " << trial);
    try {
      for (const auto& d : io::list_objects(where.file, options)) {
        try {
          (void)io::read_matrix(d.where, options);
        } catch (const Error& error) {
          CHECK(mentions(error.what(), "a.h5"));
        }
      }
    } catch (const Error& error) {
      CHECK(mentions(error.what(), "a.h5"));
    }
  }
}
