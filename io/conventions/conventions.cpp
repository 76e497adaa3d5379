#include "tallskinny/io/conventions/conventions.hpp"

#include <array>

namespace ts::inline v0::io {

std::span<const Recognise> all_conventions() {
  using namespace conventions;
  static constexpr std::array<Recognise, 13> in_order = {binsparse,      anndata, h5sparse, matlab, petsc,
                                                         ten_x,          scipy,   octave,   pandas, pytables,
                                                         ann_benchmarks, julia,   dense};
  return in_order;
}

std::optional<Parts> recognise(const hdf5::Node& object, const ReadOptions& options) {
  for (const Recognise attempt : all_conventions())
    if (auto parts = attempt(object, options)) return parts;
  return std::nullopt;
}

std::optional<std::string> default_object(const hdf5::Node& root) {
  if (auto named = root.text_attribute("default_matrix"); named && root.find(*named)) return named;
  const auto encoding = root.text_attribute("encoding-type");
  const bool is_anndata = encoding == "anndata" || (root.has("X") && root.has("obs") && root.has("var"));
  if (is_anndata && root.has("X")) return "/X";
  const bool is_ann_benchmarks =
      root.has("train") && (root.has_attribute("distance") || (root.has("test") && root.has("neighbors")));
  if (is_ann_benchmarks) return "/train";
  if (const auto suite_sparse = root.find("Problem"); suite_sparse && suite_sparse->has("A")) return "/Problem/A";
  return std::nullopt;
}

}  // namespace ts::inline v0::io
