#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::app;
using solvers::expect_memory;
using solvers::total_bytes;

namespace {

void accepted(const std::filesystem::path& path, const std::vector<std::string>& inputs = {}) {
  CHECK_NOTHROW(check_output_paths({{"--output", path}}, inputs));
}

void refused(const std::filesystem::path& path, const std::string& why, const std::vector<std::string>& inputs = {}) {
  const std::string said = message_of(Errc::invalid_argument, [&] {
    check_output_paths({{"--output", path}}, inputs);
  });
  CAPTURE(said);
  CHECK(said.starts_with("--output " + path.string() + ": "));
  CHECK(mentions(said, why));
}

}  // namespace

TEST_CASE("device names are auto, cpu, cuda, cuda:INDEX, lists of them and cuda:all") {
  for (const char* good : {"auto", "cpu", "cuda", "cuda:0", "cuda:15"}) {
    CHECK(is_device_name(good));
    CHECK_FALSE(names_several_devices(good));
  }
  for (const char* good : {"cuda:all", "cuda:0,2", "cuda:3,1,15", "cuda:0,0"}) {
    CHECK(is_device_name(good));
    CHECK(names_several_devices(good));
  }
  for (const char* bad : {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "CPU", "cuda0", "cuda:0,", "cuda:,1", "cuda:0,,1",
                          "cuda:0,all", "all", "cuda:0,x", "cpu,cuda"})
    CHECK_FALSE(is_device_name(bad));
}

TEST_CASE("auto and cpu take the processor until the work is known") {
  CHECK(resolve_device("auto") == Device{});
  CHECK(device_text(resolve_device("cpu")) == "cpu");
}

TEST_CASE("cuda is refused with the reason, never replaced") {
  const cuda::DeviceList found = cuda::list_devices();
  CHECK(found.devices.empty() == !found.reason.empty());
  if (!cuda::built()) CHECK(mentions(found.reason, "without the CUDA backend"));
  if (!found.devices.empty()) {
    const auto count = static_cast<int>(found.devices.size());
    CHECK(resolve_device("cuda") == Device{Device::Kind::cuda, 0});
    CHECK(resolve_device("cuda:all", count - 1) == Device{Device::Kind::cuda, count - 1});
    CHECK(resolve_device("cuda:0,0", 1) == Device{Device::Kind::cuda, 0});
    CHECK(count_devices("cuda:all") == count);
    CHECK(count_devices("cuda:0,0") == 2);
  }
  for (const std::string name : {"cuda", "cuda:1000", "cuda:all", "cuda:0,1000"}) {
    if (!found.devices.empty() && !mentions(name, "1000")) continue;
    const std::string said = message_of(Errc::no_device, [&] { resolve_device(name); });
    CHECK(said.starts_with("--device " + name + ": "));
    CHECK(mentions(said, found.reason));
  }
}

TEST_CASE("auto leaves small work to the processor, and large work where there is no GPU") {
  Console console("test", true);
  CHECK(faster_device({}, 1, console) == Device{});
  solvers::RunWork large{.bytes = 1e15};
  const bool gpu = !cuda::list_devices().devices.empty();
  CHECK((faster_device(large, 1, console).kind == Device::Kind::cuda) == gpu);
  large.resident = 1e15;  // more than any has
  CHECK(faster_device(large, 1, console) == Device{});
}

TEST_CASE("the memory table adds up, without wrapping around") {
  CHECK(total_bytes({{"a", 1024}, {"b", 512}}) == 1536);
  CHECK(total_bytes({{"a", UINT64_MAX - 1}, {"b", 2}}) == UINT64_MAX);
  std::ostringstream out;
  print_memory(out, {{"matrix", 1024}, {"basis", 512}}, 1u << 20);
  CHECK(out.str() ==
        "  matrix       1.00 KiB\n  basis           512 B\n  total        1.50 KiB\n  available    1.00 MiB\n");
  JsonObject json;
  add_memory(json, {{"matrix", 1024}}, 0);
  CHECK(json.text(-1) == R"({"memory":{"matrix":1024},"memory_bytes":1024,"available_memory_bytes":null})");
}

