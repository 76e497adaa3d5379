#include "tallskinny/app/common/output_path.hpp"

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/temporary_folder.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

std::string refusal(const std::filesystem::path& path, const std::vector<std::string>& inputs = {}) {
  try {
    app::check_output_paths({{"--output", path}}, inputs);
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

TEST_CASE("standard output is no file, and a link that leads to nothing is what it leads to") {
  const test::TemporaryFolder folder;
  CHECK(refusal("-").find("--json") != std::string::npos);
  std::filesystem::create_symlink("target.h5", folder / "link.h5");
  CHECK(refusal(folder / "link.h5") == "accepted");
  std::filesystem::create_symlink("no/such/target.h5", folder / "lost.h5");
  CHECK(refusal(folder / "lost.h5").find("does not exist") != std::string::npos);
}

TEST_CASE("an output never replaces an input, under any name") {
  const test::TemporaryFolder folder;
  const std::string input = folder.file("input.h5", "x");
  CHECK(refusal(input, {input}).find("also the input") != std::string::npos);
  CHECK(refusal(input, {"", "other.h5", input + ":/object"}).find("also the input") != std::string::npos);
  std::filesystem::create_symlink(input, folder / "link.h5");
  CHECK(refusal(folder / "link.h5", {input}).find("also the input") != std::string::npos);
  CHECK(refusal(folder.path() / "." / "input.h5", {input}).find("also the input") != std::string::npos);
}

TEST_CASE("two outputs are never one file, whether it is there or not") {
  const test::TemporaryFolder folder;
  const auto second = [](const std::filesystem::path& path, const std::filesystem::path& other) {
    try {
      app::check_output_paths({{"--output", path}, {"--checkpoint", ""}, {"--report", other}});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(second(folder / "a.h5", folder / "b.h5") == "accepted");
  CHECK(second(folder / "a.h5", folder / "a.h5") ==
        "--report " + (folder / "a.h5") + ": this is also the file of --output; choose another");
  CHECK(second(folder / "a.h5", folder.path() / "." / "a.h5").find("also the file of") != std::string::npos);
  const std::string there = folder.file("there.h5", "x");
  std::filesystem::create_hard_link(there, folder / "link.h5");
  CHECK(second(there, folder / "link.h5").find("also the file of") != std::string::npos);
}

TEST_CASE("names that promise another format than HDF5 are known") {
  CHECK(app::other_format("a.csv") == ".csv");
  CHECK(app::other_format("folder.csv/a.npy") == ".npy");
  CHECK(app::other_format("a.csv.h5").empty());
  CHECK(app::other_format("a").empty());
  CHECK(app::other_format("a.hdf5").empty());
}
