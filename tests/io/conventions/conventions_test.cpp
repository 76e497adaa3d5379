// One test for every convention, on files that its own programs wrote.
#include "tallskinny/tests/io/support.hpp"

using io::Structure;

namespace {

io::Description described(const std::string& name, const io::ReadOptions& options = {}) {
  return io::describe(fixture(name), options);
}

/// The matrix T of make_binsparse.py, as one of its relatives.
Table t_matrix(std::complex<double> below10, std::complex<double> below21, Structure structure) {
  Table t(3, 3);
  const auto image = [&](std::complex<double> v) {
    return structure == Structure::hermitian ? std::conj(v) : structure == Structure::skew_symmetric ? -v : v;
  };
  if (structure != Structure::skew_symmetric) t(0, 0) = 2, t(1, 1) = 3, t(2, 2) = 5;
  t(1, 0) = below10, t(0, 1) = image(below10), t(2, 1) = below21, t(1, 2) = image(below21);
  return t;
}

}  // namespace

TEST_CASE("Binsparse: every predefined format that the reference package writes") {
  check_all("binsparse.h5", matrix_a(), {"CSR", "CSC", "COOR", "COOC", "DCSR", "DCSC", "DMATR", "DMATC"});
  for (const char* format : {"CSR", "CSC", "COOR", "COOC", "DCSR", "DCSC"}) {
    const auto d = described(std::string("binsparse.h5:/") + format);
    CHECK((d.convention == "Binsparse" && d.sparse && d.nonzeros == 5));
  }
  for (const char* format : {"DMATR", "DMATC"}) CHECK_FALSE(described(std::string("binsparse.h5:/") + format).sparse);
  check_all("binsparse.h5", matrix_z(), {"DMATR_complex"});
  check_all("binsparse.h5", Table(4, 1, {2, 0, 0, 5.25}), {"DVEC", "CVEC"});
}

TEST_CASE("Binsparse: complex, iso, boolean and small integer values") {
  check_all("binsparse.h5", matrix_z(), {"complex", "complex64"});
  CHECK(described("binsparse.h5:/complex").type == DType::complex128);
  CHECK(described("binsparse.h5:/complex64").type == DType::complex64);
  check_all("binsparse.h5", matrix_k(), {"small"});
  CHECK(described("binsparse.h5:/small").stored_type == "int8");
  Table pattern = matrix_a();
  for (auto& v : pattern.values) v = v == 0.0 ? 0 : 1;
  check_all("binsparse.h5", pattern, {"bint8"});
  check_all("binsparse.h5", pattern.times(2.5), {"iso"});
}

TEST_CASE("Binsparse: descriptors at the top level and as fixed-length strings") {
  check_all("binsparse_more.h5", matrix_a(), {"flat", "fixed"});
}

TEST_CASE("Binsparse: triangles are expanded") {
  const Table symmetric = t_matrix(-1, 4, Structure::symmetric);
  for (const char* name : {"lower", "upper", "lower_csc", "lower_coo", "lower_dense"}) {
    INFO(name);
    const std::string place = std::string("binsparse_more.h5:/") + name;
    CHECK(table_in(place) == symmetric);
    CHECK(table_in(place, {.transpose = true}) == symmetric);
    CHECK(described(place).declared == Structure::symmetric);
    CHECK(table_in(place, {.row_begin = 1, .row_end = 3}) == Table(2, 3, {-1, 3, 4, 0, 4, 5}));
  }
  CHECK(table_in("binsparse_more.h5:/skew") == t_matrix(-1, 4, Structure::skew_symmetric));
  const Table hermitian = t_matrix({-1, 0.5}, {4, -2}, Structure::hermitian);
  CHECK(table_in("binsparse_more.h5:/hermitian") == hermitian);
  CHECK(table_in("binsparse_more.h5:/hermitian", {.transpose = true}) == hermitian.transposed());
}

