// Variables of a MATLAB file of version 4 or 5 through libmatio: what the process that reads them does.
#pragma once

#include <dlfcn.h>
#include <matio.h>

#include <memory>
#include <optional>
#include <type_traits>

#include "tallskinny/io/binary/mat_variables.hpp"
#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::matlab5 {

/// Functions of libmatio that are called; bound at run time.
struct Matio {
  decltype(&::Mat_Open) open = nullptr;
  decltype(&::Mat_VarReadNextInfo) next_info = nullptr;
  decltype(&::Mat_VarRead) read = nullptr;
  decltype(&::Mat_VarFree) free = nullptr;
  decltype(&::Mat_VarGetNumberOfFields) count_fields = nullptr;
  decltype(&::Mat_VarGetStructFieldnames) field_names = nullptr;
  decltype(&::Mat_VarGetStructFieldByName) field = nullptr;
  bool loaded = false;

  Matio() {
    void* const library = ::dlopen(TS_MATIO, RTLD_NOW | RTLD_LOCAL);  // stays
    const auto bind = [library]<class Function>(Function*& to, const char* name) {
      to = reinterpret_cast<Function*>(::dlsym(library, name));
      return to != nullptr;
    };
    loaded = library != nullptr && bind(open, "Mat_Open") && bind(next_info, "Mat_VarReadNextInfo") &&
             bind(read, "Mat_VarRead") && bind(free, "Mat_VarFree") && bind(count_fields, "Mat_VarGetNumberOfFields") &&
             bind(field_names, "Mat_VarGetStructFieldnames") && bind(field, "Mat_VarGetStructFieldByName");
  }
};

using Variable = std::unique_ptr<matvar_t, decltype(&::Mat_VarFree)>;

inline const char* class_name(matio_classes kind) {
  switch (kind) {
    case MAT_C_SPARSE: return "sparse";
    case MAT_C_DOUBLE: return "double";
    case MAT_C_SINGLE: return "single";
    case MAT_C_INT8: return "int8";
    case MAT_C_UINT8: return "uint8";
    case MAT_C_INT16: return "int16";
    case MAT_C_UINT16: return "uint16";
    case MAT_C_INT32: return "int32";
    case MAT_C_UINT32: return "uint32";
    case MAT_C_INT64: return "int64";
    case MAT_C_UINT64: return "uint64";
    default: return nullptr;
  }
}

/// `count` stored numbers into every `stride`-th place of `out`; false for a type that is none of numbers.
template <class To>
bool widen_list(matio_types type, const void* from, std::size_t count, std::size_t stride, To* out) {
  const auto copy = [&]<class From>(std::type_identity<From>) {
    const auto* const list = static_cast<const From*>(from);
    for (std::size_t k = 0; k < count; ++k) out[k * stride] = static_cast<To>(list[k]);
    return true;
  };
  switch (type) {
    case MAT_T_INT8: return copy(std::type_identity<std::int8_t>{});
    case MAT_T_UINT8: return copy(std::type_identity<std::uint8_t>{});
    case MAT_T_INT16: return copy(std::type_identity<std::int16_t>{});
    case MAT_T_UINT16: return copy(std::type_identity<std::uint16_t>{});
    case MAT_T_INT32: return copy(std::type_identity<std::int32_t>{});
    case MAT_T_UINT32: return copy(std::type_identity<std::uint32_t>{});
    case MAT_T_INT64: return copy(std::type_identity<std::int64_t>{});
    case MAT_T_UINT64: return copy(std::type_identity<std::uint64_t>{});
    case MAT_T_SINGLE: return copy(std::type_identity<float>{});
    case MAT_T_DOUBLE: return copy(std::type_identity<double>{});
    default: return false;
  }
}

/// Reads variables of a MATLAB file through libmatio. Runs in the process without rights.
class MatReader {
 public:
  MatReader(const Matio& library, mat_t* file, int out) : matio_(library), file_(file), out_(out) {}

  /// Describes every matrix.
  std::vector<MatVariable> all() {
    std::vector<std::pair<std::string, std::optional<MatVariable>>> variables;
    while (const Variable v = owned(matio_.next_info(file_))) {
      if (v->name == nullptr) continue;
      variables.emplace_back(v->name, std::nullopt);
      if (v->class_type != MAT_C_STRUCT && v->class_type != MAT_C_SPARSE && class_name(v->class_type) != nullptr)
        variables.back().second = described(*v, v->name, false);
    }
    std::vector<MatVariable> found;
    const auto add = [&found](const matvar_t& v, const std::string& path) {
      found.push_back(described(v, path, true));
    };
    for (const auto& [name, known] : variables)
      if (known)
        found.push_back(*known);
      else if (const Variable v = owned(matio_.read(file_, name.c_str())))  // which says how many entries there are
        visit(*v, name, add);
    return found;
  }

