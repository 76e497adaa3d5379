#include "tallskinny/app/common/device.hpp"

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::app;

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
  if (!cuda::built()) CHECK(found.reason.find("without the CUDA backend") != std::string::npos);
  if (!found.devices.empty()) {
    const auto count = static_cast<int>(found.devices.size());
    CHECK(resolve_device("cuda") == Device{Device::Kind::cuda, 0});
    CHECK(resolve_device("cuda:all", count - 1) == Device{Device::Kind::cuda, count - 1});
    CHECK(resolve_device("cuda:0,0", 1) == Device{Device::Kind::cuda, 0});
    CHECK(count_devices("cuda:all") == count);
    CHECK(count_devices("cuda:0,0") == 2);
  }
  for (const std::string name : {"cuda", "cuda:1000", "cuda:all", "cuda:0,1000"}) {
    try {
      if (found.devices.empty() || name.find("1000") != std::string::npos) {
        resolve_device(name);
        FAIL("accepted");
      }
    } catch (const Error& error) {
      CHECK(error.code() == Errc::no_device);
      CHECK(std::string(error.what()).starts_with("--device " + name + ": "));
      if (!found.reason.empty()) CHECK(std::string(error.what()).find(found.reason) != std::string::npos);
    }
  }
}

TEST_CASE("auto leaves small work to the processor, and large work where there is no GPU") {
  Console console("test", true);
  CHECK(faster_device({}, 1, console) == Device{});
  solvers::RunWork large;
  large.bytes = 1e15;
  const bool gpu = !cuda::list_devices().devices.empty();
  CHECK((faster_device(large, 1, console).kind == Device::Kind::cuda) == gpu);
  large.resident = 1e15;  // more than any has
  CHECK(faster_device(large, 1, console) == Device{});
}
