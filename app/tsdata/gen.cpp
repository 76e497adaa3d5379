#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/app/tsdata/commands.hpp"
#include "tallskinny/app/tsdata/gen_options.hpp"
#include "tallskinny/app/tsdata/write.hpp"
#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::tsdata {

namespace {

constexpr index_t whole_spectrum_up_to = 4'000'000, otherwise_each_end = 1000;

std::uint64_t matrix_bytes(const Recipe& recipe, DType type) {
  const std::uint64_t entries = static_cast<std::uint64_t>(recipe.entries), element = size_of(type);
  if (recipe.dense) return entries > UINT64_MAX / element ? UINT64_MAX : entries * element;
  return entries * (element + sizeof(std::int32_t)) + (static_cast<std::uint64_t>(recipe.rows) + 1) * sizeof(index_t);
}

DType natural_type(const Recipe& recipe) { return recipe.is_complex ? DType::complex128 : DType::float64; }

/// The exact numbers, in two datasets when they are too many for one.
void write_spectrum(io::OutputFile& out, const Ingredients& ingredients, const GenOptions& options,
                    app::JsonObject& json) {
  const std::string& name = ingredients.spectrum_object;
  if (ingredients.complex_spectrum) {
    const auto values = ingredients.complex_spectrum();
    const bool real = std::all_of(values.begin(), values.end(), [](auto z) { return z.imag() == 0; });
    if (real) {
      std::vector<double> parts;
      parts.reserve(values.size());
      for (const auto& value : values) parts.push_back(value.real());
      std::sort(parts.begin(), parts.end());
      out.write(name, std::span<const double>(parts));
    } else {
      out.write(name, std::span<const std::complex<double>>(values));
    }
    json.add(name, std::ssize(values));
    return;
  }
  if (!ingredients.spectrum) return;
  const generators::Spectrum spectrum = ingredients.spectrum();
  if (!options.spectrum_count && spectrum.count() <= whole_spectrum_up_to) {
    const auto values = spectrum.all();
    out.write(name, std::span<const double>(values));
    json.add(name, std::ssize(values));
    return;
  }
  const index_t each = options.spectrum_count.value_or(otherwise_each_end);
  if (each == 0) return;
  const auto low = spectrum.smallest(each), high = spectrum.largest(each);
  out.write(name + "_smallest", std::span<const double>(low));
  out.write(name + "_largest", std::span<const double>(high));
  json.add(name + "_smallest", std::ssize(low)).add(name + "_largest", std::ssize(high));
}

void sign(io::OutputFile& out, const GenOptions& options, const std::string& command) {
  out.attribute("/", "generator", command);
  out.attribute("/", "seed", static_cast<std::int64_t>(options.common.seed));
}

int report_plan(const GenOptions& options, const std::vector<app::MemoryUse>& uses) {
  const std::uint64_t available = app::available_memory();
  if (options.common.json) {
    auto json = app::JsonObject::of_schema("tsdata-gen");
    json.add("kind", options.kind).add("dry_run", true);
    app::add_memory(json, uses, available);
    std::cout << json.text() << '\n';
  } else {
    std::cout << "Memory that " << options.kind << " takes:\n";
    app::print_memory(std::cout, uses, available);
  }
  return app::exit_ok;
}

int make_matrices(const GenOptions& options, const Kind& kind, const std::string& command) {
  const Ingredients ingredients = kind.plan(options.parameters);
  std::vector<app::MemoryUse> uses;
  for (const Recipe& recipe : ingredients.matrices) {
    const DType natural = natural_type(recipe), type = options.dtype.value_or(natural);
    uses.push_back({recipe.object, matrix_bytes(recipe, natural)});
    if (type != natural) uses.push_back({recipe.object + " as written", matrix_bytes(recipe, type)});
    if (!recipe.dense && !options.full && recipe.structure != io::Structure::general)
      uses.push_back({recipe.object + "'s triangle", matrix_bytes(recipe, type) / 2});
  }
  if (ingredients.spectrum || ingredients.complex_spectrum)
    uses.push_back({ingredients.spectrum_object,
                    static_cast<std::uint64_t>(ingredients.matrices[0].cols) * sizeof(std::complex<double>)});
  if (options.common.dry_run) return report_plan(options, uses);
  solvers::expect_memory("making this matrix", uses, app::available_memory());
  app::check_output_paths({{"--output", options.common.output}});

  auto json = app::JsonObject::of_schema("tsdata-gen");
  json.add("kind", options.kind).add("file", options.common.output);
  app::Console console("tsdata", options.common.quiet);
  io::OutputFile out(options.common.output, {.gzip = options.compress});
  std::vector<std::string> lines;
  for (const Recipe& recipe : ingredients.matrices) {
    console.progress("building " + recipe.object);
    const DType type = options.dtype.value_or(natural_type(recipe));
    app::throw_if_stopped();
    const WrittenMatrix written = write_matrix(out, recipe.object, converted_to(recipe.build(), type, "the matrix"),
                                               options.full ? io::Structure::general : recipe.structure);
    json.add(recipe.object, as_json(written));
    lines.push_back("/" + recipe.object + ": " + as_text(written));
  }
  app::throw_if_stopped();
  console.progress("writing");
  write_spectrum(out, ingredients, options, json);
  if (ingredients.matrices.size() == 1) out.attribute("/", "default_matrix", ingredients.matrices[0].object);
  sign(out, options, command);
  app::throw_if_stopped();
  out.commit();
  console.note("wrote " + out.contents());
  if (options.common.json)
    std::cout << json.text() << '\n';
  else
    for (const std::string& line : lines) std::cout << options.common.output << ":" << line << '\n';
  return app::exit_ok;
}

template <class T>
void write_features(io::OutputFile& out, const GenOptions& options) {
  const index_t rows = options.parameters.sizes[0];
  const std::uint64_t seed = options.common.seed;
  if (options.kind == "uniform") {
    out.write("features", generators::uniform<T>(rows, options.cols, seed));
    return;
  }
  std::vector<std::int32_t> labels;
  if (options.kind == "duplicates") {
    out.write("features", generators::duplicates<T>(rows, options.cols, options.groups, seed));
    for (index_t i = 0; i < rows; ++i) labels.push_back(generators::duplicate_label(i, options.groups, seed));
    out.write("centers", generators::uniform<T>(options.groups, options.cols, seed));
  } else {
    const double offset = options.offset.value_or(options.kind == "far" ? 1e5 : 0);
    const generators::Blobs set(rows, options.cols, options.groups, options.parameters.spread.value_or(1),
                                options.box.value_or(10), offset, seed);
    out.write("features", generators::blobs<T>(set));
    labels = set.labels();
    out.write("centers", set.centers());
  }
  out.write("labels", std::span<const std::int32_t>(labels));
}

int make_features(const GenOptions& options, const std::string& command) {
  expects(options.parameters.sizes.size() == 1, "--n: expected one number of rows for a feature set");
  const index_t rows = options.parameters.sizes[0];
  const DType type = options.dtype.value_or(DType::float64);
  if (type == DType::complex128 || type == DType::complex64)
    throw Error(Errc::invalid_argument, "--dtype: feature sets are real");
  index_t elements = 0;
  if (__builtin_mul_overflow(rows, options.cols, &elements) || elements > INT64_MAX / 16)
    throw Error(Errc::invalid_argument, "--n and --cols: the feature set would have more than 2^59 elements");
  index_t center_elements = 0;
  if (__builtin_mul_overflow(options.groups, options.cols, &center_elements) || center_elements > INT64_MAX / 16)
    throw Error(Errc::invalid_argument, "--groups and --cols: there would be more than 2^59 numbers in the centres");
  std::vector<app::MemoryUse> uses = {{"features", static_cast<std::uint64_t>(elements) * size_of(type)}};
  if (options.kind != "uniform") {
    uses.push_back({"labels", static_cast<std::uint64_t>(rows) * sizeof(std::int32_t)});
    uses.push_back({"centers", static_cast<std::uint64_t>(center_elements) * sizeof(double)});
  }
  if (options.common.dry_run) return report_plan(options, uses);
  solvers::expect_memory("making these features", uses, app::available_memory());
  app::check_output_paths({{"--output", options.common.output}});

  app::Console console("tsdata", options.common.quiet);
  console.progress("drawing features");
  io::OutputFile out(options.common.output, {.gzip = options.compress});
  by_real_type(type, [&]<class T>(std::type_identity<T>) { write_features<T>(out, options); });
  out.attribute("/", "default_matrix", "features");
  sign(out, options, command);
  app::throw_if_stopped();
  out.commit();
  console.note("wrote " + out.contents());
  if (options.common.json) {
    auto json = app::JsonObject::of_schema("tsdata-gen");
    json.add("kind", options.kind).add("file", options.common.output).add("rows", rows);
    json.add("cols", options.cols).add("dtype", name_of(type));
    if (options.kind != "uniform") json.add("groups", options.groups);
    std::cout << json.text() << '\n';
  } else {
    std::cout << options.common.output << ":/features: " << app::grouped(rows) << " x " << app::grouped(options.cols)
              << ' ' << name_of(type) << '\n';
  }
  return app::exit_ok;
}

}  // namespace

int gen(app::Arguments arguments) {
  GenOptions options;
  if (!parse_gen(arguments, options)) return app::exit_ok;
  const std::string command = command_line(arguments);
  for (const Kind& kind : matrix_kinds())
    if (kind.name == options.kind) return make_matrices(options, kind, command);
  return make_features(options, command);
}

}  // namespace ts::tsdata
