#include "tallskinny/app/tssolve/tables.hpp"

#include "tallskinny/app/common/table_file.hpp"

namespace ts::app::tssolve {

namespace {

/// The table of one option, unless that was not given. @param fill adds its elements.
template <class T, class Fill>
void write_table(const std::string& file, index_t rows, index_t cols, const std::string& name, const Fill& fill,
                 std::vector<std::string>& written) {
  if (file.empty()) return;
  io::TableOutput<T> out = open_table<T>(file, rows, cols, {name});
  fill(out);
  out.commit();
  if (file != standard_stream) written.push_back(file + ": " + name + "s");
}

template <class T>
auto all_of(const Matrix<T>& a) {
  return [&a](io::TableOutput<T>& out) { out.add({a.data(), static_cast<std::size_t>(a.rows() * a.cols())}); };
}

template <class T>
void write_values(const std::vector<T>& values, const std::string& name, const std::string& file,
                  std::vector<std::string>& written) {
  write_table<T>(
      file, std::ssize(values), -1, name, [&values](io::TableOutput<T>& out) { out.add(values); }, written);
}

}  // namespace

bool prints_table(const Settings& s) {
  return takes_standard_output({s.values_out, s.vectors_out, s.left_vectors_out}, s.common.json);
}

bool writes_vectors(const Settings& s) { return !s.common.output.empty() || !s.vectors_out.empty(); }

template <class T>
void write_tables(const solvers::EigenResult<T>& result, const Settings& settings, const RunFacts& facts,
                  const Matrix<T>* left, const RowsOfRanks* ranks, std::vector<std::string>& written) {
  const bool svd = left != nullptr;
  write_values(result.values, svd ? "singular_value" : "eigenvalue", settings.values_out, written);
  const index_t rows = svd ? result.vectors.rows() : facts.input.rows, cols = result.vectors.cols();
  const auto pieces = [&](io::TableOutput<T>& out) {
    if (ranks == nullptr) return all_of(result.vectors)(out);
    ranks->each_piece(0, [&out](std::span<const std::byte> bytes) {
      out.add({reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)});
    });
  };
  write_table<T>(settings.vectors_out, rows, cols, svd ? "right_singular_vector" : "eigenvector", pieces, written);
  if (svd)
    write_table<T>(settings.left_vectors_out, left->rows(), left->cols(), "left_singular_vector", all_of(*left),
                   written);
}

void write_tables(const solvers::GeneralResult& result, const Settings& settings, std::vector<std::string>& written) {
  write_values(result.values, "eigenvalue", settings.values_out, written);
  const auto& vectors = result.vectors;
  write_table<std::complex<double>>(settings.vectors_out, vectors.rows(), vectors.cols(), "eigenvector",
                                    all_of(vectors), written);
}

#define TS_INSTANTIATE(T)                                                                                           \
  template void write_tables<T>(const solvers::EigenResult<T>&, const Settings&, const RunFacts&, const Matrix<T>*, \
                                const RowsOfRanks*, std::vector<std::string>&);
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::app::tssolve
