#include "tallskinny/io/table_output.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/elements.hpp"
#include "tallskinny/io/npy_output.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/write/new_file.hpp"

namespace ts::inline v0::io {

namespace {

/// The shortest text that reads as the same number.
template <class T>
void append_number(std::string& text, T x) {
  std::array<char, 40> digits{};
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), widened(x)).ptr);
}

std::string quoted_name(const std::string& name) {
  if (name.find_first_of(",;\"\t\n\r") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? '\'' : c == '\n' || c == '\r' ? ' ' : c;
  return text + '"';
}

/// TextRows of text for rows of elements.
template <class T>
class TextRows {
 public:
  using Sink = std::function<void(std::string_view)>;
  TextRows(index_t rows, index_t cols, const std::vector<std::string>& names, Sink sink)
      : cols_(cols < 0 ? 1 : cols), missing_(static_cast<std::size_t>(rows * cols_)), sink_(std::move(sink)) {
    const index_t named = std::ssize(names);
    for (index_t j = 0; j < cols_; ++j) {
      const bool counts_on = named == 0 || (named < cols_ && j >= named - 1);
      const std::string name = counts_on
                                   ? (named == 0 ? "x" : names.back()) + std::to_string(named == 0 ? j : j - named + 1)
                                   : names[static_cast<std::size_t>(j)];
      text_ += j == 0 ? "" : ",";
      if constexpr (is_complex<T>)
        text_ += quoted_name(name + "_real") + ',' + quoted_name(name + "_imag");
      else
        text_ += quoted_name(name);
    }
    text_ += '\n';
  }
  void add(std::span<const T> values) {
    expects(values.size() <= missing_, "a .csv file gets more elements than its shape says");
    missing_ -= values.size();
    for (const T& x : values) {
      if constexpr (is_complex<T>) {
        append_number(text_, x.real());
        text_ += ',';
        append_number(text_, x.imag());
      } else {
        append_number(text_, x);
      }
      at_ = at_ + 1 == cols_ ? 0 : at_ + 1;
      text_ += at_ == 0 ? '\n' : ',';
      if (text_.size() >= piece) flush();
    }
  }
  void end() {
    expects(missing_ == 0, "a .csv file lacks elements");
    flush();
  }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 20;
  void flush() { sink_(text_), text_.clear(); }

  index_t cols_, at_ = 0;
  std::size_t missing_;
  Sink sink_;
  std::string text_;
};

}  // namespace

bool is_table_name(std::string_view file) noexcept { return file.ends_with(".npy") || file.ends_with(".csv"); }

template <class T>
class TableOutput<T>::Impl {
 public:
  Impl(const std::filesystem::path& target, index_t rows, index_t cols, const std::vector<std::string>& names) {
    if (target.extension() == ".npy") {
      npy_.emplace(target, rows, cols);
      return;
    }
    expects(target.extension() == ".csv", "a table is written to .npy or .csv");
    file_.emplace(target);
    lines_.emplace(rows, cols, names, [this](std::string_view text) { file_->write(text); });
  }
  Impl(std::ostream& out, index_t rows, index_t cols, const std::vector<std::string>& names) {
    lines_.emplace(rows, cols, names, [&out](std::string_view text) { out << text; });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void add(std::span<const T> values) { npy_ ? npy_->add(values) : lines_->add(values); }
  void commit() {
    if (npy_) return npy_->commit();
    lines_->end();
    if (file_) file_->commit();
  }

 private:
  std::optional<NpyOutput<T>> npy_;
  std::optional<NewFile> file_;
  std::optional<TextRows<T>> lines_;
};

template <class T>
TableOutput<T>::TableOutput(const std::filesystem::path& target, index_t rows, index_t cols,
                            std::vector<std::string> names)
    : impl_(std::make_shared<Impl>(target, rows, cols, std::move(names))) {}
template <class T>
TableOutput<T>::TableOutput(std::ostream& text, index_t rows, index_t cols, std::vector<std::string> names)
    : impl_(std::make_shared<Impl>(text, rows, cols, std::move(names))) {}
template <class T>
void TableOutput<T>::add(std::span<const T> values) {
  impl_->add(values);
}
template <class T>
void TableOutput<T>::commit() {
  impl_->commit();
}

TS_FOR_EACH_TYPE(TS_CLASS, TableOutput)
TS_CLASS(std::int64_t, TableOutput)
TS_CLASS(std::int32_t, TableOutput)

namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

template <class T>
std::string npy_type() {
  char kind = std::is_integral_v<T> ? 'i' : is_complex<T> ? 'c' : 'f';
  if constexpr (!std::is_integral_v<T>)
    if (dtype_of<T> == unnamed_dtype) kind = 'V';
  return joined("<", kind, sizeof(T));
}

/// The data begin at a multiple of 64 bytes.
std::string npy_header(const std::string& type, index_t rows, index_t cols) {
  std::string text = joined("{'descr': '", type, "', 'fortran_order': False, 'shape': (", rows, ',',
                            cols >= 0 ? ' ' + std::to_string(cols) : "", "), }");
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
NpyOutput<T>::NpyOutput(const std::filesystem::path& target, index_t rows, index_t cols)
    : file_(std::make_shared<NewFile>(target)), missing_(static_cast<std::size_t>(rows * (cols < 0 ? 1 : cols))) {
  file_->write(npy_header(npy_type<T>(), rows, cols));
}
template <class T>
void NpyOutput<T>::add(std::span<const T> values) {
  expects(values.size() <= missing_, "an .npy file gets more elements than its shape says");
  file_->write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  missing_ -= values.size();
}
template <class T>
void NpyOutput<T>::commit() {
  expects(missing_ == 0, "an .npy file lacks elements");
  file_->commit();
}

TS_FOR_EACH_TYPE(TS_CLASS, NpyOutput)
TS_CLASS(std::int64_t, NpyOutput)
TS_CLASS(std::int32_t, NpyOutput)

}  // namespace ts::inline v0::io
