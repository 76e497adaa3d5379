#include "tallskinny/solvers/kmeans/variants_detail.hpp"

namespace ts::solvers::kmeans_detail {

Gathered::Gathered(const KMeansProblem& p, std::span<const index_t> numbers) {
  const index_t count = std::ssize(numbers), d = p.cols();
  std::size_t next = 0;
  std::vector<double> row;
  if (!p.weights.empty())
    for (const index_t i : numbers) weights_.push_back(p.weight(i));
  if (p.source.space() == Space::device) {
    dense_ = Matrix<double>(count, d);
    p.load_rows(numbers, dense_.view());
    return;
  }
  p.for_each_block([&](index_t first, const Rows& block) {
    sparse_ = block.sparse();
    if (next == 0 && !sparse_) dense_ = Matrix<double>(count, d);
    if (next == 0 && sparse_) csr_.rows = count, csr_.cols = d;
    for (; next < numbers.size() && numbers[next] < first + block.rows(); ++next) {
      const index_t i = numbers[next] - first;
      if (!sparse_) {
        block.load(i, dense_.data() + static_cast<index_t>(next) * d);
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
}

}  // namespace ts::solvers::kmeans_detail
