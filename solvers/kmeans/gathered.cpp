#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/gathered_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

Gathered::Gathered(const KMeansProblem& p, std::span<const index_t> numbers) {
  const index_t count = std::ssize(numbers), d = p.cols();
  if (p.weighted()) weights_ = p.weights_at(numbers);
  if (p.source.space() == Space::device) {
    dense_ = Matrix<double>(count, d);
    p.load_rows(numbers, dense_.view());
    return;
  }
  const std::vector<index_t> here = p.here_of(numbers);
  std::vector<double> row, dense;
  std::size_t next = 0;
  p.for_each_block([&](index_t first, const Rows& block) {
    sparse_ = block.sparse();
    if (next == 0 && !sparse_) dense.resize(here.size() * at(d));
    for (; next < here.size() && here[next] < first + block.rows(); ++next) {
      const index_t i = here[next] - first;
      if (!sparse_) {
        block.load(i, dense.data() + static_cast<index_t>(next) * d);
        continue;
      }
      row.resize(at(block.entries(i)));
      block.load_entries(i, row.data());
      const std::int32_t* columns = block.indices() + block.pointers()[i];
      csr_.indices.insert(csr_.indices.end(), columns, columns + row.size());
      csr_.values.insert(csr_.values.end(), row.begin(), row.end());
      csr_.pointers.push_back(static_cast<index_t>(csr_.values.size()));
    }
  });
  sparse_ = any_rank(p.ctx, sparse_);
  if (sparse_) {
    csr_.rows = count, csr_.cols = d;
    if (p.distributed()) gather_entries(p);
    return;
  }
  dense_ = Matrix<double>(count, d);
  dense = gather_from_owners(p.ctx, numbers, std::move(dense), d);
  std::copy(dense.begin(), dense.end(), dense_.data());
}

void Gathered::gather_entries(const KMeansProblem& p) {
  std::vector<index_t> lengths;
  for (std::size_t q = 1; q < csr_.pointers.size(); ++q) lengths.push_back(csr_.pointers[q] - csr_.pointers[q - 1]);
  lengths = gather_lists<index_t>(p.ctx, lengths);
  csr_.pointers.assign(1, 0);
  for (const index_t length : lengths) csr_.pointers.push_back(csr_.pointers.back() + length);
  csr_.indices = gather_lists<std::int32_t>(p.ctx, csr_.indices);
  csr_.values = gather_lists<double>(p.ctx, csr_.values);
}

}  // namespace ts::inline v0::solvers::kmeans_detail
