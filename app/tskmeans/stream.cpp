#include "tallskinny/app/tskmeans/stream.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <future>
#include <string_view>

#include "tallskinny/app/tskmeans/input.hpp"

namespace ts::tskmeans {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

bool can_stream(const io::Description& points, const io::ReadOptions& read) {
  std::array<char, 4> start{};
  std::ifstream(points.where.file, std::ios::binary).read(start.data(), start.size());
  const bool hdf5 = std::string_view(start.data(), start.size()) == "\x89HDF";
  return hdf5 && !points.sparse && !read.transpose && points.peak_bytes == points.bytes &&
         points.declared == io::Structure::general;
}

FileRows::FileRows(const io::Description& points, const io::ReadOptions& read, std::uint64_t block_bytes)
    : where_(points.where), options_(read), rows_(points.rows), cols_(points.cols), type_(points.type) {
  const auto row_bytes = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(cols_) * static_cast<std::uint64_t>(size_of(type_)));
  // Blocks are whole chunks of the sums; where a chunk of the file fits in as well, whole ones of those.
  index_t unit = chunk_rows;
  if (points.chunk_rows > 0) {
    index_t both = points.chunk_rows;
    while (both % chunk_rows != 0 && both <= (index_t{1} << 24)) both += points.chunk_rows;
    if (both % chunk_rows == 0 && static_cast<std::uint64_t>(both) * row_bytes <= block_bytes) unit = both;
  }
  const auto fitting =
      static_cast<index_t>(std::min<std::uint64_t>(block_bytes / row_bytes, std::uint64_t{1} << 40));
  block_rows_ = std::max<index_t>(1, fitting / unit) * unit;
}

io::MatrixFile FileRows::read(index_t first, index_t count) const {
  const auto began = Clock::now();
  io::ReadOptions part = options_;
  part.row_begin = options_.row_begin + first;
  part.row_end = part.row_begin + count;
  part.check_finite = options_.check_finite && passes_ == 0;
  io::MatrixFile file = io::read_matrix(where_, part);
  reading_ += seconds_since(began);
  bytes_ += static_cast<std::uint64_t>(count * cols_) * static_cast<std::uint64_t>(size_of(type_));
  return file;
}

void FileRows::for_each_block(const Use& use) const {
  const auto began = Clock::now();
  const auto start = [this](index_t first) {
    return std::async(std::launch::async,
                      [this, first] { return read(first, std::min(block_rows_, rows_ - first)); });
  };
  std::future<io::MatrixFile> next = start(0);
  for (index_t first = 0; first < rows_; first += block_rows_) {
    const io::MatrixFile block = next.get();
    if (first + block_rows_ < rows_) next = start(first + block_rows_);
    use(first, rows_of(block));
  }
  ++passes_;
  passing_ += seconds_since(began);
}

void FileRows::load(index_t i, double* row) const {
  const io::MatrixFile file = read(i, 1);
  rows_of(file).load(0, row);
}

}  // namespace ts::tskmeans
