#include "tallskinny/io/row_reader.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/binary/npy.hpp"
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/parts.hpp"
#include "tallskinny/io/file/formats.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

constexpr index_t piece_bytes = index_t{16} << 20;

std::size_t position(index_t i) { return static_cast<std::size_t>(i); }

/// Rows that lack values, and the means that replace these; known once all rows were read.
class MissingValues {
 public:
  /// Reads rows of a file, contiguous, without a check, to a buffer of the type of its elements.
  using Read = std::function<void(RowRange rows, void* out)>;

  /// Reads all rows of the table, piece by piece.
  /// @throws Error(bad_input) for a column that has no value; Error(invalid_argument) for complex numbers.
  MissingValues(const Description& all, Missing how, const Read& read);

  /// Writes the number of incomplete rows, and of rows left, into the description of all rows.
  void describe(Description& d) const;
  /// Reads rows by their numbers among those left.
  void read(RowRange rows, const Read& read, void* out) const;

 private:
  /// Number of a remaining row in the file.
  [[nodiscard]] index_t row_in_file(index_t row) const;

  Missing how_;
  DType type_;
  index_t cols_, rows_of_piece_;
  std::vector<index_t> dropped_;  ///< rows of the file, in order
  std::vector<double> means_;     ///< of columns
  index_t filled_ = 0;
};

MissingValues::MissingValues(const Description& all, Missing how, const Read& read)
    : how_(how), type_(all.type), cols_(all.cols) {
  if (parts_of(all.type) == 2)
    throw Error(Errc::invalid_argument, "--missing is for real numbers, and " + all.where.text() + " is complex");
  if (cols_ == 0) return;  // however many rows there are
  const index_t row_bytes = std::max<index_t>(1, cols_ * static_cast<index_t>(size_of(type_)));
  const index_t chunk = std::max<index_t>(1, all.chunk_rows);  // is unpacked once
  rows_of_piece_ = (piece_bytes / row_bytes + chunk) / chunk * chunk;
  means_.resize(how == Missing::mean ? position(cols_) : 0);
  std::vector<index_t> counts(means_.size(), all.rows);
  by_real_type(type_, [&]<class T>(std::type_identity<T>) {
    Matrix<T> piece(std::min(rows_of_piece_, all.rows), cols_);
    for (index_t first = 0; first < all.rows; first += rows_of_piece_) {
      const index_t count = std::min(rows_of_piece_, all.rows - first);
      read({first, first + count}, piece.data());
      for (index_t i = 0; i < count; ++i) {
        index_t missing = 0;
        for (index_t j = 0; j < cols_; ++j) {
          const auto value = to_wide(piece(i, j));
          const bool is_missing = std::isnan(value);
          missing += is_missing ? 1 : 0;
          if (how == Missing::drop) continue;
          counts[position(j)] -= is_missing ? 1 : 0;
          means_[position(j)] += is_missing ? 0 : value;
        }
        if (how == Missing::mean)
          filled_ += missing;
        else if (missing > 0)
          dropped_.push_back(first + i);
      }
    }
  });
  for (std::size_t j = 0; j < means_.size(); ++j) {
    if (counts[j] == 0)
      throw Error(Errc::bad_input,
                  joined(all.where.text(), ": column ", j,
                         " (counted from 0 among those that are read) has no value in any row, so that it has "
                         "no mean; --drop leaves it out"));
    means_[j] /= static_cast<double>(counts[j]);
  }
}

void MissingValues::describe(Description& d) const {
  d.rows_dropped = std::ssize(dropped_), d.values_filled = filled_;
  const std::uint64_t beside = d.peak_bytes - d.bytes;
  set_dense(d, d.rows - d.rows_dropped, d.cols, d.type, {});
  d.peak_bytes = sum({d.bytes, beside});
}

index_t MissingValues::row_in_file(index_t row) const {
  // Before the q-th dropped row, dropped_[q] - q rows remain.
  index_t low = 0, high = std::ssize(dropped_);
  while (low < high) {
    const index_t middle = (low + high) / 2;
    if (dropped_[position(middle)] - middle <= row)
      low = middle + 1;
    else
      high = middle;
  }
  return row + low;
}

void MissingValues::read(RowRange rows, const Read& read, void* out) const {
  if (rows.count() == 0 || cols_ == 0) return;
  by_real_type(type_, [&]<class T>(std::type_identity<T>) {
    T* to = static_cast<T*>(out);
    if (how_ == Missing::mean) {
      read(rows, to);
      for (index_t q = 0; q < rows.count() * cols_; ++q)
        if (std::isnan(to_wide(to[q]))) to[q] = narrowed<T>(means_[position(q % cols_)]);
      return;
    }
    const RowRange here{row_in_file(rows.begin), row_in_file(rows.end - 1) + 1};
    auto next = std::lower_bound(dropped_.begin(), dropped_.end(), here.begin);
    Matrix<T> piece;
    for (index_t begin = here.begin; begin < here.end;) {
      const index_t end = std::min(here.end, (begin / rows_of_piece_ + 1) * rows_of_piece_);
      if (next == dropped_.end() || *next >= end) {
        read({begin, end}, to);
        to += (end - begin) * cols_, begin = end;
        continue;
      }
      if (piece.empty()) piece = Matrix<T>(std::min(rows_of_piece_, here.count()), cols_);
      read({begin, end}, piece.data());
      for (index_t i = begin; i < end; ++i) {
        if (next != dropped_.end() && *next == i) {
          ++next;
          continue;
        }
        to = std::copy_n(piece.data() + (i - begin) * cols_, cols_, to);
      }
      begin = end;
    }
  });
}

