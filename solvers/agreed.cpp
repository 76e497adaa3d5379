#include "tallskinny/solvers/agreed.hpp"

#include <optional>
#include <string>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0::solvers {

void agreed(const Context& ctx, const std::function<void()>& work) {
  if (ctx.communicator->size() == 1) return work();
  std::optional<Error> error;
  try {
    work();
  } catch (const Error& e) {
    error = e;
  }
  if (!any_rank(ctx, error.has_value())) return;
  struct Failed {
    int rank;
    Errc code;
  };
  std::vector<Failed> here;
  if (error) here.push_back({ctx.communicator->rank(), error->code()});
  const Failed first = gather_lists<Failed>(ctx, here).front();
  const bool mine = first.rank == ctx.communicator->rank();
  const std::string said = mine ? error->what() : "";
  const std::vector<char> sentence = gather_lists<char>(ctx, said);
  throw Error(first.code, std::string(sentence.begin(), sentence.end()), mine ? error->where() : Place::current());
}

}  // namespace ts::inline v0::solvers
