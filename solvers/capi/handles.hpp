// Objects behind the handles of the C API.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "tallskinny/gemm/adaptors/dlpack.hpp"
#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/capi/tallskinny.h"

struct ts_context {
  ts::Context ctx;
};

namespace ts::inline v0::capi {

/// An operator that is the caller's function.
struct Function {
  index_t n = 0;
  ts_apply apply = nullptr;
  void* user = nullptr;
};
template <Layout L>
using Dense = std::variant<HostView<double, L>, HostView<float, L>, HostView<std::complex<double>, L>,
                           HostView<std::complex<float>, L>>;
using Sparse = CsrView<double>;

}  // namespace ts::inline v0::capi

struct ts_matrix {
  std::variant<ts::capi::Dense<ts::Layout::row_major>, ts::capi::Dense<ts::Layout::col_major>, ts::capi::Sparse,
               ts::capi::Function>
      matrix;
  ts::DLOwner owner;
};

struct ts_result {
  struct Array {
    const void* data = nullptr;
    DLDataType type = {};
    std::array<ts::index_t, 2> shape = {};
    int dimensions = 0;
  };
  bool converged = false, complete = false;
  std::string reason;
  std::map<ts_number, double> numbers;
  std::shared_ptr<const void> owner;  ///< of all arrays
  std::map<ts_array, Array> arrays;

  template <class T>
  void add(ts_array which, const std::vector<T>& list) {
    arrays[which] = {list.data(), ts::dl_type<T>(), {std::ssize(list), 1}, 1};
  }
  template <class T>
  void add(ts_array which, const ts::Matrix<T>& m) {
    arrays[which] = {m.data(), ts::dl_type<T>(), {m.rows(), m.cols()}, 2};
  }
};

namespace ts::inline v0::capi {

/// Keeps the message for ts_last_error.
ts_status failed(ts_status status, const char* sentence) noexcept;

/// Calls work(); an exception becomes a status and a message.
template <class Work>
ts_status guarded(const Work& work) noexcept {
  try {
    work();
    return TS_OK;
  } catch (const Error& error) {
    return failed(static_cast<ts_status>(static_cast<int>(error.code()) + 1), error.what());
  } catch (const std::bad_alloc&) {
    return failed(TS_OUT_OF_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return failed(TS_UNKNOWN, error.what());
  }
}

/// Calls use(view) with a dense or sparse matrix in its element type.
template <class R, class Use>
R with_matrix(const ts_matrix& a, const Use& use) {
  return std::visit(
      [&](const auto& kind) -> R {
        using Kind = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, Function>)
          throw Error(Errc::invalid_argument, "a matrix that is a function is for ts_eigsh alone");
        else if constexpr (std::is_same_v<Kind, Sparse>)
          return use(kind);
        else
          return std::visit([&](const auto& view) -> R { return use(view); }, kind);
      },
      a.matrix);
}

}  // namespace ts::inline v0::capi
