// Results in HDF5 files that are either complete or not there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

/// State of a file that should carry a signature.
enum class SealState {
  foreign,  ///< it does not begin with the signature
  damaged,  ///< length or checksum are not those that were written
  whole
};
/// Checks the seal of a file: reads its first bytes and, where they are the signature, all of it. Nothing in the file
/// is used before.
/// @param contents false: to read the first bytes only; `whole` then means that they are the signature.
/// @throws Error(bad_input) naming the file when it cannot be read.
[[nodiscard]] SealState state_of_seal(const std::filesystem::path& file, std::string_view signature,
                                      bool contents = true);

struct OutputOptions {
  int gzip = 0;  ///< compression level of large datasets, 1..9 with byte shuffling; 0: none
  /// A line that says what the file is: with it, the file begins by a user block of 512 bytes with this line,
  /// the length of what follows and a checksum of it (see state_of_seal); empty: none.
  std::string signature = {};
};

/// Writes an HDF5 file under a temporary name in the target's folder. commit() syncs it to the disk and
/// renames it; without commit the destructor removes it and the target stays as it was.
/// Object names are paths ("labels", "pca/centers"); missing groups are made. Complex elements are stored as
/// {r, i} as h5py does, datasets above 1 MiB in chunks of about 1 MiB.
/// @throws Error(io_failure) with the path and the cause, from every call.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& target, const OutputOptions& options = {});
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) noexcept = default;

  void write(std::string_view object, std::span<const double> values);
  void write(std::string_view object, std::span<const float> values);
  void write(std::string_view object, std::span<const std::complex<double>> values);
  void write(std::string_view object, std::span<const std::complex<float>> values);
  void write(std::string_view object, std::span<const std::int64_t> values);
  void write(std::string_view object, std::span<const std::int32_t> values);

  /// A two-dimensional dataset rows x cols, T any of the six types.
  template <class T, Layout L>
  void write(std::string_view object, HostView<const T, L> matrix) {
    write_matrix(object, Strided<const T>(matrix));
  }
  template <class T, Layout L>
  requires(!std::is_const_v<T>) void write(std::string_view object, HostView<T, L> matrix) {
    write_matrix(object, Strided<const T>(matrix));
  }
  template <class T, Layout L>
  void write(std::string_view object, const Matrix<T, Space::host, L>& matrix) {
    write(object, matrix.view());
  }

  /// A dataset rows x cols (cols -1: a list) that add_rows fills, so that nobody needs to have all of it. T: any of the
  /// six types, int64 or int32.
  template <class T>
  void begin_rows(std::string_view object, index_t rows, index_t cols = -1);
  /// The next rows of it, one after the other, as many as there are values for; the last ones end it.
  /// @throws Error(invalid_argument) for a dataset that was not begun with this T or is whole, and for values that are
  /// no whole rows or too many.
  template <class T>
  void add_rows(std::string_view object, std::span<const T> values);

  void write(std::string_view object, double value);
  void write(std::string_view object, std::int64_t value);
  void write(std::string_view object, std::string_view value);
  void write(std::string_view object, const char* value) { write(object, std::string_view(value)); }
  void write(std::string_view object, int value) { write(object, std::int64_t{value}); }

  /// An attribute of an object that was written before; "/" is the file itself.
  void attribute(std::string_view object, std::string_view name, double value);
  void attribute(std::string_view object, std::string_view name, std::int64_t value);
  void attribute(std::string_view object, std::string_view name, std::string_view value);
  void attribute(std::string_view object, std::string_view name, const char* value) {
    attribute(object, name, std::string_view(value));
  }
  void attribute(std::string_view object, std::string_view name, int value) {
    attribute(object, name, std::int64_t{value});
  }

  /// A sparse matrix as Binsparse CSR in `group` ("/" is the root). A structure other than general stores
  /// the lower triangle only. @throws Error(invalid_argument) when the matrix does not have that structure.
  template <class T>
  void write_binsparse(std::string_view group, CsrView<T> matrix, Structure structure = Structure::general);
  template <class T>
  void write_binsparse(std::string_view group, const CsrMatrix<T>& matrix, Structure structure = Structure::general) {
    write_binsparse(group, matrix.view(), structure);
  }

  /// Puts the finished file in its place. Nothing may be written afterwards.
  /// @throws Error(invalid_argument) where rows of a dataset are missing.
  void commit();

  [[nodiscard]] const std::filesystem::path& target() const noexcept;
  /// "FILE: labels, cluster_centers": what was written so far, groups by their name.
  [[nodiscard]] std::string contents() const;

 private:
  template <class T>
  void write_matrix(std::string_view object, Strided<const T> matrix);

  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ts::inline v0::io
