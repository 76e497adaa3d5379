// Rows that a file has no data for are refused, never read as zeros.
#include <hdf5.h>
#include <sys/resource.h>

#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/tests/io/support.hpp"

namespace {

/// A file made with HDF5's own calls, closed at the end.
class RawFile {
 public:
  explicit RawFile(const std::filesystem::path& file)
      : id_(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~RawFile() { H5Fclose(id_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  /// rows x 3 of float64; `written` rows from `first` hold 1, 2, 3, ...
  void dataset(const char* name, hid_t creation, hsize_t rows, hsize_t first, hsize_t written,
               hid_t type = H5T_NATIVE_DOUBLE) const {
    const hsize_t size[2] = {rows, 3}, start[2] = {first, 0}, count[2] = {written, 3};
    const hid_t space = H5Screate_simple(2, size, nullptr), memory = H5Screate_simple(2, count, nullptr);
    const hid_t set = H5Dcreate2(id_, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    std::vector<double> values(written * 3);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    if (written > 0) H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data());
    H5Dclose(set), H5Sclose(space), H5Sclose(memory);
  }
  [[nodiscard]] hid_t id() const { return id_; }

 private:
  hid_t id_;
};

hid_t chunks(hsize_t rows, hsize_t cols, int deflate) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[2] = {rows, cols};
  H5Pset_chunk(creation, 2, chunk);
  const double fill = 7;
  H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
  if (deflate > 0) H5Pset_deflate(creation, static_cast<unsigned>(deflate));
  return creation;
}

/// `virtual_rows` x 3 made of `source` (rows x 3 each), one after the other.
void virtual_dataset(const RawFile& file, const char* name, hsize_t virtual_rows,
                     const std::vector<std::pair<std::string, hsize_t>>& sources) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t size[2] = {virtual_rows, 3};
  const hid_t space = H5Screate_simple(2, size, nullptr);
  hsize_t top = 0;
  for (const auto& [source, rows] : sources) {
    const hsize_t start[2] = {top, 0}, count[2] = {rows, 3};
    const hid_t part = H5Screate_simple(2, count, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    H5Pset_virtual(creation, space, source.c_str(), "X", part);
    H5Sclose(part);
    top += rows;
  }
  H5Sselect_all(space);
  H5Dclose(H5Dcreate2(file.id(), name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Pclose(creation), H5Sclose(space);
}

}  // namespace

TEST_CASE("chunks that were never written are refused with their rows") {
  const TemporaryFolder folder;
  const auto where = folder / "a.h5";
  {
    const RawFile file(where);
    for (const int deflate : {0, 1}) {
      const std::string tail = deflate > 0 ? "_gz" : "";
      const hid_t by_rows = chunks(10, 3, deflate), in_parts = chunks(10, 2, deflate);
      file.dataset(("end" + tail).c_str(), by_rows, 45, 0, 20);
      file.dataset(("start" + tail).c_str(), in_parts, 45, 30, 15);
      file.dataset(("all" + tail).c_str(), in_parts, 45, 0, 45);
      file.dataset(("float" + tail).c_str(), by_rows, 45, 0, 20, H5T_IEEE_F32BE);
      H5Pclose(by_rows), H5Pclose(in_parts);
    }
  }
  for (const std::string tail : {"", "_gz"}) {
    INFO("filter" << tail);
    check_refusal(refusal_of(io::Location{where, "/end" + tail}), Errc::bad_input,
                  {"a.h5:/end" + tail + " has no data for rows 20 to 44", "--missing-as-fill"});
    CHECK(refusal_of(io::Location{where, "/start" + tail}).says("rows 0 to 29"));
    CHECK(refusal_of(io::Location{where, "/float" + tail}).says("rows 20 to 44"));
    CHECK_NOTHROW(io::read_matrix({where, "/all" + tail}));

    // Rows that are there can be read; with leave also those that are not.
    const io::Location end{where, "/end" + tail};
    CHECK(table_of(io::read_matrix(end, {.row_begin = 5, .row_end = 20}))(14, 2) == 60.0);
    CHECK(refusal_of(end, {.row_begin = 5, .row_end = 21}).says("no data for rows 20 to 44"));
    CHECK(refusal_of([&] {
            std::vector<double> rows(45 * 3);
            io::RowReader(end, {}).read(0, 45, true, rows.data());
          }).says("rows 20 to 44"));
    const auto filled = table_of(io::read_matrix(end, {.missing_as_fill = true}));
    CHECK(filled(19, 2) == 60.0);
    CHECK(filled(20, 0) == 7.0);
  }
}

TEST_CASE("storage in one piece that was never allocated is refused") {
  const TemporaryFolder folder;
  const auto where = folder / "a.h5";
  {
    const RawFile file(where);
    file.dataset("late", H5P_DEFAULT, 4, 0, 0);
    const hid_t external = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(external, (folder / "raw").c_str(), 0, 40 * 24);
    std::ofstream(folder / "raw", std::ios::binary) << std::string(24 * 24, '\0');
    file.dataset("external", external, 40, 0, 0);
    H5Pclose(external);
  }
  const io::Location late{where, "/late"};
  CHECK(refusal_of(late).says("ever written"));
  CHECK(refusal_of(io::Location{where, "/external"}, {.trusted = true}).says("rows 24 to 39"));
  for (const bool trusted : {false, true})
    CHECK(table_of(io::read_matrix(late, {.trusted = trusted, .missing_as_fill = true})) == Table(4, 3));
}

TEST_CASE("virtual datasets need every source, whole and covering") {
  const TemporaryFolder folder;
  const auto where = folder / "v.h5";
  {
    const RawFile first(folder / "1.h5"), second(folder / "2.h5"), partial(folder / "p.h5");
    first.dataset("X", H5P_DEFAULT, 10, 0, 10);
    second.dataset("X", H5P_DEFAULT, 10, 0, 10);
    const hid_t creation = chunks(5, 3, 0);
    partial.dataset("X", creation, 10, 0, 5);
    H5Pclose(creation);
    const RawFile file(where);
    virtual_dataset(file, "good", 20, {{"1.h5", 10}, {"2.h5", 10}});
    virtual_dataset(file, "gone", 30, {{"1.h5", 10}, {"none.h5", 10}, {"2.h5", 10}});
    virtual_dataset(file, "gap", 25, {{"1.h5", 10}, {"2.h5", 10}});
    virtual_dataset(file, "short", 24, {{"1.h5", 10}, {"2.h5", 14}});
    virtual_dataset(file, "partial", 20, {{"1.h5", 10}, {"p.h5", 10}});
  }
  io::ReadOptions options{.trusted = true};
  const auto says = [&](const std::string& object, const std::string& words) {
    check_refusal(refusal_of(io::Location{where, object}, options), Errc::bad_input, {words});
  };
  CHECK(table_of(io::read_matrix({where, "/good"}, options))(19, 2) == 30.0);
  says("/gone", "rows 10 to 19");
  says("/gap", "rows 20 to 24");
  says("/short", "rows 10 to 23");
  says("/partial", "rows 10 to 19");
  options.missing_as_fill = true;
  CHECK(table_of(io::read_matrix({where, "/gone"}, options))(29, 2) == 30.0);
  options.missing_as_fill = false;
  options.row_begin = 20;
  CHECK(table_of(io::read_matrix({where, "/gone"}, options))(9, 2) == 30.0);
  options.trusted = false;
  says("/good", "v.h5:/good is a virtual dataset over another file, 1.h5: --trust-input");
}

TEST_CASE("a chunk that its stored bytes cannot fill takes no memory") {
  const TemporaryFolder folder;
  const auto where = folder / "a.h5";
  {
    const RawFile file(where);
    const hid_t creation = chunks(hsize_t{1} << 26, 3, 1);  // 1.5 GiB
    const hsize_t size[2] = {4, 3}, most[2] = {H5S_UNLIMITED, 3}, start[2] = {0, 0};
    const hid_t space = H5Screate_simple(2, size, most);
    for (const char* name : {"X", "big_endian"}) {
      const hid_t type = name[0] == 'X' ? H5T_IEEE_F64LE : H5T_IEEE_F64BE;
      const hid_t set = H5Dcreate2(file.id(), name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
      const std::string bytes(100, 'x');
      CHECK(H5Dwrite_chunk(set, H5P_DEFAULT, 0, start, bytes.size(), bytes.data()) >= 0);
      H5Dclose(set);
    }
    H5Pclose(creation), H5Sclose(space);
  }
  for (const char* name : {"/X", "/big_endian"})
    check_refusal(refusal_of(io::Location{where, name}), Errc::bad_input, {"damaged"});
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  CHECK(used.ru_maxrss < 512 * 1024);  // kilobytes
}
