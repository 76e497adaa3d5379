#include "tallskinny/io/matrix/pairs.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

template <class T>
void sort_line(CsrMatrix<T>& a, index_t row, std::vector<std::pair<std::int32_t, T>>& line) {
  const auto begin = static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(row)]),
             end = static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(row) + 1]);
  if (std::is_sorted(a.indices.data() + begin, a.indices.data() + end)) return;
  line.clear();
  for (std::size_t k = begin; k < end; ++k) line.emplace_back(a.indices[k], a.values[k]);
  std::stable_sort(line.begin(), line.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  for (std::size_t k = begin; k < end; ++k) std::tie(a.indices[k], a.values[k]) = line[k - begin];
}

}  // namespace

template <class T>
Pairs<T>::Pairs(index_t rows, index_t cols, RowRange range, Structure mirrored, Subject subject,
                std::function<void(std::uint64_t)> hold)
    : rows_(rows),
      cols_(cols),
      range_(range),
      mirrored_(mirrored),
      subject_(std::move(subject)),
      hold_(std::move(hold)) {
  subject_.by_columns = false, subject_.first_line = range.begin;
  if (mirrored != Structure::general) subject_.name += " (with its mirror image)";
}

template <class T>
void Pairs<T>::reserve(index_t entries) {
  const auto count = static_cast<std::size_t>(entries);
  places_.reserve(count), columns_.reserve(count), values_.reserve(count);
}

template <class T>
void Pairs<T>::grow() {
  constexpr index_t entry_bytes = sizeof(index_t) + sizeof(std::int32_t) + sizeof(T);
  const index_t more = std::max<index_t>(kept(), 4096);
  // Twice: while lists grow the old ones are there, too, and in the end the rows.
  hold_(product({2, more, entry_bytes}));
  reserve(kept() + more);
}

template <class T>
void Pairs<T>::refuse(index_t row) const {
  io::refuse(subject_.name, joined("has entry ", seen_, " in row ", row, ", outside 0..", rows_ - 1));
}

template <class T>
CsrMatrix<T> Pairs<T>::assembled() && {
  auto a = gathered<T>(range_.count(), cols_, [this](const auto& put) {
    for (std::size_t k = 0; k < places_.size(); ++k) put(places_[k], columns_[k], values_[k]);
  });
  places_ = {}, columns_ = {}, values_ = {};
  // Pairs come in any order; only duplicates are the subject's to refuse.
  std::vector<std::pair<std::int32_t, T>> line;
  for (index_t i = 0; i < a.rows; ++i) sort_line(a, i, line);
  check_lines(a, subject_);
  return a;
}

TS_FOR_EACH_RESULT_TYPE(TS_CLASS, Pairs)

template <class T>
CsrMatrix<T> assembled(const WholeLines& lines, const T* values, const Description& d, const ReadOptions& options) {
  const std::string name = d.where.text();
  check_pointers(lines.pointers, std::ssize(lines.minor), Subject{name, lines.by_columns});
  const index_t across = lines.by_columns ? lines.rows : lines.cols;
  const bool turned = lines.by_columns != options.transpose;
  return collected<T>(d, name, options, [&](const auto& add) {
    for (index_t line = 0; line + 1 < std::ssize(lines.pointers); ++line)
      for (index_t k = lines.pointers[line]; k < lines.pointers[line + 1]; ++k) {
        const index_t other = lines.minor[k];
        if (other < 0 || other >= across)
          refuse(name, joined("has an entry outside its shape in ", lines.by_columns ? "column " : "row ", line));
        turned ? add(other, line, values[k]) : add(line, other, values[k]);
      }
  });
}

void set_lines(Description& d, index_t rows, index_t cols, index_t entries, const ReadOptions& options) {
  set_sparse(d, rows, cols, entries, options);
  const index_t lists = 16 + static_cast<index_t>(size_of(d.type));  // beside the pairs
  d.peak_bytes = sum({d.peak_bytes, product({entries, lists}), product({std::max(rows, cols), 16})});
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, assembled)

}  // namespace ts::inline v0::io
