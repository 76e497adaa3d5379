#include "tallskinny/app/common/flags.hpp"

#include <string_view>
#include <utility>

namespace ts::app {

namespace {

constexpr std::pair<std::string_view, std::string_view> flags[] = {{"`nev`", "--nev"},
                                                                   {"`which`", "--which"},
                                                                   {"`target`", "--sigma"},
                                                                   {"`tol`", "--tol"},
                                                                   {"`convergence`", "--conv"},
                                                                   {"`method`", "--method"},
                                                                   {"`precision`", "--precision"},
                                                                   {"`preconditioner`", "--preconditioner"},
                                                                   {"`block_size`", "--block-size"},
                                                                   {"`max_basis`", "--max-basis"},
                                                                   {"`max_iterations`", "--max-iter"},
                                                                   {"`centred`", "--centre"},
                                                                   {"`symmetrise`", "--symmetrise"},
                                                                   {"`algorithm`", "--algorithm"},
                                                                   {"`predict`", "--predict"},
                                                                   {"`transform`", "--transform"},
                                                                   {"`sample`", "--sample"}};

}  // namespace

std::string with_flags(std::string sentence) {
  for (const auto& [member, flag] : flags)
    for (auto at = sentence.find(member); at != std::string::npos; at = sentence.find(member, at))
      sentence.replace(at, member.size(), flag);
  return sentence;
}

}  // namespace ts::app
