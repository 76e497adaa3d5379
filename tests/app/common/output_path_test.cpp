#include "tallskinny/app/common/output_path.hpp"

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/temporary_folder.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

std::string refusal(const std::filesystem::path& path,
                    const std::vector<std::filesystem::path>& inputs = {}) {
  try {
    app::check_output_path("--output", path, inputs);
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(std::string(error.what()).starts_with("--output " + path.string() + ": "));
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("an output may be new or replace a file") {
  const test::TemporaryFolder folder;
  CHECK(refusal(folder / "new.h5") == "accepted");
  const std::string old = folder.file("old.h5", "x");
  CHECK(refusal(old) == "accepted");
  CHECK(refusal(old, {folder.file("input.h5", "y")}) == "accepted");
}

TEST_CASE("an output is refused before the work when it could not be written") {
  const test::TemporaryFolder folder;
  CHECK(refusal(folder / "no/such/folder/a.h5").find("does not exist") != std::string::npos);
  CHECK(refusal(folder.path()).find("not a file") != std::string::npos);
  CHECK(refusal(folder.path() / "").find("not a folder") != std::string::npos);
  CHECK(refusal("/dev/null").find("not a file") != std::string::npos);
  CHECK(refusal("/proc/a.h5").find("no file can be created") != std::string::npos);
}

TEST_CASE("an output never replaces an input, under any name") {
  const test::TemporaryFolder folder;
  const std::string input = folder.file("input.h5", "x");
  CHECK(refusal(input, {input}).find("also the input") != std::string::npos);
  std::filesystem::create_symlink(input, folder / "link.h5");
  CHECK(refusal(folder / "link.h5", {input}).find("also the input") != std::string::npos);
  CHECK(refusal(folder.path() / "." / "input.h5", {input}).find("also the input") != std::string::npos);
}
