// Runs an operation in every way that must agree: the reference, each vector level of this processor, several
// thread counts that must give the same bits, and the GPU if there is one.
#pragma once

#include "tallskinny/gemm/plan/processor_info.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"
#include "tallskinny/tests/support/device.hpp"

namespace ts::test {

inline constexpr Op ops[] = {Op::none, Op::adjoint, Op::transpose};

inline Context reference_context() { return Context{.implementation = Implementation::reference}; }
inline Context fast_context(Simd simd = Simd::best, int threads = 1) {
  return Context{.threads = threads, .simd = simd};
}
inline std::vector<Simd> simd_levels() {
  std::vector<Simd> levels;
  for (const Simd level : {Simd::sse2, Simd::avx2, Simd::avx512})
    if (level <= this_cpu().simd) levels.push_back(level);
  return levels;
}

/// The stream on which compiled_ahead rehearses; empty at any other time.
inline cuda::Stream& rehearsal_stream() {
  static cuda::Stream stream;
  return stream;
}

/// Turns of on_device since compiled_ahead began: every second one takes the level gpu_to_gpu, too, whose
/// kernels are others.
inline int& device_turn() {
  static int turn = 0;
  return turn;
}

/// Runs `body`, which may use in_every_way and on_device alone; where there is a GPU, after a rehearsal that
/// tells which kernels it takes, so that they are compiled in parallel and not one by one.
template <class Body>
void compiled_ahead(Body&& body) {
  if (has_device()) {
    rehearsal_stream() = cuda::Stream::rehearsing(device_stream().device());
    device_turn() = 0;
    body();
    const auto kernels = std::move(rehearsal_stream().rehearsal()->kernels);
    rehearsal_stream() = {};
    cuda::prepare(device_context(), kernels);
  }
  device_turn() = 0;
  body();
}

/// run(context, output) on the GPU, if there is one, in turns at one or both levels of determinism and twice
/// at each; what `run` does must go through with_views(context, ...).
template <class Out, class Run, class Check>
void on_device(const Out& output, Run&& run, Check&& check) {
  if (!has_device()) return;
  const bool both = device_turn()++ % 2 == 0;
  for (const Determinism level : {Determinism::run_to_run, Determinism::gpu_to_gpu}) {
    if (level == Determinism::gpu_to_gpu && !both) continue;
    if (rehearsal_stream()) {
      Context ctx = device_context(level);
      ctx.stream = rehearsal_stream();
      Out out = output;
      run(ctx, out);
      continue;
    }
    INFO("GPU, " << (level == Determinism::run_to_run ? "run to run" : "GPU to GPU"));
    Out out = output, again = output;
    run(device_context(level), out);
    check(out);
    run(device_context(level), again);
    REQUIRE((again.bits() == out.bits()));
  }
}

/// Where $TS_BITS names a file, a line there for each result of a test, by which two builds are compared: see
/// tests/bench/README.md.
inline void note_bits(const std::vector<unsigned char>& bits, const std::string& how) {
  static const char* const name = std::getenv("TS_BITS");
  if (name == nullptr) return;
  static std::ofstream file(name);
  static std::map<std::string, int> results;
  const std::string of = Catch::getResultCapture().getCurrentTestName() + ", " + how;
  const std::string_view text(reinterpret_cast<const char*>(bits.data()), bits.size());
  file << of << " " << ++results[of] << ": " << std::hex << std::hash<std::string_view>{}(text) << std::dec
       << std::endl;
}

/// run(context, output) on the processor for a fresh copy of `output` each time; check(output) after each.
template <class Out, class Run, class Check>
void in_every_host_way(const Out& output, Run&& run, Check&& check) {
  if (rehearsal_stream()) return;
  {
    INFO("reference");
    Out out = output;
    run(reference_context(), out);
    check(out);
    note_bits(out.bits(), "reference");
  }
  for (const Simd level : simd_levels()) {
    INFO("fast, " << name_of(level));
    Out out = output;
    run(fast_context(level), out);
    check(out);
    note_bits(out.bits(), std::string(name_of(level)));
    for (const int threads : {2, 3, 7}) {
      Out again = output;
      run(fast_context(level, threads), again);
      INFO(threads << " threads");
      REQUIRE((again.bits() == out.bits()));
    }
  }
}

/// All of these.
template <class Out, class Run, class Check>
void in_every_way(const Out& output, Run&& run, Check&& check) {
  in_every_host_way(output, run, check);
  on_device(output, run, check);
}

/// |out - (alpha product + beta before)| within the bound of the summed products, entry by entry.
template <class R, class T>
void check_product(const Operand<R>& out, R alpha, const Expected<T>& product, R beta, const Operand<R>& before) {
  REQUIRE(out.surroundings_untouched());
  for (index_t i = 0; i < product.rows; ++i)
    for (index_t j = 0; j < product.cols; ++j) {
      Wide<R> want = multiply(wide(alpha), product.value[product.at(i, j)]);
      long double magnitude = size(wide(alpha)) * product.magnitude[product.at(i, j)];
      if (beta != R{}) {
        want += multiply(wide(beta), before.wide_at(i, j));
        magnitude += size(wide(beta)) * size(before.wide_at(i, j));
      }
      const auto error = static_cast<double>(size(out.wide_at(i, j) - want));
      const double bound = product_bound<R>(static_cast<double>(product.terms), static_cast<double>(magnitude));
      if (!(error <= bound)) FAIL("entry (" << i << ", " << j << ") is off by " << error << ", allowed " << bound);
    }
  SUCCEED();
}

/// True if holds(i, j) for all i < rows, j < cols; one assertion for all of them.
template <class Holds>
bool everywhere(index_t rows, index_t cols, Holds&& holds) {
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j)
      if (!holds(i, j)) {
        UNSCOPED_INFO("not so at (" << i << ", " << j << ")");
        return false;
      }
  return true;
}