ReadOptions of_all_rows(ReadOptions options) {
  options.row_begin = 0, options.row_end = -1;
  return options;
}

/// The options for all rows, whatever they lack.
ReadOptions with_missing(ReadOptions options) {
  options.table.missing = Missing::refuse, options.check_finite = false;
  return of_all_rows(std::move(options));
}

/// Describes a dense matrix, all rows of it; refuses a sparse one.
Description described_dense(const Location& where, const ReadOptions& options) {
  Description d = describe(where, with_missing(options));
  if (d.sparse)
    throw Error(Errc::invalid_argument,
                "--missing is for tables and dense matrices, and " + d.where.text() + " is sparse");
  return d;
}

}  // namespace

Description describe_without_missing(const Location& where, const ReadOptions& options) {
  const ReadOptions all = of_all_rows(options);
  if (RowReader::reads(described_dense(where, options), options)) return RowReader(where, all).description();
  return read_without_missing(where, all).description;
}

MatrixFile read_without_missing(const Location& where, const ReadOptions& options) {
  const Description d = described_dense(where, options);
  MatrixFile result{d, {}};
  const auto take = [&](index_t rows, const auto& read) {
    const RowRange range = row_range(rows, options);
    by_real_type(d.type, [&]<class T>(std::type_identity<T>) {
      Matrix<T> a(range.count(), d.cols);
      read(range, a.data());
      if (options.check_finite)
        check_finite(HostView<const T>::unchecked(a.data(), a.rows(), a.cols(), a.cols()), range.begin, d.where.text());
      result.matrix = std::move(a);
    });
  };
  if (RowReader::reads(d, options)) {
    const RowReader reader(where, of_all_rows(options));
    result.description = reader.description();
    require_memory(bytes_of_rows(reader.description(), row_range(reader.description().rows, options), {}),
                   options.memory_limit, d.where.text());
    take(reader.description().rows,
         [&](RowRange range, void* out) { reader.read(range.begin, range.count(), false, out); });
    return result;
  }
  require_memory(sum({d.peak_bytes, d.bytes}), options.memory_limit, d.where.text());
  const MatrixFile whole = read_matrix(where, with_missing(options));
  std::visit(
      [&]<class T>(const Matrix<T>& a) {
        const MissingValues::Read rows = [&a](RowRange range, void* out) {
          std::copy_n(a.data() + range.begin * a.cols(), range.count() * a.cols(), static_cast<T*>(out));
        };
        const MissingValues missing(d, options.table.missing, rows);
        missing.describe(result.description);
        result.description.peak_bytes = sum({d.peak_bytes, d.bytes});
        take(result.description.rows, [&](RowRange range, void* out) { missing.read(range, rows, out); });
      },
      std::get<DenseMatrix>(whole.matrix));
  return result;
}

struct RowReader::State {
  std::unique_ptr<const FileBytes> file;  ///< as it was when it was opened
  Description description;
  RowRange range;
  ReadRows read;
  std::optional<MissingValues> missing = {};
};

bool RowReader::reads(const Description& matrix, const ReadOptions& options) {
  return (matrix.convention == "npy" || hdf5::has_signature(matrix.where.file)) && !matrix.sparse &&
         !options.transpose && !options.table.selects() && matrix.peak_bytes == matrix.bytes &&
         matrix.declared == Structure::general;
}

RowReader::RowReader(const Location& where, const ReadOptions& options) {
  auto file = std::make_unique<const FileBytes>(where.file);
  Description d;
  ReadRows read;
  const auto expect_readable = [&] {
    expects(reads(d, options), "a RowReader reads dense matrices in HDF5 or .npy that are stored by rows");
  };
  if (hdf5::has_signature(where.file)) {
    const Chosen chosen = choose(open_hdf5(where.file, options), where.object, options);
    d = describe_parts(chosen.parts, chosen.object, options);
    expect_readable();
    const auto& parts = std::get<DenseParts>(chosen.parts.content);
    if (parts.values.dataset) parts.values.dataset->require_readable();
    read = [name = chosen.object.name(), parts, type = d.type](RowRange rows, bool finite, void* out) {
      read_dense_rows(parts, type, rows, name, finite, out);
    };
  } else {
    d = describe(where, with_missing(options));
    expect_readable();
    read = npy_rows(where);
  }
  std::optional<MissingValues> missing;
  if (options.table.missing != Missing::refuse) {
    missing.emplace(d, options.table.missing, [&](RowRange rows, void* out) { read(rows, false, out); });
    missing->describe(d);
  }
  const RowRange range = row_range(d.rows, options);
  d.rows = range.count();
  state_ = std::make_unique<State>(State{std::move(file), std::move(d), range, std::move(read), std::move(missing)});
}

RowReader::~RowReader() = default;

const Description& RowReader::description() const noexcept { return state_->description; }

void RowReader::read(index_t first, index_t count, bool finite, void* out) const {
  const index_t begin = state_->range.begin + first;
  expects(first >= 0 && count >= 0 && begin + count <= state_->range.end, "rows outside of the matrix");
  const auto& [file, d, range, read, missing] = *state_;
  if (missing)
    missing->read(
        {begin, begin + count}, [&read = read](RowRange rows, void* to) { read(rows, false, to); }, out);
  else
    read({begin, begin + count}, finite, out);
  if (!file->unchanged())
    refuse(d.where.text(),
           "changed while it was read, so that old and new rows are mixed: run again when it no longer changes");
  if (!missing || !finite) return;
  by_real_type(d.type, [&, &where = d.where, cols = d.cols]<class T>(std::type_identity<T>) {
    check_finite(HostView<const T>::unchecked(static_cast<const T*>(out), count, cols, cols), begin, where.text());
  });
}

}  // namespace ts::inline v0::io
