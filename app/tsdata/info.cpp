#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>

#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsdata/commands.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/hermitian.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::tsdata {

namespace {

struct Scan {
  double smallest = 0, largest = 0;               ///< finite values; of complex ones the absolute value
  double smallest_magnitude = 0;                  ///< of the finite nonzero values; 0 if there are none
  index_t entries = 0;                            ///< triangles are expanded
  index_t zeros = 0, not_finite = 0;              ///< stored zeros; NaN and infinities
  index_t empty_rows = 0;                         ///< rows without a nonzero
  io::Structure actual = io::Structure::general;  ///< the first that holds of symmetric, hermitian, skew_symmetric
};

template <class T>
double ordered(T x) {
  if constexpr (is_complex<T>)
    return std::isfinite(x.real()) && std::isfinite(x.imag()) ? static_cast<double>(std::abs(x))
                                                              : std::numeric_limits<double>::quiet_NaN();
  else
    return to_wide(x);
}

class Range {
 public:
  template <class T>
  void add_row(const T* values, index_t count) {
    bool empty = true;
    scan_.entries += count;
    for (index_t j = 0; j < count; ++j) {
      const double x = ordered(values[j]), magnitude = std::fabs(x);
      if (!std::isfinite(x)) {
        ++scan_.not_finite;
        empty = false;
        continue;
      }
      low_ = std::min(low_, x);
      high_ = std::max(high_, x);
      if (x == 0)
        ++scan_.zeros;
      else
        least_ = std::min(least_, magnitude), empty = false;
    }
    if (empty) ++scan_.empty_rows;
  }
  void add_empty_rows(index_t count) { scan_.empty_rows += count; }
  [[nodiscard]] Scan result(io::Structure actual) const {
    Scan scan = scan_;
    if (low_ <= high_) scan.smallest = low_, scan.largest = high_;
    if (std::isfinite(least_)) scan.smallest_magnitude = least_;
    scan.actual = actual;
    return scan;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  double low_ = infinity, high_ = -infinity, least_ = infinity;
  Scan scan_;
};

template <class View>
io::Structure actual_structure(const View& a, index_t rows, index_t cols) {
  if (rows == cols)
    for (const auto structure : {io::Structure::symmetric, io::Structure::hermitian, io::Structure::skew_symmetric})
      if (!io::first_asymmetry(a, structure)) return structure;
  return io::Structure::general;
}

Scan scan(const io::SparseMatrix& matrix) {
  return std::visit(
      [](const auto& a) {
        Range range;
        for (index_t i = 0; i < a.rows; ++i) {
          const index_t begin = a.pointers[static_cast<std::size_t>(i)];
          range.add_row(a.values.data() + begin, a.pointers[static_cast<std::size_t>(i) + 1] - begin);
        }
        return range.result(actual_structure(a.view(), a.rows, a.cols));
      },
      matrix);
}

Scan scan(const io::DenseMatrix& matrix) {
  return std::visit(
      [](const auto& a) {
        Range range;
        if (a.cols() == 0 && a.rows() > 0) {  // nothing to look at, however many rows
          range.add_empty_rows(a.rows());
          return range.result(io::Structure::general);
        }
        for (index_t i = 0; i < a.rows(); ++i) range.add_row(a.data() + i * a.cols(), a.cols());
        return range.result(actual_structure(a.cview(), a.rows(), a.cols()));
      },
      matrix);
}

struct InfoOptions {
  std::string file;
  bool quick = false;
  io::ReadOptions read;
  app::CommonOptions common;
};

bool parse_info(app::Arguments arguments, InfoOptions& target) {
  app::Options options({"tsdata info",
                        "Describes a file: every matrix in it, and for one matrix also statistics of its elements.",
                        "FILE[:/OBJECT] [options]",
                        {{"All matrices in a file", "tsdata info data.h5"},
                         {"One of them, for a script", "tsdata info data.h5:/X --json"}},
                        ""});
  options.positional("FILE", target.file, "a file, or FILE.h5:/OBJECT for one object in it");
  options.group("Reading").flag("quick", target.quick, "do not read the elements");
  app::add_reading_memory_option(options, target.read);
  app::add_read_options(options, target.read);
  app::add_report_options(options.group("Output"), target.common);
  return options.parse(arguments);
}

using ReadMatrix = std::function<io::MatrixFile(const io::ReadOptions&)>;

/// Description of one matrix, and statistics of its elements if they were read.
struct Findings {
  io::Description description;
  std::optional<Scan> scanned;
  std::string not_scanned;  ///< why the elements were not read
};

Findings examine(const io::Description& description, const InfoOptions& options, const ReadMatrix& read_matrix,
                 app::Console& console) {
  Findings findings{description, std::nullopt, {}};
  if (!description.problem.empty()) return findings;
  if (options.quick) {
    findings.not_scanned = "--quick";
    return findings;
  }
  io::ReadOptions read = options.read;
  read.check_finite = false;  // counted instead
  try {
    console.progress("reading " + description.where.text());
    const io::MatrixFile file = read_matrix(read);
    findings.description = file.description;
    findings.scanned = std::visit([](const auto& matrix) { return scan(matrix); }, file.matrix);
  } catch (const Error& error) {
    if (error.code() == Errc::out_of_memory)
      findings.not_scanned = error.what();
    else
      findings.description.problem = error.what();
  }
  return findings;
}

app::JsonObject as_json(const Findings& findings) {
  const io::Description& d = findings.description;
  app::JsonObject json;
  json.add("object", d.where.object).add("convention", d.convention);
  if (!d.problem.empty()) return json.add("problem", d.problem);
  json.add("sparse", d.sparse).add("rows", d.rows).add("cols", d.cols);
  json.add("stored_entries", d.nonzeros);
  if (findings.scanned) json.add("nonzeros", findings.scanned->entries);
  json.add("stored_type", d.stored_type).add("dtype", name_of(d.type));
  json.add("declared_structure", io::name_of(d.declared));
  json.add("memory_bytes", d.bytes).add("peak_memory_bytes", d.peak_bytes);
  if (!d.note.empty()) json.add("note", d.note);
  if (findings.scanned) {
    const Scan& s = *findings.scanned;
    json.add("structure", io::name_of(s.actual)).add("smallest", s.smallest).add("largest", s.largest);
    json.add("smallest_magnitude", s.smallest_magnitude).add("zeros", s.zeros);
    json.add("empty_rows", s.empty_rows).add("not_finite", s.not_finite);
  }
  return json;
}

void print(const std::string& name, const std::string& value) {
  std::cout << "  " << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') << io::printable(value)
            << '\n';
}

void print(const Findings& findings, app::Console& console) {
  const io::Description& d = findings.description;
  std::cout << d.where.text() << '\n';
  if (!d.convention.empty()) print("convention", d.convention);
  if (!d.problem.empty()) {
    print("problem", "it cannot be read");
    std::cout.flush();
    return console.error(d.problem);
  }
  print("shape", app::grouped(d.rows) + " x " + app::grouped(d.cols) + (d.sparse ? ", sparse" : ", dense"));
  print("type", d.stored_type + " in the file, read as " + std::string(name_of(d.type)));
  if (d.sparse) {
    const index_t entries = findings.scanned ? findings.scanned->entries : d.nonzeros;
    const double rows = static_cast<double>(std::max<index_t>(d.rows, 1));
    print("nonzeros", app::grouped(entries) + ", " + app::short_number(static_cast<double>(entries) / rows, 4) +
                          " a row" + (entries == d.nonzeros ? "" : "; " + app::grouped(d.nonzeros) + " in the file"));
  }
  std::string structure = "declared " + std::string(io::name_of(d.declared));
  if (findings.scanned) structure += ", found " + std::string(io::name_of(findings.scanned->actual));
  print("structure", structure);
  if (findings.scanned) {
    const Scan& s = *findings.scanned;
    const bool is_complex = d.type == DType::complex128 || d.type == DType::complex64;
    print(is_complex ? "magnitudes" : "values", app::short_number(s.smallest) + " to " + app::short_number(s.largest) +
                                                    ", smallest nonzero magnitude " +
                                                    app::short_number(s.smallest_magnitude));
    if (d.sparse && s.zeros > 0) print("zeros", app::grouped(s.zeros) + " stored");
    if (s.empty_rows > 0) print("empty rows", app::grouped(s.empty_rows));
    if (s.not_finite > 0) print("not finite", app::grouped(s.not_finite) + " NaN or infinite values: not usable");
  }
  print("memory", app::human_bytes(d.bytes) + ", " + app::human_bytes(d.peak_bytes) + " while reading");
  if (!d.note.empty()) print("note", d.note);
  if (!findings.not_scanned.empty()) print("elements", "not read: " + findings.not_scanned);
}

}  // namespace

int info(app::Arguments arguments) {
  InfoOptions options;
  if (!parse_info(arguments, options)) return app::exit_ok;
  const io::Location where = io::parse_location(options.file);
  app::Console console("tsdata", options.common.quiet);

  std::vector<Findings> all;
  const auto look = [&](const io::Description& object, const ReadMatrix& read) {
    app::throw_if_stopped();
    all.push_back(examine(object, options, read, console));
  };
  if (where.object.empty())
    io::visit_objects(where.file, options.read, look);
  else
    look(io::describe(where, options.read), [&](const io::ReadOptions& read) { return io::read_matrix(where, read); });
  if (all.empty()) throw Error(Errc::bad_input, where.text() + ": there is no matrix in this file");

  if (options.common.json) {
    app::JsonObject json = app::JsonObject::of_schema("tsdata-info");
    std::vector<app::JsonObject> list;
    list.reserve(all.size());
    for (const Findings& findings : all) list.push_back(as_json(findings));
    json.add("file", where.file.string()).add("objects", list);
    std::cout << json.text() << '\n';
  } else {
    for (const Findings& findings : all) print(findings, console);
  }
  const bool usable =
      std::any_of(all.begin(), all.end(), [](const Findings& f) { return f.description.problem.empty(); });
  return usable ? app::exit_ok : app::exit_bad_input;
}

}  // namespace ts::tsdata