TEST_CASE("AnnData: X is taken by itself, layers, obsp and obsm by name") {
  const auto sparse = io::read_matrix(fixture("anndata_sparse.h5ad"));
  CHECK(sparse.description.where.object == "/X");
  CHECK(sparse.description.convention == "AnnData");
  CHECK(table_of(sparse) == matrix_a());
  CHECK(table_in("anndata_sparse.h5ad:/layers/counts") == matrix_k());
  CHECK(described("anndata_sparse.h5ad:/layers/counts").stored_type == "int64");
  CHECK(described("anndata_sparse.h5ad:/obsp/neighbours").rows == 4);
  CHECK(table_in("anndata_sparse.h5ad:/obsm/X_pca") == Table(4, 2, {0, 1, 2, 3, 4, 5, 6, 7}));

  CHECK(refusal_of("anndata_sparse.h5ad:/obs").says("/obs is an AnnData data frame, a table of columns ("));
  const auto dense = io::read_matrix(fixture("anndata_dense.h5ad"));
  CHECK_FALSE(dense.description.sparse);
  CHECK(dense.description.type == DType::float32);
  CHECK(table_of(dense) == matrix_a());
}

TEST_CASE("h5sparse: the attributes of old AnnData files") {
  check_all("h5sparse.h5", matrix_a(), {"csr", "csc"});
  CHECK(described("h5sparse.h5:/csc").convention == "h5sparse");
}

TEST_CASE("MATLAB 7.3: compressed columns, complex compounds, transposed dense, empty") {
  for (const char* name : {"matlab.mat:/A", "matlab.mat:/D"}) CHECK(described(name).convention == "MATLAB");
  check_all("matlab.mat", matrix_a(), {"A"});
  check_all("matlab.mat", matrix_z(), {"Z"});
  check_all("matlab.mat", matrix_d(), {"D"});
  CHECK(described("matlab.mat:/E").rows == 0);
  CHECK(described("matlab.mat:/E").cols == 3);
  check_all("matlab.mat", Table(0, 3), {"E"});
  CHECK(refusal_of("matlab.mat:/title").says("is a MATLAB char"));
}

TEST_CASE("SuiteSparse: Problem.A is taken by itself") {
  const auto read = io::read_matrix(fixture("suitesparse.mat"));
  CHECK(read.description.where.object == "/Problem/A");
  CHECK(table_of(read) == matrix_a());
  CHECK(table_in("suitesparse.mat:/Problem/b") == matrix_d());
}

TEST_CASE("PETSc: MATLAB's names for compressed rows") {
  CHECK(described("petsc.h5").convention == "PETSc");
  CHECK(table_in("petsc.h5") == matrix_a());
  CHECK(table_in("petsc.h5", {.layout = io::SparseLayout::csc}) == matrix_a().transposed());
}

TEST_CASE("10x Genomics: rows are barcodes, which the note says") {
  CHECK(described("ten_x.h5").convention == "10x Genomics");
  CHECK(described("ten_x.h5").note.starts_with("rows are barcodes (cells)"));
  CHECK(described("ten_x.h5").rows == matrix_k().cols);
  CHECK(table_in("ten_x.h5") == matrix_k().transposed());
  CHECK(table_in("ten_x.h5", {.transpose = true}) == matrix_k());
  CHECK(described("ten_x.h5", {.transpose = true}).note.starts_with("rows are features"));
}

TEST_CASE("SciPy: the shape decides between rows and columns, a square needs a word") {
  check_all("scipy.h5", matrix_a(), {"csr", "csc", "half"});
  check_all("scipy.h5", matrix_z(), {"coo"});
  check_all("scipy.h5", matrix_s(), {"square_csc"});
  check_refusal(refusal_of("scipy.h5:/square"), Errc::bad_input, {"--layout csr"});
  CHECK(table_in("scipy.h5:/square", {.layout = io::SparseLayout::csr}) == matrix_s());
  CHECK(table_in("scipy.h5:/square", {.layout = io::SparseLayout::csc}) == matrix_s().transposed());
  CHECK(described("scipy.h5:/half").type == DType::float32);
}

