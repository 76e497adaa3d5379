#include "tallskinny/gemm/assign/seeding/chains.hpp"

#include "tallskinny/gemm/assign/seeding/rows_in_unit.hpp"

namespace ts::inline v0 {

namespace {

/// When each row is visited last: the number of a chain.
std::vector<std::int32_t> last_visits(index_t rows, std::span<const std::int32_t> row_of, index_t length) {
  std::vector<std::int32_t> last(static_cast<std::size_t>(rows), -1);
  for (std::size_t link = 0; link < row_of.size(); ++link)
    last[static_cast<std::size_t>(row_of[link])] = static_cast<std::int32_t>(static_cast<index_t>(link) / length);
  return last;
}

}  // namespace

template <class S>
std::vector<std::int32_t> follow_chains(const Context& ctx, const ChainLinks<S>& of) {
  const index_t n = of.x.rows(), links = std::ssize(of.row_of), chains = links / of.length;
  expects(of.x.on_device() && std::ssize(of.squared) == n && links == chains * of.length && links > 0 &&
              links < INT32_MAX && of.ratio.size() == of.row_of.size() && of.uniforms.size() == of.row_of.size(),
          "follow_chains(): rows on a device, and numbers for each row and for each link of whole chains");
  const assign_device::RowsInUnit<S> rows(ctx, of.x, of.unit);
  const std::vector<std::int32_t> last = last_visits(n, of.row_of, of.length);
  assign_device::Workspace w;
  const std::size_t squared = w.reserve<S>(n), visits = w.reserve<std::int32_t>(n),
                    row_of = w.reserve<std::int32_t>(links), ratio = w.reserve<double>(links),
                    uniforms = w.reserve<double>(links), arrivals = w.reserve<std::uint32_t>(1),
                    ends = w.reserve<std::int32_t>(chains + 1);  // and how many there are
  w.get(ctx.stream);
  const auto send = [&](std::size_t to, auto numbers) {
    cuda::copy_bytes(ctx.stream, w.at<char>(to), numbers.data(), numbers.size_bytes());
  };
  send(squared, of.squared), send(visits, std::span(last)), send(row_of, of.row_of);
  send(ratio, of.ratio), send(uniforms, of.uniforms);
  cuda::fill_bytes(ctx.stream, w.at<char>(arrivals), 0, sizeof(std::uint32_t));
  cuda::launch_with<cuda::SeedChainsPolicy>(
      ctx, cuda::seed_chains_plan(assign_device::is_wide<S>, n, ctx.stream.device()),
      {rows.data(), static_cast<int>(n), static_cast<int>(rows.ld), w.at<S>(squared), w.at<std::int32_t>(visits),
       w.at<std::int32_t>(row_of), w.at<double>(ratio), w.at<double>(uniforms), static_cast<int>(chains),
       static_cast<int>(of.length), w.at<std::uint32_t>(arrivals), w.at<std::int32_t>(ends),
       w.at<std::int32_t>(ends) + chains});
  std::vector<std::int32_t> found(static_cast<std::size_t>(chains) + 1);
  assign_device::fetch_numbers(ctx, std::span(found), w.at<std::int32_t>(ends));
  found.resize(static_cast<std::size_t>(found.back()));
  return found;
}

template decltype(follow_chains<float>) follow_chains<float>;
template decltype(follow_chains<double>) follow_chains<double>;

}  // namespace ts::inline v0