  /// Writes the lists of one.
  std::vector<MatVariable> one(const std::string& path) {
    std::vector<MatVariable> found;
    const Variable v = owned(matio_.read(file_, path.substr(0, path.find('/')).c_str()));
    if (!v) return found;
    visit(*v, v->name, [&](const matvar_t& variable, const std::string& at) {
      if (at != path || !found.empty()) return;
      found.push_back(described(variable, at, true));
      if (found.back().problem.empty()) write_lists(variable, found.back());
    });
    return found;
  }

 private:
  Variable owned(matvar_t* v) const { return {v, matio_.free}; }

  /// Matrices in a variable: itself, or the fields of a struct.
  template <class Use>
  void visit(matvar_t& v, const std::string& path, const Use& use) {
    if (v.class_type == MAT_C_STRUCT && v.rank == 2 && v.dims != nullptr && v.dims[0] == 1 && v.dims[1] == 1) {
      char* const* const names = matio_.field_names(&v);
      for (unsigned k = 0; names != nullptr && k < matio_.count_fields(&v); ++k)
        if (matvar_t* field = matio_.field(&v, names[k], 0); field != nullptr && path.find('/') == std::string::npos)
          visit(*field, path + "/" + names[k], use);
    } else if (class_name(v.class_type) != nullptr) {
      use(v, path);
    }
  }

  /// @param read whether its elements were
  static MatVariable described(const matvar_t& v, const std::string& path, bool read) {
    MatVariable d;
    d.path = path;
    d.sparse = v.class_type == MAT_C_SPARSE, d.complex = v.isComplex != 0, d.single = v.class_type == MAT_C_SINGLE;
    d.stored_type =
        std::string(d.complex ? "complex " : "") + (v.isLogical != 0 ? "logical" : class_name(v.class_type));
    if (v.rank != 2 || v.dims == nullptr) {
      d.problem = joined("has ", v.rank, " dimensions where a matrix has two");
      return d;
    }
    d.rows = static_cast<index_t>(v.dims[0]), d.cols = static_cast<index_t>(v.dims[1]);
    if (d.rows < 0 || d.cols < 0 || product({d.rows, d.cols}) > std::uint64_t{1} << 56)
      d.problem = "has an impossible shape";
    d.entries = d.sparse ? 0 : d.rows * d.cols;
    const auto* const lists = static_cast<const mat_sparse_t*>(v.data);
    if (read && v.data == nullptr && (d.sparse || d.entries > 0)) d.problem = "could not be read by libmatio";
    if (!d.sparse || lists == nullptr) return d;
    d.entries = lists->njc > 0 && lists->jc != nullptr ? lists->jc[lists->njc - 1] : 0;
    if (lists->njc != static_cast<std::uint64_t>(d.cols) + 1 || d.entries > lists->nir || d.entries > lists->ndata)
      d.problem = "has lists of lengths that do not fit together";
    return d;
  }

  void write_lists(const matvar_t& v, MatVariable& d) {
    if (!d.sparse) {
      if (d.entries > 0) write_values(v.data, v.data_type, d);
      return;
    }
    const auto& lists = *static_cast<const mat_sparse_t*>(v.data);
    const auto integers = [this](const mat_uint32_t* list, std::size_t count) {
      const std::uint64_t start = written_;
      put(std::vector<std::int64_t>(list, list + count));
      return start;
    };
    d.pointers = integers(lists.jc, static_cast<std::size_t>(d.cols) + 1);
    d.minor = integers(lists.ir, static_cast<std::size_t>(d.entries));
    if (d.entries > 0) write_values(lists.data, v.data_type, d);
  }

  void write_values(const void* data, matio_types type, MatVariable& d) {
    d.single ? write_values_as<float>(data, type, d) : write_values_as<double>(data, type, d);
  }

  template <class To>
  void write_values_as(const void* data, matio_types type, MatVariable& d) {
    const std::size_t parts = d.complex ? 2 : 1, count = static_cast<std::size_t>(d.entries);
    std::vector<To> list(count * parts);
    bool known = true;
    if (d.complex) {
      const auto& split = *static_cast<const mat_complex_split_t*>(data);
      known =
          widen_list(type, split.Re, count, 2, list.data()) && widen_list(type, split.Im, count, 2, list.data() + 1);
    } else {
      known = widen_list(type, data, count, 1, list.data());
    }
    if (!known) d.problem = "holds elements that are no numbers";
    d.values = written_;
    put(list);
  }

  template <class T>
  void put(const std::vector<T>& list) {
    const std::string_view bytes(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
    written_ += bytes.size();
    if (!write_all(out_, bytes)) throw std::bad_alloc();  // it lies in memory
  }

  const Matio& matio_;
  mat_t* file_;
  int out_;
  std::uint64_t written_ = 0;
};

}  // namespace ts::inline v0::io::matlab5
