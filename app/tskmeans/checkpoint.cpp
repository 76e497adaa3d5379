#include "tallskinny/app/tskmeans/checkpoint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::tskmeans {

namespace {

constexpr double version = 1;

/// FNV-1a, of which 52 bits are kept: a double holds them.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      value_ = (value_ ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  }
  template <class T>
  void add(const T& value) {
    add(&value, sizeof value);
  }
  void add(const std::string& text) { add(text.data(), text.size() + 1); }
  [[nodiscard]] double value() const { return static_cast<double>(value_ >> 12); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace

RunKey key_of(const ProgramOptions& o, index_t k, const solvers::RowSource& rows,
              std::span<const double> weights) {
  Hash settings;
  settings.add(k), settings.add(o.init), settings.add(o.kmeans.n_init), settings.add(o.kmeans.seed);
  if (o.kmeans.precision != solvers::KMeansPrecision::exact) settings.add(name_of(o.kmeans.precision));
  if (o.init == "afk-mc2") settings.add(o.kmeans.chain);
  settings.add(o.kmeans.tol), settings.add(name_of(o.kmeans.tolerance)),
      settings.add(name_of(o.kmeans.metric));
  Hash points;
  points.add(rows.rows()), points.add(rows.cols());
  constexpr index_t sample = 64;
  std::vector<double> row(static_cast<std::size_t>(rows.cols()));
  for (index_t q = 0; q < std::min(sample, rows.rows()); ++q) {
    rows.load(rows.rows() <= sample ? q : q * (rows.rows() - 1) / (sample - 1), row.data());
    points.add(row.data(), row.size() * sizeof(double));
  }
  points.add(weights.data(), weights.size_bytes());
  return {settings.value(), points.value()};
}

void write_checkpoint(const std::string& name, const RunKey& key, const solvers::KMeansState& s) {
  io::OutputFile file(name);
  const std::vector<double> keys = {version, key.settings, key.points};
  file.write("key", std::span<const double>(keys));
  file.write("labels", std::span<const std::int32_t>(s.labels));
  file.write("cluster_centers", s.centers);
  const std::vector<std::int64_t> counts = {s.run,
                                            s.iteration,
                                            s.relocated,
                                            s.best_run,
                                            s.best_n_iter,
                                            s.best_relocated,
                                            static_cast<int>(s.best_stop),
                                            s.best_centers.rows()};
  file.write("counts", std::span<const std::int64_t>(counts));
  const std::vector<double> inertia = {s.best_inertia};
  file.write("best_inertia", std::span<const double>(inertia));
  if (s.best_centers.rows() > 0) file.write("best_centers", s.best_centers);
  file.attribute("/", "kind", "tskmeans checkpoint");
  file.commit();
}

solvers::KMeansState read_checkpoint(const std::string& name, const RunKey& key) {
  const auto at = [&name](const char* object) { return io::Location{name, object}; };
  std::vector<double> keys, counts;
  try {
    keys = io::read_vector(at("/key"));
    counts = io::read_vector(at("/counts"));
  } catch (const Error& e) {
    if (e.code() != Errc::bad_input || !std::filesystem::exists(name)) throw;
    throw Error(Errc::bad_input, name + " is not a checkpoint of tskmeans");
  }
  if (keys.size() != 3 || keys[0] != version || counts.size() != 8)
    throw Error(Errc::bad_input, name + " is not a checkpoint of this version of tskmeans");
  if (keys[2] != key.points) throw Error(Errc::bad_input, name + " belongs to other points or weights");
  if (keys[1] != key.settings)
    throw Error(Errc::bad_input,
                name +
                    " was written with another --n-clusters, --init, --n-init, --seed, --tol, "
                    "--tol-mode, --metric, --precision or --chain-length");
  solvers::KMeansState s;
  const auto count = [&counts](std::size_t q) { return static_cast<int>(counts[q]); };
  s.run = count(0), s.iteration = count(1), s.relocated = static_cast<index_t>(counts[2]);
  s.best_run = count(3), s.best_n_iter = count(4), s.best_relocated = static_cast<index_t>(counts[5]);
  s.best_stop = static_cast<solvers::KMeansStop>(count(6));
  s.centers = io::read_dense_as<double>(at("/cluster_centers"));
  if (counts[7] > 0) s.best_centers = io::read_dense_as<double>(at("/best_centers"));
  s.best_inertia = io::read_vector(at("/best_inertia")).at(0);
  for (const double label : io::read_vector(at("/labels"))) {
    if (label < 0 || label >= static_cast<double>(s.centers.rows()))
      throw Error(Errc::bad_input, name + ": a label is not the number of a cluster");
    s.labels.push_back(static_cast<std::int32_t>(label));
  }
  return s;
}

}  // namespace ts::tskmeans
