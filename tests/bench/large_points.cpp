// Points around known centres, written by all processors at once, and a check of what tskmeans made of them. Nothing of
// the project computes here but the conversion to 16 bits.
//
//   large_points make FILE.h5 ROWS COLS GROUPS float16|float32
//   large_points check FILE.h5 RESULT.h5 SAMPLE
//
// make: /features, rows as they come, and /centers. check: of SAMPLE points, in runs that lie anywhere, distances to
// /cluster_centers of the result in float64; of all labels, their counts. Exit status 1 where one is wrong.
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/gemm/runtime/processors.hpp"
#include "tallskinny/gemm/runtime/stopwatch.hpp"

namespace {

using namespace ts;

template <class Id>
Id done(Id id, const std::string& what) {
  if (id < 0) throw std::runtime_error("HDF5 could not do this: " + what);
  return id;
}

std::uint64_t hash(std::uint64_t key) {
  std::uint64_t z = (key + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

struct Shape {
  index_t rows = 0, cols = 0, groups = 0;
  [[nodiscard]] index_t group(index_t row) const {
    return static_cast<index_t>(hash(static_cast<std::uint64_t>(row)) % static_cast<std::uint64_t>(groups));
  }
};

/// In a cube of side 20.
std::vector<double> centres_of(const Shape& s) {
  std::vector<double> centres(static_cast<std::size_t>(s.groups * s.cols));
  for (std::size_t i = 0; i < centres.size(); ++i) centres[i] = static_cast<double>(hash(~i) >> 11) * 20 * 0x1p-53 - 10;
  return centres;
}

/// Four 16-bit numbers added up are nearly normal; of standard deviation 1.
double noise(std::uint64_t key) {
  const std::uint64_t bits = hash(key ^ 0x5555555555555555U);
  const auto sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) - 131070) / 37837.2;
}

template <class T>
void fill_rows(const Shape& s, const std::vector<double>& centres, index_t first, index_t rows, T* to) {
  for (index_t i = first; i < first + rows; ++i) {
    const double* centre = centres.data() + s.group(i) * s.cols;
    for (index_t j = 0; j < s.cols; ++j)
      *to++ = narrowed<T>(centre[j] + noise(static_cast<std::uint64_t>(i * s.cols + j)));
  }
}

/// An empty dataset whose bytes have their place in the file, which is returned.
haddr_t add_dataset(hid_t file, const char* name, hid_t type, index_t rows, index_t cols) {
  const hsize_t sides[] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(cols)};
  const hid_t space = done(H5Screate_simple(2, sides, nullptr), "a space"),
              how = done(H5Pcreate(H5P_DATASET_CREATE), "a list");
  done(H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY), "space at once");
  done(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER), "no fill values");
  const hid_t set = done(H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT), name);
  const haddr_t place = H5Dget_offset(set);
  if (place == HADDR_UNDEF) throw std::runtime_error("HDF5 gave the dataset no place");
  H5Dclose(set), H5Pclose(how), H5Sclose(space);
  return place;
}

void write_all(int file, const void* data, std::size_t bytes, std::uint64_t at) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t wrote = ::pwrite(file, next, bytes, static_cast<off_t>(at));
    if (wrote <= 0) throw std::runtime_error(std::string("writing: ") + std::strerror(errno));
    next += wrote, at += static_cast<std::uint64_t>(wrote), bytes -= static_cast<std::size_t>(wrote);
  }
}

