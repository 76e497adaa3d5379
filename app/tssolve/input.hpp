// From files to what the solver computes with.
#pragma once

#include <complex>
#include <string>
#include <variant>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/solvers/setup/hermitian_check.hpp"

namespace ts::app::tssolve {

using solvers::AnyMatrix;

struct Input {
  io::Description description;
  std::variant<AnyMatrix<double>, AnyMatrix<std::complex<double>>> matrix;
  solvers::SkewPart dropped;  ///< of a matrix that is to be Hermitian
  std::string note;           ///< empty, or a sentence on that
};

/// Role of a matrix: that of the problem, or one beside it (a mass matrix), for which there are other options.
enum class Role { matrix, companion };

/// Reads what was described, widens to float64 or complex128, and checks; (A + A^H) / 2 of what differs by rounding.
/// Several ranks read together: each gets the rows that ctx.slabs gives it, with global column numbers.
/// @param symmetrise takes (A + A^H) / 2 of any square matrix
/// @throws Error(bad_input) when the matrix is not square or not Hermitian (naming the first entry; on all ranks), and
/// all errors of reading.
[[nodiscard]] Input read_hermitian(const Context& ctx, const io::Description& described, io::ReadOptions read,
                                   Role role, bool symmetrise);
/// Reads a matrix of any shape, and widens it to float64 or complex128.
[[nodiscard]] Input read_any(const io::Description& described, const io::ReadOptions& read);

[[nodiscard]] inline bool is_complex_input(const Input& input) noexcept { return input.matrix.index() == 1; }
/// A real matrix as a complex one.
void make_complex(Input& input);
/// A dense matrix without its zeros.
template <class T>
[[nodiscard]] CsrMatrix<T> as_sparse(AnyMatrix<T>&& matrix);

/// Rows begin .. end - 1 (-1: all) of the columns of a dense matrix, as the type asked for. @throws Error(bad_input)
/// unless it has `rows` rows.
template <class T>
[[nodiscard]] Matrix<T> read_initial(const std::string& where, index_t rows, const io::ReadOptions& read,
                                     index_t begin = 0, index_t end = -1);

}  // namespace ts::app::tssolve
