#include "tallskinny/io/hdf5/outside.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

namespace fs = std::filesystem;

/// The folders that an environment variable names, of a file that may be meant by ${ORIGIN}.
std::vector<fs::path> prefixes(const char* variable, const fs::path& origin, bool several) {
  constexpr std::string_view here = "${ORIGIN}";
  std::vector<fs::path> folders;
  const char* const set = std::getenv(variable);
  for (std::string_view rest = set != nullptr ? set : ""; !rest.empty();) {
    const std::string_view one = several ? rest.substr(0, rest.find(':')) : rest;
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    folders.push_back(one.starts_with(here) ? origin.parent_path() / ("." + std::string(one.substr(here.size())))
                                            : fs::path(one));
  }
  return folders;
}

/// Paths at which HDF5 tries the file `name` that an object in `file` refers to, in this order.
std::vector<fs::path> places_of(const fs::path& file, const fs::path& name, const char* variable, bool several) {
  std::vector<fs::path> places;
  fs::path relative = name;
  if (name.is_absolute()) places.push_back(name), relative = name.filename();
  for (const fs::path& folder : prefixes(variable, file, several)) places.push_back(folder / relative);
  places.push_back(file.parent_path() / relative);
  places.push_back(relative);
  std::error_code failed;
  if (const fs::path real = fs::canonical(file, failed); !failed) places.push_back(real.parent_path() / relative);
  return places;
}

/// The first of these that is there and no regular file.
std::optional<std::string> irregular(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    std::error_code failed;
    if (fs::exists(place, failed) && !fs::is_regular_file(place, failed))
      return "leads to " + place.string() + ", which is not a regular file";
  }
  return std::nullopt;
}

std::string text_of(hid_t creation, std::size_t i,
                    ssize_t (*get)(hid_t creation, std::size_t i, char* text, std::size_t size)) {
  const ssize_t length = get(creation, i, nullptr, 0);
  std::string text(static_cast<std::size_t>(std::max<ssize_t>(length, 0)), '\0');
  if (length > 0) get(creation, i, text.data(), text.size() + 1);
  return text;
}

}  // namespace

fs::path file_of(hid_t id) {
  const ssize_t length = H5Fget_name(id, nullptr, 0);
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(length, 0)), '\0');
  if (length > 0) H5Fget_name(id, name.data(), name.size() + 1);
  return name;
}

/// Files of external storage. HDF5 takes their names from HDF5_EXTFILE_PREFIX, or from the working folder.
std::vector<ExternalPart> external_parts(hid_t dataset, hid_t creation) {
  std::vector<ExternalPart> parts;
  for (int i = 0; i < H5Pget_external_count(creation); ++i) {
    char name[4096] = "";
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(creation, static_cast<unsigned>(i), sizeof name - 1, name, &offset, &size) < 0)
      refuse(file_of(dataset), "has a damaged list of external files");
    fs::path file = name;
    const auto folders = prefixes("HDF5_EXTFILE_PREFIX", file_of(dataset), false);
    if (!folders.empty() && file.is_relative()) file = folders.front() / file;
    parts.push_back({std::move(file), static_cast<hsize_t>(offset), size});
  }
  return parts;
}

VirtualSource virtual_source(hid_t dataset, hid_t creation, std::size_t i) {
  VirtualSource source{
      text_of(creation, i, H5Pget_virtual_dsetname), text_of(creation, i, H5Pget_virtual_filename), {}};
  if (source.file != ".") source.places = places_of(file_of(dataset), source.file, "HDF5_VDS_PREFIX", false);
  return source;
}

std::optional<std::string> cause_outside(hid_t dataset, bool trusted) {
  const Handle creation = own_properties(H5Dget_create_plist(dataset));
  for (const ExternalPart& part : external_parts(dataset, creation.id())) {
    if (!trusted)
      return "keeps its elements in another file, " + part.file.string() + ": --trust-input reads it all the same";
    if (auto cause = irregular({part.file})) return cause;
  }
  std::size_t sources = 0;
  if (H5Pget_layout(creation.id()) == H5D_VIRTUAL && H5Pget_virtual_count(creation.id(), &sources) < 0)
    return "has a damaged list of sources";
  for (std::size_t i = 0; i < sources; ++i) {
    const VirtualSource source = virtual_source(dataset, creation.id(), i);
    if (source.places.empty()) continue;
    if (!trusted)
      return "is a virtual dataset over another file, " + source.file + ": --trust-input reads it all the same";
    if (auto cause = irregular(source.places)) return cause;
  }
  return std::nullopt;
}

LinkGuard::LinkGuard(bool trusted) : trusted_(trusted), access_(own_properties(H5Pcreate(H5P_LINK_ACCESS))) {
  H5Pset_elink_cb(access_.id(), meet, this);
}

herr_t LinkGuard::meet(const char* parent_file, const char*, const char* file, const char*, unsigned*, hid_t,
                       void* self) {
  auto& guard = *static_cast<LinkGuard*>(self);
  if (guard.trusted_)
    guard.refused_ = irregular(places_of(parent_file, file, "HDF5_EXT_PREFIX", true));
  else
    guard.refused_ = joined("leads to another file, ", file, ": --trust-input follows it all the same");
  return guard.refused_ ? -1 : 0;
}

}  // namespace ts::inline v0::io::hdf5