template <class T>
void make(const std::string& path, const Shape& s) {
  const Stopwatch watch;
  const hid_t half = done(H5Tcopy(H5T_IEEE_F32LE), "a type");
  if (sizeof(T) == 2) {  // as NumPy has it
    done(H5Tset_fields(half, 15, 10, 5, 0, 10), "float16"), done(H5Tset_size(half, 2), "float16");
    done(H5Tset_ebias(half, 15), "float16");
  }
  const hid_t file = done(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "make " + path);
  const haddr_t centres_at = add_dataset(file, "centers", H5T_IEEE_F64LE, s.groups, s.cols),
                at = add_dataset(file, "features", half, s.rows, s.cols);
  done(H5Fclose(file), "close " + path);
  const int out = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (out < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
  const std::vector<double> centres = centres_of(s);
  write_all(out, centres.data(), centres.size() * sizeof(double), centres_at);
  const index_t piece = std::max<index_t>(1, (index_t{4} << 20) / (s.cols * static_cast<index_t>(sizeof(T))));
  parallel_pieces(default_threads(), (s.rows + piece - 1) / piece, [&](index_t p, int) {
    const index_t first = p * piece, rows = std::min(piece, s.rows - first);
    std::vector<T> values(static_cast<std::size_t>(rows * s.cols));
    fill_rows(s, centres, first, rows, values.data());
    write_all(out, values.data(), values.size() * sizeof(T),
              at + static_cast<std::uint64_t>(first * s.cols) * sizeof(T));
  });
  ::close(out);
  const double bytes = static_cast<double>(s.rows * s.cols) * sizeof(T);
  std::printf("%lld x %lld, %.3g GB in %.1f s, %d threads\n", static_cast<long long>(s.rows),
              static_cast<long long>(s.cols), bytes * 1e-9, watch.seconds(), default_threads());
}

/// A dataset of one or two dimensions, of which rows are read as any type.
class Dataset {
 public:
  Dataset(const std::string& path, const char* name)
      : file_(done(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open " + path)),
        set_(done(H5Dopen2(file_, name, H5P_DEFAULT), path + " has " + name)),
        space_(done(H5Dget_space(set_), "a space")) {
    hsize_t sides[2] = {1, 1};
    done(H5Sget_simple_extent_dims(space_, sides, nullptr), "sides");
    rows_ = static_cast<index_t>(sides[0]), cols_ = static_cast<index_t>(sides[1]);
  }
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  ~Dataset() { H5Sclose(space_), H5Dclose(set_), H5Fclose(file_); }
  [[nodiscard]] index_t rows() const { return rows_; }
  [[nodiscard]] index_t cols() const { return cols_; }
  template <class T>
  [[nodiscard]] std::vector<T> read(index_t first, index_t rows, hid_t type) const {
    std::vector<T> values(static_cast<std::size_t>(rows * cols_));
    const hsize_t from[] = {static_cast<hsize_t>(first), 0},
                  count[] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(cols_)};
    done(H5Sselect_hyperslab(space_, H5S_SELECT_SET, from, nullptr, count, nullptr), "select");
    const hid_t memory = done(H5Screate_simple(H5Sget_simple_extent_ndims(space_), count, nullptr), "a space");
    done(H5Dread(set_, type, memory, space_, H5P_DEFAULT, values.data()), "read");
    H5Sclose(memory);
    return values;
  }

 private:
  hid_t file_, set_, space_;
  index_t rows_ = 0, cols_ = 0;
};

/// Of a label the error is how much farther its centre is than the nearest, relative to this.
double excess(const double* point, const std::vector<double>& centres, index_t cols, index_t label) {
  double least = HUGE_VAL, own = HUGE_VAL;
  for (index_t c = 0; c < static_cast<index_t>(centres.size()) / cols; ++c) {
    double distance = 0;
    for (index_t j = 0; j < cols; ++j) {
      const double difference = point[j] - centres[static_cast<std::size_t>(c * cols + j)];
      distance += difference * difference;
    }
    least = std::min(least, distance);
    if (c == label) own = distance;
  }
  return own / least - 1;
}

/// Labels of all points, counted; whether they are what the result says.
bool counts_agree(const Dataset& labels, const std::vector<std::int64_t>& told) {
  std::vector<std::int64_t> counts(told.size());
  index_t outside = 0;
  constexpr index_t piece = index_t{1} << 26;
  for (index_t first = 0; first < labels.rows(); first += piece)
    for (const std::int32_t label :
         labels.read<std::int32_t>(first, std::min(piece, labels.rows() - first), H5T_NATIVE_INT32))
      if (label >= 0 && label < static_cast<std::int32_t>(counts.size()))
        ++counts[static_cast<std::size_t>(label)];
      else
        ++outside;
  std::printf("labels: %lld, outside 0 .. k - 1: %lld, counts %s cluster_sizes\n",
              static_cast<long long>(labels.rows()), static_cast<long long>(outside),
              counts == told ? "equal" : "DIFFER from");
  return outside == 0 && counts == told;
}

bool check(const std::string& path, const std::string& result, index_t sample) {
  const Stopwatch watch;
  const Dataset points(path, "features"), labels(result, "labels"), in_file(result, "cluster_centers"),
      known(path, "centers"), sizes(result, "cluster_sizes");
  const auto centres = in_file.read<double>(0, in_file.rows(), H5T_NATIVE_DOUBLE);
  const Shape s{points.rows(), points.cols(), known.rows()};
  if (labels.rows() != s.rows) throw std::runtime_error("there are not as many labels as points");
  const index_t run = std::min<index_t>(1024, s.rows), runs = std::max<index_t>(1, sample / run);
  std::vector<std::int64_t> groups(static_cast<std::size_t>(in_file.rows() * s.groups));
  index_t wrong = 0;
  double worst = 0;
  for (index_t r = 0; r < runs; ++r) {
    const auto places = static_cast<std::uint64_t>(s.rows - run + 1);
    const auto first = static_cast<index_t>(hash(static_cast<std::uint64_t>(r) + 12345) % places);
    const auto rows = points.read<double>(first, run, H5T_NATIVE_DOUBLE);
    const auto given = labels.read<std::int32_t>(first, run, H5T_NATIVE_INT32);
    for (index_t i = 0; i < run; ++i) {
      const index_t label = given[static_cast<std::size_t>(i)];
      const double more = excess(rows.data() + i * s.cols, centres, s.cols, label);
      worst = std::max(worst, more);
      if (!(more <= 1e-12)) ++wrong;
      if (label >= 0 && label < in_file.rows())
        ++groups[static_cast<std::size_t>(label * s.groups + s.group(first + i))];
    }
  }
  std::int64_t together = 0;
  for (auto cluster = groups.begin(); cluster != groups.end(); cluster += s.groups)
    together += *std::max_element(cluster, cluster + s.groups);
  std::printf(
      "sample: %lld points, %lld labels wrong (worst excess of a squared distance %.1e); %.1f%% of the points\n"
      "are in a cluster most of which is of their group\n",
      static_cast<long long>(runs * run), static_cast<long long>(wrong), worst,
      100 * static_cast<double>(together) / static_cast<double>(runs * run));
  const bool agree = counts_agree(labels, sizes.read<std::int64_t>(0, sizes.rows(), H5T_NATIVE_INT64));
  std::printf("checked in %.1f s: %s\n", watch.seconds(), agree && wrong == 0 ? "right" : "WRONG");
  return agree && wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 6 && words[0] == "make" && (words[5] == "float16" || words[5] == "float32")) {
      const Shape s{std::stoll(words[2]), std::stoll(words[3]), std::stoll(words[4])};
      if (s.rows < 1 || s.cols < 1 || s.groups < 1) throw std::runtime_error("ROWS, COLS and GROUPS begin at 1");
      words[5] == "float16" ? make<float16>(words[1], s) : make<float>(words[1], s);
      return 0;
    }
    if (words.size() == 4 && words[0] == "check") return check(words[1], words[2], std::stoll(words[3])) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "large_points: %s\n", e.what());
    return 1;
  }
  std::fprintf(stderr,
               "usage: large_points make FILE.h5 ROWS COLS GROUPS float16|float32\n"
               "       large_points check FILE.h5 RESULT.h5 SAMPLE\n");
  return 2;
}
