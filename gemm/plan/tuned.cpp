#include "tallskinny/gemm/plan/tuned.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <sstream>

#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/architectures.hpp"
#include "tallskinny/gemm/runtime/gpu/disk_cache.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"

namespace ts::inline v0::cuda {

namespace {

constexpr double worth_tuning = 64e6;  // bytes: below, starting the kernel is most of the time

std::string form_key(const Form& f) {
  return std::string(f.layout == Layout::row_major ? "r" : "c") + (f.contiguous ? "" : "g") +
         (f.gap > 0 ? std::to_string(f.gap) : "") + "a" + std::to_string(f.alignment);
}

/// Tables by device: all streams of a device share one, so that plans made with it can be kept.
struct InUse {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const TunedTable>> tables;
};
InUse& in_use() {
  static InUse all;
  return all;
}

std::optional<index_t> number_of(std::string_view text) {
  index_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// One word of a key with ranges. What is no number is in no range.
bool word_matches(std::string_view word, std::string_view other) {
  const std::size_t dots = word.find("..");
  if (dots == std::string_view::npos) return word == "*" || word == other;
  const auto first = number_of(word.substr(0, dots)), last = number_of(word.substr(dots + 2)),
             number = number_of(other);
  return first && last && number && *first <= *number && *number <= *last;
}

bool range_matches(const std::string& range, const std::string& key) {
  std::istringstream words(range), others(key);
  std::string word, other;
  while (words >> word)
    if (!(others >> other) || !word_matches(word, other)) return false;
  return !(others >> other);
}

std::string users_key(const std::string& device_name) { return "tuned kernels of " + device_name; }

}  // namespace

bool is_tuned(const GpuProblem& p) {
  return p.determinism != Determinism::gpu_to_gpu && cost_of(p.problem).bytes() >= worth_tuning;
}

std::string tuned_key(const GpuProblem& p) {
  const Problem& pr = p.problem;
  if (!is_tuned(p)) return {};
  std::string key(name_of(pr.operation));
  key.append(" ").append(name_of(pr.type));
  // The order of a large square matrix is a size, not a width.
  if (pr.operation != Operation::tsm2r && pr.operation != Operation::spmm) key += " " + std::to_string(pr.p);
  key += " " + std::to_string(pr.q) + " " + form_key(p.first) + "," + form_key(p.second) + "," + form_key(p.out);
  if (pr.operation == Operation::spmm)
    key += std::string(p.sparse.scattered >= 50 ? ",far" : ",near") +
           (p.sparse.uneven >= 100 || p.sparse.longest > 512 ? ",uneven" : ",even") +
           (pr.nonzeros >= 32 * pr.n ? ",full" : "") + (pr.index_bytes == 8 ? ",long" : "") +
           (p.shifted ? ",shifted" : "");
  if (p.op != Op::none) key += p.op == Op::adjoint ? ",h" : ",t";
  if (pr.accumulate) key += ",+";
  return key;
}

TunedTable::TunedTable(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t mark = line.find(" gain ");
    std::istringstream rest(mark == std::string::npos ? "" : line.substr(mark + 6));
    TunedChoice choice;
    std::string define;
    bool good = static_cast<bool>(rest >> choice.gain) && choice.gain > 0;
    while (good && rest >> define) {
      const std::size_t equals = define.find('=');
      good = equals != std::string::npos && equals > 0;
      if (good) choice.defines.emplace_back(define.substr(0, equals), define.substr(equals + 1));
    }
    if (!good || choice.defines.empty())
      throw Error(Errc::bad_input, "line " + std::to_string(number) +
                                       " of a tuned table is no key with a gain and defines: '" + line + "'");
    set(line.substr(0, mark), std::move(choice));
  }
}

std::string TunedTable::text() const {
  std::string all;
  for (const auto* some : {&choices_, &ranges_})
    for (const auto& [key, choice] : *some) {
      all += key + format(" gain %.3f", choice.gain);
      for (const auto& [name, value] : choice.defines) all.append(" ").append(name).append("=").append(value);
      all += "\n";
    }
  return all;
}

const TunedChoice* TunedTable::find(const GpuProblem& problem) const {
  if (size() == 0) return nullptr;
  const std::string key = tuned_key(problem);
  if (key.empty()) return nullptr;
  if (const auto found = choices_.find(key); found != choices_.end()) return &found->second;
  for (const auto& [range, choice] : ranges_)
    if (range_matches(range, key)) return &choice;
  return nullptr;
}

void TunedTable::merge(const TunedTable& other) {
  for (const auto& [key, choice] : other.choices_) choices_[key] = choice;
  for (const auto& [key, choice] : other.ranges_) ranges_[key] = choice;
}

bool has_defines(const KernelPlan& kernel, const Defines& defines) {
  return std::all_of(defines.begin(), defines.end(), [all = defines_of(kernel)](const auto& wanted) {
    return std::find(all.begin(), all.end(), wanted) != all.end();
  });
}

TunedTable shipped_table(const std::string& device_name) {
  for (const Source& table : tuned_texts())
    if (device_name.find(table.text.substr(2, table.text.find(',') - 2)) != std::string::npos)
      return TunedTable(table.text);
  return {};
}

DeviceInfo typical_device(const std::string& arch) {
  DeviceInfo d = assumed_device(arch);
  d.tuned = std::make_shared<const TunedTable>(shipped_table(d.name));
  return d;
}

TunedTable users_table(const std::string& device_name) {
  try {
    if (const auto text = DiskCache(default_cache_folder()).find(users_key(device_name))) return TunedTable(*text);
  } catch (const Error&) {  // written by another version: as good as none
  }
  return {};
}

void keep_users_table(const std::string& device_name, const TunedTable& table) {
  {
    const std::lock_guard lock(in_use().mutex);
    in_use().tables.erase(device_name);
  }
  DiskCache(default_cache_folder()).store(users_key(device_name), table.text());
}

std::shared_ptr<const TunedTable> tuned_for(const std::string& device_name) {
  const std::lock_guard lock(in_use().mutex);
  std::shared_ptr<const TunedTable>& known = in_use().tables[device_name];
  if (known == nullptr) {
    auto table = std::make_shared<TunedTable>(shipped_table(device_name));
    table->merge(users_table(device_name));
    known = std::move(table);
  }
  return known;
}

}  // namespace ts::inline v0::cuda
