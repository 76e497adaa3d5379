#include "tallskinny/io/npy_output.hpp"

#include <bit>
#include <string>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/elements.hpp"
#include "tallskinny/io/write/new_file.hpp"

namespace ts::inline v0::io {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

template <class T>
std::string npy_type() {
  char kind = std::is_integral_v<T> ? 'i' : is_complex<T> ? 'c' : 'f';
  if constexpr (!std::is_integral_v<T>)
    if (dtype_of<T> == unnamed_dtype) kind = 'V';
  return std::string("<") + kind + std::to_string(sizeof(T));
}

/// The data begin at a multiple of 64 bytes.
std::string npy_header(const std::string& type, index_t rows, index_t cols) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ',' +
                     (cols >= 0 ? ' ' + std::to_string(cols) : "") + "), }";
  constexpr std::size_t before = 10, unit = 64;
  text.resize((before + text.size() + unit) / unit * unit - before - 1, ' ');
  text += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(text.size() & 0xff);
  start += static_cast<char>(text.size() >> 8);
  return start + text;
}

}  // namespace

template <class T>
class NpyOutput<T>::Body {
 public:
  Body(const std::filesystem::path& target, index_t rows, index_t cols)
      : file_(target), missing_(static_cast<std::size_t>(rows * (cols < 0 ? 1 : cols))) {
    file_.write(npy_header(npy_type<T>(), rows, cols));
  }
  void add(std::span<const T> values) {
    expects(values.size() <= missing_, "an .npy file gets more elements than its shape says");
    file_.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    missing_ -= values.size();
  }
  void commit() {
    expects(missing_ == 0, "an .npy file lacks elements");
    file_.commit();
  }

 private:
  NewFile file_;
  std::size_t missing_;
};

template <class T>
NpyOutput<T>::NpyOutput(const std::filesystem::path& target, index_t rows, index_t cols)
    : body_(std::make_unique<Body>(target, rows, cols)) {}
template <class T>
NpyOutput<T>::~NpyOutput() = default;
template <class T>
NpyOutput<T>::NpyOutput(NpyOutput&&) noexcept = default;
template <class T>
NpyOutput<T>& NpyOutput<T>::operator=(NpyOutput&&) noexcept = default;
template <class T>
void NpyOutput<T>::add(std::span<const T> values) {
  body_->add(values);
}
template <class T>
void NpyOutput<T>::commit() {
  body_->commit();
}

TS_FOR_EACH_TYPE(TS_CLASS, NpyOutput)
TS_CLASS(std::int64_t, NpyOutput)
TS_CLASS(std::int32_t, NpyOutput)

}  // namespace ts::inline v0::io