TEST_CASE("unsorted rows are refused, or sorted when that is accepted") {
  CHECK(refusal_of("scipy.h5:/unsorted").says("unsorted entries near row 0"));
  const auto read = io::read_matrix(fixture("scipy.h5:/unsorted"), {.accept_unsorted = true});
  CHECK(table_of(read) == Table(2, 3, {2, 0, 4, 0, 4, 0}));
  const auto& a = std::get<CsrMatrix<double>>(std::get<io::SparseMatrix>(read.matrix));
  CHECK(a.nonzeros() == 3);
  CHECK(a.indices == std::vector<std::int32_t>{0, 2, 1});
}

TEST_CASE("Octave: sparse, dense, complex, empty and nested variables") {
  CHECK(described("octave.h5:/A").convention == "Octave");
  check_all("octave.h5", matrix_a(), {"A", "A/value"});
  check_all("octave.h5", matrix_z(), {"Z"});
  check_all("octave.h5", matrix_d(), {"D", "D/value", "inside/value/F"});
  check_all("octave.h5", matrix_d().times({1, -1}), {"C"});
  check_all("octave.h5", Table(0, 3), {"E"});
  CHECK(described("octave.h5:/inside/value/F").type == DType::float32);
  CHECK(refusal_of("octave.h5:/name").says("not a matrix of numbers"));
}

TEST_CASE("pandas: fixed frames and tables of one type") {
  CHECK(described("pandas.h5:/fixed").convention == "pandas");
  check_all("pandas.h5", matrix_d(), {"fixed", "table"});
  CHECK(refusal_of("pandas.h5:/mixed").says("2 blocks"));
  CHECK(refusal_of("pandas.h5:/mixed_table").says("columns of different types"));
  CHECK(refusal_of("pandas.h5:/series").says("/series/values"));
  CHECK(io::read_vector(fixture("pandas.h5:/series/values")) == std::vector<double>{0, 3, 6, 9, 12});
}

TEST_CASE("PyTables: arrays of all kinds but ragged ones") {
  check_all("pytables.h5", matrix_d(), {"array", "carray", "earray"});
  for (const char* name : {"array", "carray", "earray"})
    CHECK(described(std::string("pytables.h5:/") + name).convention == "PyTables");
  CHECK(refusal_of("pytables.h5:/vlarray").says("ragged"));
}

TEST_CASE("ann-benchmarks: the training set is taken by itself") {
  const auto read = io::read_matrix(fixture("ann.hdf5"));
  CHECK(read.description.where.object == "/train");
  CHECK(read.description.convention == "ann-benchmarks");
  CHECK(read.description.note == "distance: angular");
  CHECK(table_of(read) == matrix_d());
  CHECK(described("ann.hdf5:/test").rows == 2);
}

TEST_CASE("Julia's JLD is refused with the way out") {
  CHECK(refusal_of("julia.jld").says("JLD"));
  CHECK(refusal_of("julia.jld:/M").says("colptr"));
}

TEST_CASE("every convention can be transposed and read in rows") {
  for (const char* name : {"binsparse.h5:/CSR", "binsparse.h5:/CSC", "binsparse.h5:/COOC", "binsparse.h5:/DCSR",
                           "binsparse.h5:/DCSC", "binsparse.h5:/DMATR", "binsparse.h5:/DMATC", "matlab.mat:/A",
                           "octave.h5:/A", "scipy.h5:/csr", "scipy.h5:/csc", "anndata_dense.h5ad"}) {
    INFO(name);
    const Table turned = matrix_a().transposed();
    CHECK(table_in(name, {.transpose = true}) == turned);
    CHECK(table_in(name, {.transpose = true, .row_begin = 1, .row_end = 3}) ==
          Table(2, 4, {turned.values.begin() + 4, turned.values.end()}));
    CHECK(table_in(name, {.row_begin = 1, .row_end = 3}) == Table(2, 3, {0, 0, 0, 0, -3, 0}));
    CHECK(table_in(name, {.row_begin = 2, .row_end = 2}) == Table(0, 3));
    CHECK(refusal_of(name, {.row_begin = 2, .row_end = 5}).code == Errc::invalid_argument);
  }
}
