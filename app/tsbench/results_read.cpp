#include <fstream>
#include <nlohmann/json.hpp>

#include "tallskinny/app/tsbench/page.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::bench {

StoredResults read_results(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(Errc::bad_input, path + " cannot be opened");
  StoredResults stored;
  try {
    const nlohmann::json all = nlohmann::json::parse(file);
    PageHeader& h = stored.header;
    h.device = all.at("device"), h.date = all.at("date"), h.commit = all.at("commit");
    h.vendor = all.value("vendor", "");
    h.read_bytes_per_second = all.at("read_bytes_per_second");
    h.copy_bytes_per_second = all.at("copy_bytes_per_second");
    for (const nlohmann::json& r : all.at("results")) {
      Cell c;
      c.table = r.at("table"), c.operation = r.at("operation"), c.type = r.at("type"), c.form = r.at("form");
      c.n = r.at("n"), c.p = r.at("p"), c.q = r.at("q");
      c.same_bits = r.at("same_bits");
      if (r.at("right")) {
        c.seconds = r.at("median_seconds"), c.share = r.at("roof_share");
        c.ratio = r.value("times_vendor", 0.0);
        c.sector_share = r.value("sector_share", 0.0);
      }
      stored.cells.push_back(std::move(c));
    }
  } catch (const nlohmann::json::exception& e) {
    throw Error(Errc::bad_input, "'" + path + "' is no file of tsbench gpu: " + e.what());
  }
  if (stored.cells.empty()) throw Error(Errc::bad_input, "'" + path + "' holds no results");
  return stored;
}

}  // namespace ts::bench
