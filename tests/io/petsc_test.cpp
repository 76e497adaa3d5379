#include "tallskinny/tests/io/support.hpp"

namespace {

/// Files as MatView and VecView write them: everything big-endian, integers of 4 or 8 bytes.
class Petsc {
 public:
  explicit Petsc(bool wide = false) : wide_(wide) {}

  Petsc& integers(const std::vector<std::int64_t>& list) {
    for (const std::int64_t x : list) put(static_cast<std::uint64_t>(x), wide_ ? 8 : 4);
    return *this;
  }
  template <class R>
  Petsc& reals(const std::vector<R>& list) {
    for (const R x : list)
      if constexpr (sizeof(R) == 8)
        put(std::bit_cast<std::uint64_t>(x), 8);
      else
        put(std::bit_cast<std::uint32_t>(x), 4);
    return *this;
  }
  /// matrix_a() of the fixtures.
  template <class R>
  Petsc& matrix_a(const std::vector<R>& values) {
    return integers({1211216, 4, 3, 5}).integers({2, 0, 1, 2}).integers({0, 2, 1, 0, 2}).reals(values);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void put(std::uint64_t bits, int width) {
    for (int b = width - 1; b >= 0; --b) text_ += static_cast<char>(bits >> (8 * b) & 0xff);
  }
  bool wide_;
  std::string text_;
};

const std::vector<double> values_a = {1.5, 2, -3, 4, 5.25};

io::MatrixFile read_petsc(const Petsc& petsc, const io::ReadOptions& options = {}, const std::string& object = "") {
  const TemporaryFolder folder;
  return io::read_matrix(file_in(folder, "m.dat", petsc.text(), object), options);
}
Refusal refused_petsc(const std::string& content, const io::ReadOptions& options = {}, const std::string& object = "") {
  return refusal_in("m.petsc", content, object, options);
}

}  // namespace

TEST_CASE("petsc: sparse matrices, with indices of both widths and scalars of every type") {
  for (const bool wide : {false, true}) {
    CAPTURE(wide);
    const auto a = read_petsc(Petsc(wide).matrix_a(values_a));
    CHECK(table_of(a) == matrix_a());
    CHECK((a.description.convention == "PETSc AIJ" && a.description.type == DType::float64));
    const std::vector<double> z = {1.5, 0.75, 2, 1, -3, -1.5, 4, 2, 5.25, 2.625};
    const auto complex = read_petsc(Petsc(wide).matrix_a(z));
    CHECK(table_of(complex) == matrix_z());
    CHECK(complex.description.type == DType::complex128);
    const auto single = read_petsc(Petsc(wide).matrix_a<float>({1.5f, 2, -3, 4, 5.25f}));
    CHECK(table_of(single) == matrix_a());
    CHECK(single.description.type == DType::float32);
  }
  // Complex numbers of single precision are as long as real ones of double: the option decides.
  const std::vector<float> z = {1.5f, 0.75f, 2, 1, -3, -1.5f, 4, 2, 5.25f, 2.625f};
  CHECK(table_of(read_petsc(Petsc().matrix_a(z), {.scalars = DType::complex64})) == matrix_z());
}

TEST_CASE("petsc: a range of rows, the transpose, dense matrices and vectors") {
  const io::ReadOptions some{.row_begin = 2, .row_end = 4}, options{.transpose = true};
  CHECK(table_of(read_petsc(Petsc().matrix_a(values_a), some)) == Table(2, 3, {0, -3, 0, 4, 0, 5.25}));
  CHECK(table_of(read_petsc(Petsc(true).matrix_a(values_a), options)) == matrix_a().transposed());
  const auto dense = Petsc().integers({1211216, 2, 3, -1}).reals<double>({1, 2, 3, 4, 5, 6});
  CHECK(table_of(read_petsc(dense)) == Table(2, 3, {1, 2, 3, 4, 5, 6}));
  CHECK(table_of(read_petsc(dense, options)) == Table(3, 2, {1, 4, 2, 5, 3, 6}));
  const auto vector = read_petsc(Petsc(true).integers({1211214, 3}).reals<double>({7, 8, 9}));
  CHECK(table_of(vector) == Table(3, 1, {7, 8, 9}));
  CHECK(vector.description.convention == "PETSc Vec");
}

TEST_CASE("petsc: several objects in a file have numbers") {
  const auto file = Petsc().matrix_a(values_a).integers({1211214, 3}).reals<double>({7, 8, 9});
  CHECK(table_of(read_petsc(file)) == matrix_a());  // the only matrix
  CHECK(table_of(read_petsc(file, {}, "0")) == matrix_a());
  CHECK(table_of(read_petsc(file, {}, "1")) == Table(3, 1, {7, 8, 9}));
  const TemporaryFolder folder;
  const auto where = file_in(folder, "two.dat", file.text());
  const auto all = io::list_objects(where.file);
  REQUIRE(all.size() == 2);
  CHECK((all[0].sparse && all[1].rows == 3 && all[1].where.object == "1"));
  CHECK(io::read_vector(io::parse_location(where.file.string() + ":1")) == std::vector<double>{7, 8, 9});
  CHECK(refused_petsc(file.text(), {}, "2").says("has no object '2'; its 2 objects are numbered from 0"));
  const auto two = Petsc().matrix_a(values_a).matrix_a(values_a);
  CHECK(refused_petsc(two.text()).says("holds 2 objects; choose one as "));
}

TEST_CASE("petsc: what cannot be read is refused") {
  const std::string whole = Petsc().matrix_a(values_a).text();
  CHECK(refused_petsc(whole.substr(0, 40)).says("is truncated, or no file of PETSc"));
  CHECK(refused_petsc(whole.substr(0, 10)).says("is truncated"));
  CHECK(refused_petsc(whole + "more").says("is truncated, or no file of PETSc"));
  CHECK(refused_petsc(whole, {.scalars = DType::complex128}).says("its elements are not complex128, as --scalars"));
  const auto with = [](std::vector<std::int64_t> lengths, std::vector<std::int64_t> columns) {
    return Petsc().integers({1211216, 4, 3, 5}).integers(lengths).integers(columns).reals(values_a).text();
  };
  CHECK(refused_petsc(with({2, 0, 1, 3}, {0, 2, 1, 0, 2})).says("has a pointer to entry 6 at row 3, but 5 entries"));
  CHECK(refused_petsc(with({2, 0, -1, 2}, {0, 2, 1, 0, 2})).says("has decreasing pointers at row 2"));
  CHECK(refused_petsc(with({2, 0, 1, 1}, {0, 2, 1, 0, 2})).says("has pointers that end at 4, but 5 entries"));
  CHECK(refused_petsc(with({2, 0, 1, 2}, {0, 3, 1, 0, 2})).says("has an entry outside its shape in row 0"));
  CHECK(refused_petsc(with({2, 0, 1, 2}, {0, 0, 1, 0, 2})).code == Errc::bad_input);
  const auto nan = Petsc().matrix_a<double>({1.5, 2, std::nan(""), 4, 5.25});
  CHECK(refused_petsc(nan.text()).says("NaN"));
  CHECK(refused_petsc(Petsc().integers({1211216, -4, 3, 5}).text()).code == Errc::bad_input);
  // More entries than any memory has, in a file that is as short as its numbers say.
  CHECK(refused_petsc(Petsc(true).integers({1211216, 1, 1, std::int64_t{1} << 61}).text()).code == Errc::bad_input);
}
