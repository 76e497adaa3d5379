#include "tallskinny/app/common/rank_prediction.hpp"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::app {

namespace {

using solvers::MachineModel;
using solvers::RankCost;
using solvers::RankPrediction;

constexpr std::array<std::pair<const char*, double MachineModel::*>, 9> rates = {
    {{"memory_bytes", &MachineModel::memory_bytes},
     {"memory_bytes_per_second", &MachineModel::memory_bytes_per_second},
     {"flops_per_second", &MachineModel::flops_per_second},
     {"narrow_flops_per_second", &MachineModel::narrow_flops_per_second},
     {"message_seconds", &MachineModel::message_seconds},
     {"network_bytes_per_second", &MachineModel::network_bytes_per_second},
     {"node_message_seconds", &MachineModel::node_message_seconds},
     {"node_bytes_per_second", &MachineModel::node_bytes_per_second},
     {"read_bytes_per_second", &MachineModel::read_bytes_per_second}}};

/// Takes the values that keys have away from `json`, so that what is left has no meaning.
class Keys {
 public:
  Keys(std::string file, nlohmann::json json) : file_(std::move(file)), json_(std::move(json)) {
    if (!json_.is_object()) throw Error(Errc::bad_input, file_ + " is no JSON object that describes a machine");
  }
  nlohmann::json take(const std::string& key, const char* kind, bool (*fits)(const nlohmann::json&)) {
    const auto found = json_.find(key);
    if (found == json_.end()) throw Error(Errc::bad_input, file_ + ": the key \"" + key + "\" is missing");
    if (!fits(*found)) throw Error(Errc::bad_input, file_ + ": \"" + key + "\" must be " + kind);
    nlohmann::json value = std::move(*found);
    json_.erase(found);
    return value;
  }
  void expect_none() const {
    if (!json_.empty())
      throw Error(Errc::bad_input, file_ + ": \"" + json_.begin().key() + "\" is no key of a machine");
  }

 private:
  std::string file_;
  nlohmann::json json_;
};

std::string bytes_text(double bytes) { return human_bytes(static_cast<std::uint64_t>(bytes)); }

void print_cost(std::ostream& out, const char* what, const RankCost& cost) {
  out << what << ": " << human_seconds(cost.seconds()) << " (memory " << human_seconds(cost.memory_seconds)
      << " or arithmetic " << human_seconds(cost.arithmetic_seconds) << ", latency "
      << human_seconds(cost.latency_seconds) << ", network " << human_seconds(cost.network_seconds) << ")\n"
      << "  moves " << bytes_text(cost.moved) << ", " << short_number(cost.flops / 1e9, 3) << " Gflop, sends "
      << bytes_text(cost.sent) << " in " << grouped(static_cast<std::int64_t>(cost.messages))
      << " messages that follow each other\n";
}

JsonObject cost_json(const RankCost& cost) {
  JsonObject json;
  json.add("seconds", cost.seconds()).add("bytes_moved", cost.moved).add("flops", cost.flops);
  json.add("messages", cost.messages).add("bytes_sent", cost.sent);
  json.add("memory_seconds", cost.memory_seconds).add("arithmetic_seconds", cost.arithmetic_seconds);
  json.add("latency_seconds", cost.latency_seconds).add("network_seconds", cost.network_seconds);
  return json;
}

}  // namespace

void add_ranks_options(Options& options, RanksOptions& target) {
  options
      .custom("ranks", "P", "",
              "with --dry-run: predict what one of P ranks would move, send, need and take, without starting them",
              "an integer from 1 to 2^31 - 1",
              [&target](std::string_view text) {
                return parse_value(text, target.ranks) && target.ranks >= 1 && target.ranks <= 2147483647;
              })
      .custom(
          "machine", "FILE.json", "", "with --ranks: the machine, like those in data/machines", "a file name",
          [&target](std::string_view text) { return parse_value(text, target.machine) && !target.machine.empty(); });
}

