#include "tallskinny/app/tssolve/flags.hpp"

#include <array>
#include <utility>

namespace ts::app::tssolve {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 13> flags = {{{"`nev`", "--nev"},
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
                                                                        {"`symmetrise`", "--symmetrise"}}};

}  // namespace

std::string with_flags(std::string sentence) {
  for (const auto& [member, flag] : flags)
    for (auto at = sentence.find(member); at != std::string::npos; at = sentence.find(member, at))
      sentence.replace(at, std::string_view(member).size(), flag);
  return sentence;
}

}  // namespace ts::app::tssolve
