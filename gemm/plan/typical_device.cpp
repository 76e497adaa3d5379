#include "tallskinny/gemm/plan/typical_device.hpp"

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/runtime/gpu/rates.hpp"

namespace ts::inline v0::cuda {

DeviceInfo typical_device(const std::string& arch) {
  DeviceInfo d;
  const auto set = [&](const char* name, int major, int multiprocessors, int shared_kib, std::int64_t l2_mib,
                       std::uint64_t memory_gib, double clock, double bus) {
    d.name = name;
    d.compute_major = major;
    d.multiprocessors = multiprocessors;
    d.shared_bytes_per_block = (shared_kib - 1) << 10;
    d.shared_bytes_per_multiprocessor = shared_kib << 10;
    d.l2_bytes = l2_mib << 20;
    d.memory_bytes = memory_gib << 30;
    assume_rates(d, clock, bus);
  };
  if (arch == "sm_80")
    set("A100 SXM 80 GB (assumed)", 8, 108, 164, 40, 80, 1.41e9, 2.04e12);
  else if (arch == "sm_90a")
    set("H100 SXM 80 GB (assumed)", 9, 132, 228, 50, 80, 1.98e9, 3.35e12);
  else if (arch == "sm_100")
    set("B200 (assumed)", 10, 148, 228, 126, 180, 1.96e9, 7.7e12);
  else
    throw Error(Errc::invalid_argument,
                "no typical device of architecture '" + arch + "' is known: there are sm_80, sm_90a and sm_100");
  d.tuned = std::make_shared<const TunedTable>(shipped_table(d.name));
  return d;
}

}  // namespace ts::inline v0::cuda