void check_ranks_options(const RanksOptions& options, const CommonOptions& common) {
  if (!options.asked() && options.machine.empty()) return;
  expects(options.asked() && !options.machine.empty(), "--ranks P and --machine FILE.json go together");
  expects(common.dry_run, "--ranks and --machine predict a run and need --dry-run; mpirun -n P or srun starts ranks");
}

MachineModel read_machine(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw Error(Errc::bad_input, file + " cannot be opened");
  std::ostringstream text;
  if (!(text << in.rdbuf())) throw Error(Errc::bad_input, file + " cannot be read");
  auto parsed = nlohmann::json::parse(text.str(), nullptr, false);
  if (parsed.is_discarded()) throw Error(Errc::bad_input, file + " is no JSON");
  Keys keys(file, std::move(parsed));
  const auto is_text = [](const nlohmann::json& v) { return v.is_string(); };
  MachineModel m;
  m.name = keys.take("name", "a string", is_text).get<std::string>();
  (void)keys.take("source", "a string: where the figures come from", is_text);
  m.gpu = keys.take("gpu", "true or false", [](const nlohmann::json& v) { return v.is_boolean(); }).get<bool>();
  m.ranks_per_node = keys.take("ranks_per_node", "an integer of at least 1",
                               [](const nlohmann::json& v) {
                                 return v.is_number_integer() && v.get<double>() >= 1 && v.get<double>() < 1e9;
                               })
                         .get<index_t>();
  for (const auto& [key, member] : rates)
    m.*member =
        keys.take(key, "a number above 0", [](const nlohmann::json& v) { return v.is_number() && v.get<double>() > 0; })
            .get<double>();
  keys.expect_none();
  return m;
}

std::string machine_text(const MachineModel& machine, const std::string& source) {
  JsonObject json;
  json.add("name", machine.name).add("source", source).add("gpu", machine.gpu);
  json.add("ranks_per_node", machine.ranks_per_node);
  for (const auto& [key, member] : rates) json.add(key, machine.*member);
  return json.text() + '\n';
}

void print_prediction(std::ostream& out, const MachineModel& machine, const RankPrediction& p) {
  const index_t nodes = (p.ranks + machine.ranks_per_node - 1) / machine.ranks_per_node;
  out << "predicted for " << grouped(p.ranks) << (p.ranks == 1 ? " rank" : " ranks") << " on " << grouped(nodes)
      << (nodes == 1 ? " node" : " nodes") << " of " << machine.name << ", " << grouped(p.rows)
      << " rows for a rank at most: about " << human_seconds(p.seconds()) << '\n';
  print_cost(out, "a step", p.step);
  print_cost(out, "before and after the steps", p.start);
  out << grouped(static_cast<std::int64_t>(p.steps)) << " steps are assumed; reading takes "
      << human_seconds(p.read_seconds) << ", writing by rank 0 " << human_seconds(p.write_seconds) << '\n'
      << (machine.gpu ? "memory of a rank's GPU:\n" : "memory of a rank:\n");
  print_memory(out, p.memory, static_cast<std::uint64_t>(machine.memory_bytes));
  for (const std::string& limit : p.limits) out << "limit: " << limit << '\n';
}

void add_prediction(JsonObject& json, const MachineModel& machine, const RankPrediction& p) {
  JsonObject found;
  found.add("machine", machine.name).add("ranks", p.ranks).add("ranks_with_rows", p.working);
  found.add("rows_of_rank", p.rows).add("steps", p.steps).add("seconds", p.seconds());
  found.add("step", cost_json(p.step)).add("start_and_end", cost_json(p.start));
  found.add("read_seconds", p.read_seconds).add("write_seconds", p.write_seconds);
  add_memory(found, p.memory, static_cast<std::uint64_t>(machine.memory_bytes));
  found.add("limits", p.limits);
  json.add("prediction", found);
}

}  // namespace ts::app
