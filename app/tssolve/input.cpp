#include "tallskinny/app/tssolve/input.hpp"

#include <optional>
#include <utility>

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/sparse_of.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/solvers/driver/hermitian.hpp"
#include "tallskinny/solvers/ranks/transposed_rows.hpp"

namespace ts::app::tssolve {

namespace {

template <class To, class From>
CsrMatrix<To> with_type(CsrMatrix<From>&& a) {
  if constexpr (std::is_same_v<To, From>) {
    return std::move(a);
  } else {
    CsrMatrix<To> to{a.rows, a.cols, std::move(a.pointers), std::move(a.indices), {}};
    to.values.reserve(a.values.size());
    for (const From x : a.values) to.values.push_back(to_wide(x));
    return to;
  }
}

template <class To, class From>
Matrix<To> with_type(Matrix<From>&& a) {
  if constexpr (std::is_same_v<To, From>) {
    return std::move(a);
  } else {
    Matrix<To> to(a.rows(), a.cols());
    for (index_t i = 0; i < a.rows() * a.cols(); ++i) to.data()[i] = to_wide(a.data()[i]);
    return to;
  }
}

solvers::HermitianRules rules_of(Role role, bool symmetrise) {
  if (role == Role::companion) return {symmetrise, "", "; --symmetrise takes (A + A^H) / 2 of each matrix"};
  return {symmetrise, "; --general takes it as it is",
          "; --general takes matrices that are not Hermitian, --symmetrise solves (A + A^H) / 2"};
}

/// Rows of A^T become those of a Hermitian A, zeros of the diagonal with their signs.
template <class T>
void conjugate_off_diagonal(CsrMatrix<T>& rows, index_t first) {
  for (index_t i = 0; i < rows.rows; ++i)
    for (index_t e = rows.pointers[static_cast<std::size_t>(i)]; e < rows.pointers[static_cast<std::size_t>(i) + 1];
         ++e)
      if (T& x = rows.values[static_cast<std::size_t>(e)]; rows.indices[static_cast<std::size_t>(e)] != first + i)
        x = conjugate(x);
}

/// True if the file holds one triangle, which the reader mirrored: symmetry need not be checked.
bool mirrored_by_reader(const io::Description& d) {
  const bool is_complex_type = d.type == DType::complex128 || d.type == DType::complex64;
  return d.declared == io::Structure::hermitian || (d.declared == io::Structure::symmetric && !is_complex_type);
}

void expect_square(const io::Description& shape, Role role) {
  if (shape.rows != shape.cols)
    throw Error(Errc::bad_input,
                shape.where.text() + " is " + grouped(shape.rows) + " x " + grouped(shape.cols) +
                    (role == Role::matrix ? ": eigenvalues need a square matrix (--svd finds singular values of any)"
                                          : " where a square matrix is needed"));
}

}  // namespace

Input read_any(const io::Description& described, const io::ReadOptions& read) {
  Input input;
  input.description = described;
  auto file = io::read_matrix(described.where, read);
  std::visit(
      [&input](auto&& kind) {
        std::visit(
            [&input](auto&& a) {
              using T = wide_t<typename std::decay_t<decltype(a)>::value_type>;
              input.matrix = AnyMatrix<T>(with_type<T>(std::forward<decltype(a)>(a)));
            },
            std::forward<decltype(kind)>(kind));
      },
      std::move(file.matrix));
  return input;
}

Input read_hermitian(const Context& ctx, const io::Description& described, io::ReadOptions read, Role role,
                     bool symmetrise) {
  expect_square(described, role);
  const bool of_ranks = !ctx.slabs.empty();
  if (of_ranks) {
    read.row_begin = ctx.slabs.begin(ctx.communicator->rank());
    read.row_end = ctx.slabs.begin(ctx.communicator->rank() + 1);
    read.as_stored = true;
  }
  Input input = read_any(described, read);
  const std::string name = described.where.text();
  const auto check = [&]<class T>(AnyMatrix<T>& matrix) {
    std::optional<AnyMatrix<T>> partners;  // rows of A^T, where they are known
    if (auto* const rows = std::get_if<CsrMatrix<T>>(&matrix); rows != nullptr && of_ranks) {
      const auto image = [&](T x) { return io::mirror_image(x, described.declared); };
      if (described.stored_triangle) *rows = solvers::mirrored_rows<T>(ctx, rows->view(), image);
      if (described.stored_by_columns && mirrored_by_reader(described))
        conjugate_off_diagonal(*rows, first_row(ctx));
      else if (described.stored_by_columns)
        partners = std::exchange(*rows, solvers::transposed_rows<T>(ctx, rows->view()));
    }
    if (mirrored_by_reader(described)) return;
    solvers::Borrowed<T> a(std::move(matrix));
    input.dropped =
        solvers::make_hermitian<T>(ctx, name, described.type, a, rules_of(role, symmetrise), std::move(partners));
    matrix = std::move(a).take();
  };
  std::visit(check, input.matrix);
  input.note = solvers::text_of(input.dropped, name, symmetrise);
  return input;
}

void make_complex(Input& input) {
  using Complex = std::complex<double>;
  if (is_complex_input(input)) return;
  input.matrix =
      std::visit([](auto&& a) { return AnyMatrix<Complex>(with_type<Complex>(std::forward<decltype(a)>(a))); },
                 std::move(std::get<AnyMatrix<double>>(input.matrix)));
}

template <class T>
CsrMatrix<T> as_sparse(AnyMatrix<T>&& matrix) {
  if (auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) return std::move(*sparse);
  return sparse_of<T>(std::get<Matrix<T>>(matrix));
}

template CsrMatrix<double> as_sparse<double>(AnyMatrix<double>&&);
template CsrMatrix<std::complex<double>> as_sparse<std::complex<double>>(AnyMatrix<std::complex<double>>&&);

template <class T>
Matrix<T> read_initial(const std::string& where, index_t rows, const io::ReadOptions& read, index_t begin,
                       index_t end) {
  const auto location = io::parse_location(where);
  io::ReadOptions options = read.of_another_file();
  const auto expect_rows = [&](index_t has, index_t cols) {
    if (has != rows)
      throw Error(Errc::bad_input, location.text() + " has " + grouped(has) + " rows, the matrix " + grouped(rows) +
                                       (cols == rows ? ": --initial takes one starting vector per column" : ""));
  };
  if (begin > 0 || end >= 0) {  // which no file with fewer rows has
    const io::Description d = io::describe(location, options);
    expect_rows(d.rows, d.cols);
    options.row_begin = begin, options.row_end = end;
  }
  auto dense = io::read_dense(location, options);
  return std::visit(
      [&](const auto& a) {
        if (begin == 0 && end < 0) expect_rows(a.rows(), a.cols());
        Matrix<T> x(a.rows(), a.cols());
        for (index_t i = 0; i < a.rows() * a.cols(); ++i) {
          const auto value = to_wide(a.data()[i]);
          if constexpr (is_complex<T>)
            x.data()[i] = value;
          else
            x.data()[i] = std::real(value);  // the real part of a complex start serves a real matrix
        }
        return x;
      },
      dense);
}

template Matrix<double> read_initial<double>(const std::string&, index_t, const io::ReadOptions&, index_t, index_t);
template Matrix<std::complex<double>> read_initial<std::complex<double>>(const std::string&, index_t,
                                                                         const io::ReadOptions&, index_t, index_t);

}  // namespace ts::app::tssolve
