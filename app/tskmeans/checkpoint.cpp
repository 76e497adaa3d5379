#include "tallskinny/app/tskmeans/checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tallskinny/app/tskmeans/outputs.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/io/hash.hpp"
#include "tallskinny/solvers/agreed.hpp"

namespace ts::tskmeans {

namespace {

/// Hash of the rows in their stored type, taken by rows whatever the layout.
std::uint64_t hash_of_rows(const Rows& rows) {
  io::Hash hash;
  const index_t n = rows.rows(), d = rows.cols();
  const std::size_t size = size_of(rows.type());
  const auto* values = static_cast<const char*>(rows.values());
  if (rows.sparse()) {
    const index_t begin = rows.pointers()[0];
    const auto count = static_cast<std::size_t>(rows.pointers()[n] - begin);
    std::vector<index_t> entries(static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i) entries[static_cast<std::size_t>(i)] = rows.entries(i);
    return hash.add(std::span<const index_t>(entries))
        .add(std::span<const std::int32_t>(rows.indices() + begin, count))
        .add(values + static_cast<std::size_t>(begin) * size, count * size)
        .value();
  }
  const auto bytes = static_cast<std::size_t>(n * d) * size;
  if (rows.col_stride() == 1 && rows.row_stride() == d) return hash.add(values, bytes).value();
  std::vector<char> by_rows(bytes);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < d; ++j)
      std::memcpy(by_rows.data() + static_cast<std::size_t>(i * d + j) * size,
                  values + static_cast<std::size_t>(i * rows.row_stride() + j * rows.col_stride()) * size, size);
  return hash.add(by_rows.data(), bytes).value();
}

/// Pieces of chunk_rows rows, of which blocks are multiples, in their order.
std::uint64_t hash_of_points(const Context& ctx, const solvers::RowSource& rows) {
  std::vector<std::uint64_t> of_pieces;
  solvers::agreed(ctx, [&] {
    rows.for_each_block([&](index_t, const Rows& block) {
      const index_t count = (block.rows() + chunk_rows - 1) / chunk_rows;
      const std::size_t before = of_pieces.size();
      of_pieces.resize(before + static_cast<std::size_t>(count));
      parallel_for(ctx.thread_count(), count, [&](index_t p) {
        of_pieces[before + static_cast<std::size_t>(p)] =
            hash_of_rows(block.block(p * chunk_rows, std::min<index_t>(chunk_rows, block.rows() - p * chunk_rows)));
      });
    });
  });
  io::Hash all;
  all.add(static_cast<std::uint64_t>(all_rows(ctx, rows.rows()))).add(static_cast<std::uint64_t>(rows.cols()));
  all.add(static_cast<std::uint64_t>(rows.type()));
  for (const std::uint64_t piece : gather_lists<std::uint64_t>(ctx, of_pieces)) all.add(piece);
  return all.value();
}

std::uint64_t hash_of(const Context& ctx, const solvers::RowSource& rows, std::span<const double> weights) {
  io::Hash hash;
  hash.add(hash_of_points(ctx, rows));
  if (ctx.communicator->size() == 1) return hash.add(weights).value();
  const std::vector<double> of_all = gather_lists(ctx, weights);
  return hash.add(std::span<const double>(of_all)).value();
}

}  // namespace

RunKey key_of(const Context& ctx, const ProgramOptions& o, index_t k, HostView<const double> centers,
              const solvers::RowSource& rows, std::span<const double> weights) {
  io::Hash settings;
  settings.add(static_cast<std::uint64_t>(k)).add(static_cast<std::uint64_t>(o.kmeans.n_init));
  settings.add(o.kmeans.seed).add(o.kmeans.tol).add(name_of(o.kmeans.tolerance));
  settings.add(name_of(o.kmeans.metric)).add(name_of(o.kmeans.precision));
  settings.add(init_of(o.init) ? o.init : "file");
  for (index_t i = 0; i < centers.rows(); ++i)
    for (index_t j = 0; j < centers.cols(); ++j) settings.add(centers(i, j));
  return {settings.value(), hash_of(ctx, rows, weights)};
}