TEST_CASE("more memory than there is, is refused before it is allocated") {
  CHECK_NOTHROW(expect_memory("the basis", {{"a", 10}}, 10));
  CHECK_NOTHROW(expect_memory("the basis", {{"a", 10}}, 0));
  CHECK(message_of(Errc::out_of_memory, [] {
          expect_memory("the basis", {{"a", 3u << 20}}, 2u << 20);
        }) == "the basis takes 3.00 MiB of memory, but only 2.00 MiB are available");
}

TEST_CASE("this machine says how much memory it has") { CHECK(available_memory() > (1u << 20)); }

TEST_CASE("amounts of memory are read in powers of 1024") {
  std::uint64_t bytes = 0;
  CHECK((parse_bytes("500", bytes) && bytes == 500));
  CHECK((parse_bytes("1.5K", bytes) && bytes == 1536));
  CHECK((parse_bytes("4GiB", bytes) && bytes == std::uint64_t{4} << 30));
  for (const char* text : {"", "G", "-1", "0", "4Q", "1e30T", "nan"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text, bytes));
  }
  CHECK(bytes == std::uint64_t{4} << 30);
}

TEST_CASE("an output may be new, replace a file, or be the file that a link will lead to") {
  const TemporaryFolder folder;
  accepted(folder / "new.h5");
  const std::string old = folder.file("old.h5", "x");
  accepted(old);
  accepted(old, {folder.file("input.h5", "y")});
  std::filesystem::create_symlink("target.h5", folder / "link.h5");
  accepted(folder / "link.h5");
}

TEST_CASE("an output is refused before the work when it could not be written") {
  const TemporaryFolder folder;
  refused(folder / "no/such/folder/a.h5", "does not exist");
  refused(folder.path(), "not a regular file");
  refused(folder.path() / "", "not a folder");
  refused("/dev/null", "not a regular file");
  refused("/proc/a.h5", "no file can be created");
  refused("-", "--json");
  std::filesystem::create_symlink("no/such/target.h5", folder / "lost.h5");
  refused(folder / "lost.h5", "does not exist");
}

TEST_CASE("an output never replaces an input, under any name") {
  const TemporaryFolder folder;
  const std::string input = folder.file("input.h5", "x");
  std::filesystem::create_symlink(input, folder / "link.h5");
  refused(input, "also the input", {input});
  refused(input, "also the input", {"", "other.h5", input + ":/object"});
  refused(folder / "link.h5", "also the input", {input});
  refused(folder.path() / "." / "input.h5", "also the input", {input});
}

TEST_CASE("two outputs are never one file, whether it is there or not") {
  const TemporaryFolder folder;
  const auto second = [](const std::filesystem::path& path, const std::filesystem::path& other) {
    return message_of([&] { check_output_paths({{"--output", path}, {"--checkpoint", ""}, {"--report", other}}); });
  };
  CHECK(second(folder / "a.h5", folder / "b.h5").empty());
  CHECK(second(folder / "a.h5", folder / "a.h5") ==
        "--report " + (folder / "a.h5") + ": this is also the file of --output; choose another");
  CHECK(mentions(second(folder / "a.h5", folder.path() / "." / "a.h5"), "also the file of"));
  const std::string there = folder.file("there.h5", "x");
  std::filesystem::create_hard_link(there, folder / "link.h5");
  CHECK(mentions(second(there, folder / "link.h5"), "also the file of"));
}

TEST_CASE("names that promise another format than HDF5 are known") {
  CHECK(other_format("a.csv") == ".csv");
  CHECK(other_format("folder.csv/a.npy") == ".npy");
  for (const char* name : {"a.csv.h5", "a", "a.hdf5"}) CHECK(other_format(name).empty());
}
