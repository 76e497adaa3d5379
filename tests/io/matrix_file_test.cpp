// Element types, shapes, filters, and the choice of an object.
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>

#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/text/line_reader.hpp"
#include "tallskinny/tests/io/support.hpp"

TEST_CASE("every element type in both byte orders") {
  const std::map<std::string, DType> narrower = {{"f2", DType::float16},
                                                 {"f4", DType::float32},
                                                 {"c8", DType::complex64},
                                                 {"c16", DType::complex128},
                                                 {"bf16", DType::bfloat16}};
  for (const char* suffix : {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16", "bf16"})
    for (const char* order : {"little_", "big_"}) {
      const std::string name = std::string("dense.h5:/") + order + suffix;
      if (name.ends_with("big_i1") || name.ends_with("big_u1")) continue;  // one byte has no order
      INFO(name);
      const auto read = io::read_matrix(fixture(name));
      const DType type = narrower.contains(suffix) ? narrower.at(suffix) : DType::float64;
      CHECK(read.description.type == type);
      CHECK(std::get<io::DenseMatrix>(read.matrix).index() ==
            static_cast<std::size_t>(type));  // the alternatives follow DType
      CHECK(read.description.stored_type.find("big-endian") ==
            (order[0] == 'b' ? read.description.stored_type.find("big") : std::string::npos));
      CHECK(table_of(read) == matrix_d());
    }
  check_all("dense.h5", matrix_d(), {"long_double", "array_rows", "bf16_as_u2"});
  CHECK(io::describe(fixture("dense.h5:/bf16_as_u2")).type == DType::bfloat16);
  CHECK(table_in("dense.h5:/pair") == matrix_d().times({1, -1}));
  Table odd = matrix_d();
  for (std::size_t i = 0; i < 15; ++i) odd.values[i] = i % 2 == 1 ? 1 : 0;
  CHECK(table_in("dense.h5:/bool") == odd);
  CHECK(io::describe(fixture("dense.h5:/bool")).stored_type == "bool");
}

TEST_CASE("subnormal, largest and negative halves survive") {
  const auto half = io::read_dense_as<float>(fixture("dense.h5:/half_special"));
  const float expected[] = {0x1p-24f, 0x3ffp-24f, 0x1p-14f, 65504.0f, -0.0f, -2.0f};
  for (index_t j = 0; j < 6; ++j) CHECK(half(0, j) == expected[j]);
  CHECK(std::signbit(half(0, 4)));
}

TEST_CASE("shapes that are not matrices") {
  const auto images = io::read_matrix(fixture("dense.h5:/images"));
  CHECK(images.description.note == "flattened from 3 x 2 x 2 x 2");
  CHECK(images.description.rows == 3);
  CHECK(images.description.cols == 8);
  CHECK(table_of(images)(2, 7) == 23.0);
  CHECK(table_in("dense.h5:/vector") == Table(3, 1, {3, 1, 2}));
  CHECK(refusal_of("dense.h5:/scalar").says("is a single number"));
  CHECK(table_in("dense.h5:/no_rows") == Table(0, 3));
}

TEST_CASE("gzip with shuffle and checksum, szip, LZF, chunks of columns") {
  Table expected(500, 3);
  for (index_t i = 0; i < 500; ++i)
    for (index_t j = 0; j < 3; ++j) expected(i, j) = static_cast<double>(3 * (i / 100) + j);
  for (const char* name : {"gzip", "szip", "columns", "lzf", "lzf_shuffled"}) {
    INFO(name);
    const std::string place = std::string("filters.h5:/") + name;
    CHECK(table_in(place) == expected);
    CHECK(table_in(place, {.row_begin = 63, .row_end = 130}) ==
          Table(67, 3, {expected.values.begin() + 63 * 3, expected.values.begin() + 130 * 3}));
    CHECK(table_in(place, {.transpose = true}) == expected.transposed());
  }
}

TEST_CASE("external links lead to the data of the other file, if the file is trusted") {
  CHECK(table_in("links.h5:/dense", {.trusted = true}) == table_in("dense.h5:/little_f4"));
  CHECK(table_in("links.h5:/sparse", {.trusted = true}) == table_in("anndata_sparse.h5ad:/layers/counts"));
  check_refusal(refusal_of("links.h5:/dense"), Errc::bad_input,
                {"links.h5:/dense leads to another file, dense.h5: --trust-input"});
}

TEST_CASE("a missing filter is named with its number and what to set") {
  check_refusal(refusal_of("unknown_filter.h5"), Errc::bad_input, {"32015", "Zstandard", "HDF5_PLUGIN_PATH"});
}

TEST_CASE("what a newer HDF5 wrote is there, and copied by a command") {
  for (const char* file : {"native_complex.h5", "latest_format.h5"}) {
    CAPTURE(file);
    check_refusal(
        refusal_of(file + std::string(":/H")), Errc::bad_input,
        {"/H is written in a newer form than HDF5 ", "[\"H\"] = h5py.File(\"" + std::string(file) + "\")[\"H\"][()]'"});
    CHECK(refusal_of(file + std::string(":/G")).says("has no object '/G'"));
    const auto all = io::list_objects(fixture(file).file);
    REQUIRE(all.size() == 2);
    CHECK((all[0].where.object == "/H" && mentions(all[0].problem, "newer form")));
    CHECK((all[1].problem.empty() && all[1].rows == 5));
  }
}

TEST_CASE("a disk that fails is told with the name of the file") {
  std::array<std::byte, 8> some{};
  const auto bytes = refusal_of([&] { (void)io::FileBytes("/proc/self/mem").read(0, some); });
  CHECK((bytes.code == Errc::bad_input && bytes.sentence == "/proc/self/mem cannot be read: Input/output error"));
  const auto lines = refusal_of([] { (void)io::LineReader("/proc/self/mem").next(); });
  CHECK((lines.code == Errc::bad_input && lines.sentence == "/proc/self/mem cannot be read: Input/output error"));
}

TEST_CASE("a location is a file and an object, and existing files win") {
  TemporaryFolder folder;
  const std::string plain = file_in(folder, "odd:name.h5", "x").file.string();
  CHECK(io::parse_location(plain).file == plain);
  CHECK(io::parse_location(plain).object.empty());
  CHECK(io::parse_location(plain + ":/a/b:c").file == plain);
  CHECK(io::parse_location(plain + ":/a/b:c").object == "/a/b:c");
  CHECK(io::parse_location(plain + ":a").object == "a");
  CHECK(io::parse_location("missing.h5:/x").file == "missing.h5");
  CHECK(io::parse_location("missing.h5:/x").object == "/x");
  CHECK(io::parse_location("missing.h5:x").object == "x");
  CHECK(io::parse_location("missing.mtx").object.empty());
  CHECK(io::parse_location("a:b").file == "a:b");
  CHECK(io::parse_location("missing.h5:/x").text() == "missing.h5:/x");
}

TEST_CASE("one candidate is taken, several are listed") {
  CHECK(io::read_matrix(fixture("ten_x.h5")).description.where.object == "/matrix");
  check_refusal(refusal_of("scipy.h5"), Errc::bad_input,
                {"holds 7 matrices", "/coo (4 x 3 sparse complex of float64)"});
  const auto missing = refusal_of("scipy.h5:/nothing");
  CHECK(missing.says("no object '/nothing'"));
  CHECK(missing.says("/csr"));
  CHECK(table_in("scipy.h5:/csr/") == matrix_a());
  CHECK(table_of(io::read_matrix({fixture("scipy.h5").file, "csr"})) == matrix_a());
}

TEST_CASE("list_objects describes all, also what cannot be read") {
  const auto list = io::list_objects(fixture("scipy.h5").file);
  REQUIRE(list.size() == 7);
  CHECK(list[0].where.object == "/coo");
  CHECK(list[0].type == DType::complex128);
  CHECK(list[4].where.object == "/square");
  CHECK(mentions(list[4].problem, "--layout"));
  CHECK(io::list_objects(fixture("matlab.mat").file).size() == 4);  // without the text
  CHECK(io::list_objects(fixture("scipy.mtx.gz").file).size() == 1);
}

TEST_CASE("what is described is what is read, and memory is counted") {
  for (const char* name : {"binsparse.h5:/CSR", "binsparse.h5:/COOR", "matlab.mat:/A", "dense.h5:/little_f2",
                           "matlab.mat:/D", "scipy.mtx.gz", "fortran.npy"}) {
    INFO(name);
    const auto d = io::describe(fixture(name));
    const auto read = io::read_matrix(fixture(name));
    CHECK(d.rows == read.description.rows);
    CHECK(d.bytes == read.description.bytes);
    CHECK(d.peak_bytes >= d.bytes);
    CHECK_NOTHROW(io::read_matrix(fixture(name), {.memory_limit = d.peak_bytes}));
    check_refusal(refusal_of(name, {.memory_limit = d.peak_bytes - 1}), Errc::out_of_memory, {"are allowed"});
  }
}

TEST_CASE("vectors come from lists, from matrices of one column and from arff attributes") {
  CHECK(io::read_vector(fixture("dense.h5:/vector")) == std::vector<double>{3, 1, 2});
  CHECK(io::read_vector(fixture("dense.h5")) == std::vector<double>{3, 1, 2});  // its only list
  CHECK(io::read_vector(fixture("binsparse.h5:/DVEC")) == std::vector<double>{2, 0, 0, 5.25});
  CHECK(
      refusal_of([] { (void)io::read_vector(fixture("dense.h5:/little_f8")); }).says("5 x 3 where a vector is needed"));
  CHECK(refusal_of([] { (void)io::read_vector(fixture("scipy.h5:/csr")); }).says("is sparse"));
}

TEST_CASE("a part of a vector is read wherever it comes from, and its whole length told") {
  for (const char* name : {"dense.h5:/vector", "dense.h5"}) {
    INFO(name);
    const auto part = [&](index_t begin, index_t end) { return io::read_vector_part(fixture(name), begin, end); };
    CHECK(part(1, 3).values == std::vector<double>{1, 2});
    CHECK(part(0, 1).values == std::vector<double>{3});
    CHECK(part(1, 1).values.empty());
    CHECK(part(2, 9).values == std::vector<double>{2});
    CHECK(part(7, 9).values.empty());
    CHECK(part(1, 2).size == 3);
    CHECK(part(0, 9).size == 3);
  }
  TemporaryFolder folder;
  const auto row = file_in(folder, "row.csv", "4,5,6,7\n"),
             attribute = file_in(folder, "a.arff",
                                 "@relation r\n@attribute x numeric\n@attribute w numeric\n@data\n1,8\n2,9\n3,10\n");
  CHECK(io::read_vector_part(row, 1, 3).values == std::vector<double>{5, 6});
  CHECK(io::read_vector_part(row, 1, 3).size == 4);
  CHECK(io::read_vector_part({attribute.file, "w"}, 1, 3).values == std::vector<double>{9, 10});
  CHECK(refusal_of([] { (void)io::read_vector_part(fixture("dense.h5:/vector"), 2, 1); }).code ==
        Errc::invalid_argument);
  CHECK(refusal_of([] { (void)io::read_vector_part(fixture("dense.h5:/little_f8"), 0, 1); }).says("where a vector"));
}

TEST_CASE("dense matrices are converted, but complex ones never to real") {
  CHECK(io::read_dense_as<double>(fixture("dense.h5:/little_f2"))(4, 2) == 14.0);
  CHECK(io::read_dense_as<float>(fixture("dense.h5:/big_bf16"))(4, 2) == 14.0f);
  CHECK(io::read_dense_as<std::complex<double>>(fixture("dense.h5:/little_i4"))(1, 1) == 4.0);
  CHECK(refusal_of([] { (void)io::read_dense_as<double>(fixture("dense.h5:/pair")); }).says("is complex"));
  CHECK(refusal_of([] { (void)io::read_dense(fixture("scipy.h5:/csr")); }).says("is sparse"));
}

TEST_CASE("files that cannot be opened are refused with the reason") {
  TemporaryFolder folder;
  check_refusal(refusal_of(io::Location{folder / "missing.h5", ""}), Errc::bad_input, {"does not exist"});
  CHECK(refusal_of(io::Location{folder.path(), ""}).says("is a folder"));
  CHECK(refusal_of(io::Location{"/dev/null", ""}).says("is not a regular file"));
  CHECK(refusal_in("empty.h5", "").says("is empty"));
  check_refusal(refusal_in("text.h5", "hello"), Errc::bad_input, {"is not an HDF5 file"});
  CHECK(refusal_in("old.mat", "MATLAB 5.0 MAT-file, ...").says("-v7.3"));
  CHECK(refusal_of("scipy.mtx.gz:/A").says("no object"));
  if (::geteuid() != 0) {
    const auto secret = file_in(folder, "secret.h5", "x");
    ::chmod(secret.file.c_str(), 0);
    CHECK(refusal_of(secret).says("Permission denied"));
  }
  const std::string whole = bytes_of("dense.h5");
  CHECK(refusal_in("cut.h5", whole.substr(0, whole.size() / 2)).says("is truncated"));
}

TEST_CASE("reading takes as many threads as the process is to take", "[threads]") {
  TemporaryFolder folder;
  Matrix<double> numbers(400'000, 8);  // several chunks, and 24 MiB for three threads
  for (index_t e = 0; e < numbers.rows() * 8; ++e) numbers.data()[e] = static_cast<double>(e % 1000);
  const auto count = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto alone = count();
  for (const int gzip : {0, 1}) {
    CAPTURE(gzip);
    const std::string file = folder / ("numbers-" + std::to_string(gzip) + ".h5");
    const io::Location where{write_h5(file, io::OutputOptions{.gzip = gzip}, "x", numbers), "/x"};
    for (const int threads : {1, 3}) {
      set_default_threads(threads);
      std::ptrdiff_t more = -1;
      std::thread([&] {  // the threads that its calls start stay until it ends
        // On a busy machine those of the turn before are listed for a while.
        for (int turn = 0; turn < 5000 && count() > alone + 1; ++turn)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const auto before = count();
        (void)io::read_matrix(where);
        more = count() - before;
      })
          .join();
      CHECK(more == threads - 1);
    }
  }
  set_default_threads(0);
}