namespace {

void write_state(io::OutputFile& file, const Context& ctx, const app::RowsOfRanks& ranks, const RunKey& key,
                 const solvers::KMeansState& s) {
  const std::vector<std::int64_t> keys = {
      static_cast<std::int64_t>(key.settings >> 32), static_cast<std::int64_t>(key.settings & 0xffffffffu),
      static_cast<std::int64_t>(key.points >> 32), static_cast<std::int64_t>(key.points & 0xffffffffu)};
  file.write("key", std::span<const std::int64_t>(keys));
  write_labels(file, ctx, ranks, s.labels);
  file.write("cluster_centers", s.centers);
  const int stop = static_cast<int>(s.best_stop);
  const index_t k = s.best_centers.rows();
  const std::vector<std::int64_t> counts = {s.run,         s.iteration,      s.relocated, s.best_run,
                                            s.best_n_iter, s.best_relocated, stop,        k};
  file.write("counts", std::span<const std::int64_t>(counts));
  const std::vector<double> inertia = {s.best_inertia};
  file.write("best_inertia", std::span<const double>(inertia));
  if (s.best_centers.rows() > 0) file.write("best_centers", s.best_centers);
}

solvers::KMeansState read_own(const app::CheckpointFile& file, const Context& ctx, const RunKey& key, index_t k,
                              index_t n, index_t d, int runs) {
  file.expect_whole();
  const auto at = [&file](const char* object) { return io::Location{file.name(), object}; };
  const auto half = [](std::uint64_t x, int shift) { return static_cast<double>((x >> shift) & 0xffffffffu); };
  const std::vector<double> keys = io::read_vector(at("/key")), counts = io::read_vector(at("/counts"));
  const auto expect = [&file](bool holds) {
    if (!holds) file.refuse("holds an invalid state");
  };
  expect(keys.size() == 4 && counts.size() == 8);
  if (keys[2] != half(key.points, 32) || keys[3] != half(key.points, 0))
    file.refuse("belongs to other points or weights");
  if (keys[0] != half(key.settings, 32) || keys[1] != half(key.settings, 0))
    file.refuse(
        "was written with another --n-clusters, --init (afk-mc2 was removed), --n-init, --seed, --tol, --tol-mode, "
        "--metric or --precision");
  // Whole numbers from `low` to `high`.
  const auto count = [&](std::size_t q, double low, double high) {
    expect(counts[q] >= low && counts[q] <= high && counts[q] == std::floor(counts[q]));
    return static_cast<index_t>(counts[q]);
  };
  constexpr double most_steps = std::numeric_limits<int>::max(), most_moves = 9007199254740992.0;  // 2^53
  solvers::KMeansState s;
  s.run = static_cast<int>(count(0, 0, runs - 1));
  s.iteration = static_cast<int>(count(1, 1, most_steps)), s.relocated = count(2, 0, most_moves);
  s.best_run = static_cast<int>(count(3, 0, runs - 1));
  s.best_n_iter = static_cast<int>(count(4, 0, most_steps)), s.best_relocated = count(5, 0, most_moves);
  s.best_stop = static_cast<solvers::KMeansStop>(count(6, 0, static_cast<double>(solvers::KMeansStop::interrupted)));
  const auto k_rows = static_cast<double>(k);
  const index_t best_rows = count(7, s.run > 0 ? k_rows : 0, s.run > 0 ? k_rows : 0);
  s.centers = io::read_dense_as<double>(at("/cluster_centers"));
  expect(s.centers.rows() == k && s.centers.cols() == d);
  if (best_rows > 0) {
    s.best_centers = io::read_dense_as<double>(at("/best_centers"));
    expect(s.best_centers.rows() == k && s.best_centers.cols() == d);
  }
  const auto inertia = io::read_vector(at("/best_inertia"));
  expect(inertia.size() == 1);
  s.best_inertia = inertia[0];
  const index_t first = first_row(ctx);
  const io::VectorPart labels = io::read_vector_part(at("/labels"), first, first + n);
  expect(labels.size == all_rows(ctx, n));
  s.labels.reserve(labels.values.size());
  for (const double label : labels.values) {
    expect(label >= 0 && label < k_rows);
    s.labels.push_back(static_cast<std::int32_t>(label));
  }
  return s;
}

}  // namespace

void keep_state(app::CheckpointFile& file, const Context& ctx, const RunKey& key, const solvers::KMeansState& state) {
  app::with_rows_of_ranks(ctx, {own_labels(state.labels)}, [&](const app::RowsOfRanks& ranks) {
    file.write([&](io::OutputFile& out) { write_state(out, ctx, ranks, key, state); });
  });
  if (ctx.communicator->rank() > 0) file.written_by_another();
}

solvers::KMeansState read_state(const app::CheckpointFile& file, const Context& ctx, const RunKey& key, index_t k,
                                index_t n, index_t d, int runs) {
  solvers::KMeansState state;
  solvers::agreed(ctx, [&] { state = read_own(file, ctx, key, k, n, d, runs); });
  return state;
}

}  // namespace ts::tskmeans
