#include "tallskinny/io/conventions/choose.hpp"

#include <functional>
#include <set>

#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/read_parts.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

constexpr int deepest = 64;
constexpr std::size_t most_objects = 100000;

/// Visits every object once; visit() says whether to go into a group. What cannot be opened goes to unopened(path,
/// sentence).
void walk(const hdf5::Node& node, int depth, std::set<std::uint64_t>& seen,
          const std::function<bool(const hdf5::Node&)>& visit,
          const std::function<void(const std::string&, const std::string&)>& unopened) {
  if (depth > deepest || seen.size() > most_objects || !seen.insert(node.address()).second) return;
  if (!visit(node) || !node.is_group()) return;
  for (const std::string& name : node.children()) {
    if (name.starts_with("#")) continue;  // MATLAB's #refs# and #subsystem#
    std::optional<hdf5::Node> child;
    try {
      child = node.find(name);
    } catch (const Error& error) {
      if (error.code() != Errc::bad_input) throw;
      unopened((node.path() == "/" ? "/" : node.path() + "/") + name, error.what());
    }
    if (child) walk(*child, depth + 1, seen, visit, unopened);
  }
}

/// One-dimensional lists and single numbers are parts of something, or vectors: no matrices to choose from.
bool is_list(const hdf5::Node& object) {
  if (object.is_group()) return false;
  if (object.has_attribute("MATLAB_empty")) return false;  // its elements are the sizes of an empty matrix
  const auto dims = object.dims();
  return !dims || (dims->size() < 2 && object.members().size() < 3);
}

std::string matrices_listed(const std::vector<Description>& found) {
  std::vector<std::string> words;
  for (const Description& d : found)
    words.push_back(d.where.object + (d.problem.empty()
                                          ? " (" + std::to_string(d.rows) + " x " + std::to_string(d.cols) + " " +
                                                (d.sparse ? "sparse " : "dense ") + d.stored_type + ")"
                                          : " (cannot be read)"));
  return listed(words, "; ");
}

[[noreturn]] void refuse(const hdf5::Node& root, const std::string& cause) {
  throw Error(Errc::bad_input, root.file().string() + " " + cause);
}

Chosen recognised(const hdf5::Node& object, const ReadOptions& options) {
  if (auto parts = recognise(object, options)) return {object, std::move(*parts)};
  const std::string inside = listed(object.children());
  object.refuse("is a group that holds no matrix in a known convention" +
                (inside.empty() ? std::string() : " (it holds " + inside + ")"));
}

}  // namespace

std::vector<Description> candidates(const hdf5::Node& root, const ReadOptions& options) {
  std::vector<Description> found;
  std::set<std::uint64_t> seen;
  const auto unopened = [&](const std::string& path, const std::string& sentence) {
    found.emplace_back();
    found.back().where = {root.file(), path}, found.back().problem = sentence;
  };
  const auto visit = [&](const hdf5::Node& object) {
    if (is_list(object)) return false;
    Description d;
    try {
      const auto parts = recognise(object, options);
      if (!parts) return true;
      d = describe_parts(*parts, object, options);
    } catch (const NotAMatrix&) {
      return false;
    } catch (const Error& error) {
      if (error.code() != Errc::bad_input) throw;
      d.where = {object.file(), object.path()};
      d.problem = error.what();
      // A dataset of strings or references is none; a group in a known convention is one with a problem.
      if (object.is_dataset() && !object.element_type().numeric() && object.members().size() < 3) return false;
    }
    found.push_back(std::move(d));
    return false;
  };
  walk(root, 0, seen, visit, unopened);
  return found;
}

Chosen choose(const hdf5::Node& root, const std::string& path, const ReadOptions& options) {
  if (!path.empty()) {
    const auto object = root.find(path);
    if (object) return recognised(*object, options);
    const auto there = candidates(root, options);
    refuse(root,
           "has no object '" + path + "'" + (there.empty() ? "" : "; its matrices are " + matrices_listed(there)));
  }
  if (const auto whole = recognise(root, options)) return {root, *whole};
  if (const auto usual = default_object(root)) return recognised(*root.find(*usual), options);
  const auto found = candidates(root, options);
  std::vector<const Description*> readable;
  for (const Description& d : found)
    if (d.problem.empty()) readable.push_back(&d);
  if (readable.size() == 1) return recognised(root.find(readable.front()->where.object).value(), options);
  if (found.empty()) refuse(root, "holds no matrix in a known convention");
  if (found.size() == 1) throw Error(Errc::bad_input, found.front().problem);
  refuse(root, "holds " + std::to_string(found.size()) + " matrices; choose one as " + root.file().string() +
                   ":/NAME from " + matrices_listed(found));
}

std::string only_vector(const hdf5::Node& root) {
  std::vector<std::string> found;
  std::set<std::uint64_t> seen;
  const auto visit = [&](const hdf5::Node& object) {
    if (object.is_group()) return true;
    const auto dims = object.dims();
    const auto type = object.element_type();
    if (dims && dims->size() == 1 &&
        (type.kind == hdf5::ElementType::Kind::real || type.kind == hdf5::ElementType::Kind::integer))
      found.push_back(object.path());
    return false;
  };
  walk(root, 0, seen, visit, [](const std::string&, const std::string&) {});
  if (found.size() == 1) return found.front();
  if (found.empty()) return "";  // a matrix of one column may serve: read_matrix decides
  refuse(root, "holds " + std::to_string(found.size()) + " vectors; choose one as " + root.file().string() +
                   ":/NAME from " + listed(found));
}

}  // namespace ts::inline v0::io