/// out = alpha product + beta before, entry by entry, as it is for small integers.
template <class R, class T>
void check_exact(const Operand<R>& out, R alpha, const Expected<T>& product, R beta, const Operand<R>& before) {
  REQUIRE(everywhere(product.rows, product.cols, [&](index_t i, index_t j) {
    const auto added = beta == R{} ? Wide<R>{} : multiply(wide(beta), before.wide_at(i, j));
    return out.wide_at(i, j) == multiply(wide(alpha), product.value[product.at(i, j)]) + added;
  }));
}

/// Checks Y = alpha product + beta Y of run(context, Y) in every way.
template <class R, class T, class Run>
void check_in_every_way(R alpha, const Expected<T>& product, R beta, const Operand<R>& y, Run&& run,
                        bool exact = false) {
  in_every_way(y, run, [&](const Operand<R>& out) {
    if (exact)
      check_exact(out, alpha, product, beta, y);
    else
      check_product(out, alpha, product, beta, y);
  });
}

template <class R>
R scalar(std::size_t i) {
  const double re[] = {1, -0.75, 0.5, 1, 2};
  const double im[] = {0, 0, 0.25, -1, 0};
  return element<R>(re[i % 5], im[i % 5]);
}
template <class R>
R scalar_or_zero(std::size_t i) {
  return i % 3 == 0 ? R{} : i % 3 == 1 ? R{1} : scalar<R>(i);
}

/// The operation, the factors and the operands of a variant of a product: any numbers, or integers whose products are
/// exact.
template <class T>
struct Variant {
  using R = result_t<T>;
  std::size_t number;
  bool exact = false;
  Values values{number};
  Op op = ops[number % 3];
  R alpha = exact ? R{2} : scalar<R>(number / 2), beta = exact ? R{-1} : scalar_or_zero<R>(number / 3);

  template <class E = T>
  Operand<E> operand(index_t rows, index_t cols, Form form) {
    return exact ? Operand<E>::integers(rows, cols, form, values) : Operand<E>::random(rows, cols, form, values);
  }
  /// One whose op(A) has so many rows and columns.
  template <class E = T>
  Operand<E> operand_of_op(index_t rows, index_t cols, Form form) {
    return op == Op::none ? operand<E>(rows, cols, form) : operand<E>(cols, rows, form);
  }
  /// Y before the operation, which is scaled by beta; NaN where it is not read.
  Operand<R> output(index_t rows, index_t cols, Form form) {
    return beta == R{} ? Operand<R>(rows, cols, form) : operand<R>(rows, cols, form);
  }
};

/// The element of op(A) that stands there.
template <class T>
Wide<T> wide_of_op(Op op, const Operand<T>& a, index_t i, index_t j) {
  if (op == Op::none) return a.wide_at(i, j);
  return op == Op::adjoint ? conjugate(a.wide_at(j, i)) : a.wide_at(j, i);
}

/// op(A) B, where op(A) has so many rows and B so many columns.
template <class T, class R>
Expected<R> exact_product(Op op_a, const Operand<T>& a, index_t rows, Op op_b, const Operand<R>& b, index_t cols) {
  return {rows, op_a == Op::none ? a.cols() : a.rows(), cols,
          [&](index_t i, index_t k) { return wide_of_op(op_a, a, i, k); },
          [&](index_t k, index_t j) { return wide_of_op(op_b, b, k, j); }};
}

/// check(m, n, q, variant) for small numbers of rows and columns, of which q is not zero, with kernels compiled ahead.
template <class Check>
void at_small_sizes(Check&& check) {
  compiled_ahead([&] {
    Values sizes(7);
    for (std::size_t variant = 0; variant < 36; ++variant) {
      const index_t m = sizes.below(6), n = sizes.below(6), q = 1 + sizes.below(5);
      check(m, n, q, variant);
    }
  });
}

/// Widths that bite: around every vector length, and rectangular.
struct Widths {
  index_t p, q;
};
inline std::vector<Widths> widths_that_bite() {
  std::vector<Widths> list;
  for (index_t w = 1; w <= 17; ++w) list.push_back({w, w});
  for (const index_t w : {31, 32, 33, 63, 64, 65}) list.push_back({w, w});
  static constexpr Widths rectangles[] = {{1, 2},   {2, 1},  {1, 8},  {9, 1},  {3, 4},  {5, 7},  {11, 13}, {4, 17},
                                          {16, 15}, {31, 2}, {2, 33}, {33, 8}, {65, 3}, {1, 65}, {20, 40}};
  list.insert(list.end(), std::begin(rectangles), std::end(rectangles));
  return list;
}

/// check(n, widths, variant) for these numbers of rows, all widths that bite and a variant of each width, with kernels
/// compiled ahead.
template <class Check>
void at_all_widths(std::initializer_list<index_t> rows, Check&& check) {
  compiled_ahead([&] {
    std::size_t variant = 0;
    for (const Widths w : widths_that_bite()) {
      for (const index_t n : rows) check(n, w, variant);
      ++variant;
    }
  });
}

/// Expects an Error(invalid_argument) whose sentence holds every one of the words.
template <class Call>
void expect_misuse(Call&& call, std::initializer_list<const char*> words) {
  const std::string said = message_of(Errc::invalid_argument, call);
  INFO(said);
  for (const char* word : words) CHECK(mentions(said, word));
}

}  // namespace ts::test

#define TS_ALL_TYPES double, std::complex<double>, float, std::complex<float>, ::ts::float16, ::ts::bfloat16
#define TS_RESULT_TYPES double, std::complex<double>, float, std::complex<float>
