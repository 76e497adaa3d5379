#include "tallskinny/io/hdf5/node.hpp"

#include <algorithm>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/outside.hpp"
#include "tallskinny/io/hdf5/reader.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

constexpr std::size_t longest_text = std::size_t{16} << 20;
constexpr hssize_t longest_list = 64;

/// The one string that `read(memory type, buffer)` delivers, whatever its storage.
template <class Read>
std::optional<std::string> read_text(const Node& node, hid_t object, hid_t type, hid_t space, Read read) {
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return std::nullopt;
  if (H5Tis_variable_str(type) > 0) {
    const Handle memory = registered_reference_type();
    Reference reference{};
    std::optional<std::string> text;
    if (read(memory.id(), static_cast<void*>(reference.data())) >= 0)
      text = text_behind(reference, object, *node.bytes());
    if (!text) node.refuse("has a damaged text");
    return text;
  }
  const Handle memory = own_type(H5Tcopy(H5T_C_S1));
  H5Tset_cset(memory.id(), H5Tget_cset(type));
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > longest_text) return std::nullopt;
  H5Tset_size(memory.id(), size + 1);
  std::string kept(size + 1, '\0');
  if (read(memory.id(), static_cast<void*>(kept.data())) < 0) return std::nullopt;
  kept.resize(std::min(kept.find('\0'), size));
  kept.resize(kept.find_last_not_of(' ') + 1);  // space-padded strings
  return kept;
}

template <class Read>
std::optional<std::vector<index_t>> read_integers(hid_t type, hid_t space, Read read) {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(type) != H5T_INTEGER || count < 1 || count > longest_list) return std::nullopt;
  std::vector<index_t> values(static_cast<std::size_t>(count));
  if (read(H5T_NATIVE_INT64, static_cast<void*>(values.data())) < 0) return std::nullopt;
  return values;
}

bool is_there(hid_t from, const std::string& path) {
  H5L_info_t link;
  H5O_info_t object;
  return (H5Lget_info(from, path.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD) ||
         H5Oget_info_by_name2(from, path.c_str(), &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0;
}

/// Refuses an object that exists but cannot be opened. `why` is HDF5's message, `cause` that in a sentence.
[[noreturn]] void refuse_unopened(const Node& node, const std::string& why, const std::string& cause) {
  if (why.find("bad version number") == std::string::npos) node.refuse("cannot be opened: " + cause);
  unsigned numbers[3] = {};
  H5get_libversion(&numbers[0], &numbers[1], &numbers[2]);
  const auto plain = [](const std::string& name, const char* otherwise) {  // nothing that a shell or Python obeys
    const bool safe = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '.' ||
             c == '/' || c == '-';
    });
    return "\"" + (safe ? name : otherwise) + "\"";
  };
  const std::string name = plain(node.path().substr(1), "OBJECT");
  node.refuse(
      joined("is written in a newer form than HDF5 ", numbers[0], ".", numbers[1], ".", numbers[2],
             ", which reads it here, knows (", why,
             "), such as the complex type of HDF5 2.0 and all that libver='latest' writes; the h5py that wrote it "
             "copies it to a form that is read: python3 -c 'import h5py; h5py.File(\"copy.h5\", \"w\")[",
             name, "] = h5py.File(", plain(node.file().filename().string(), "FILE.h5"), ")[", name, "][()]'"));
}

}  // namespace

std::shared_ptr<const FileBytes> Node::bytes() const {
  if (remote_) return remote_->reader()->bytes();
  if (bytes_) return bytes_;
  const Quiet quiet;
  return std::make_shared<const FileBytes>(file_of(object_->id()));
}

void Node::refuse(const std::string& cause, Place where) const {
  throw Error(Errc::bad_input, name() + " " + printable(cause), where);
}

std::vector<std::string> Node::children() const {
  if (remote_) return remote_->ask<&Node::children>();
  std::vector<std::string> names;
  if (!group_) return names;
  const Quiet quiet;
  const auto keep = [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
    if (info->type == H5L_TYPE_HARD || info->type == H5L_TYPE_SOFT)
      static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t at = 0;
  // In native order: sorted by HDF5 1.10, a damaged group makes it free memory that it never had.
  if (H5Literate(object_->id(), H5_INDEX_NAME, H5_ITER_NATIVE, &at, keep, &names) < 0)
    refuse("cannot be listed (" + last_error() + ")");
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<Node> Node::find(std::string_view name) const {
  std::string path(name);
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  Node found = *this;
  found.complete_ = std::make_shared<bool>(false);
  found.path_ = path.front() == '/' ? path : (path_ == "/" ? "/" + path : path_ + "/" + path);
  if (remote_) {
    auto there = Remote::find(remote_, found.path_);
    if (!there) return std::nullopt;
    found.group_ = there->group;
    found.remote_ = std::move(there->object);
    return found;
  }
  const Quiet quiet;
  LinkGuard links(options_.trusted);
  Handle object = own_object(H5Oopen(object_->id(), path.c_str(), links.access()));
  if (links.refused()) found.refuse(*links.refused());
  if (!object) {
    const std::string why = last_error(), cause = cause_of_failure("it is damaged");
    if (is_there(object_->id(), path)) refuse_unopened(found, why, cause);
    return std::nullopt;
  }
  const H5I_type_t type = H5Iget_type(object.id());
  if (type != H5I_GROUP && type != H5I_DATASET) return std::nullopt;
  found.group_ = type == H5I_GROUP;
  found.object_ = std::make_shared<const Handle>(std::move(object));
  return found;
}

Node Node::dataset(std::string_view name) const {
  auto found = find(name);
  if (!found) refuse(joined("has no dataset '", name, "'"));
  if (found->is_group()) found->refuse("is a group where a dataset is needed");
  return std::move(*found);
}

std::optional<Node> Node::parent() const {
  if (path_ == "/") return std::nullopt;
  const auto slash = path_.rfind('/');
  return find(slash == 0 ? "/" : path_.substr(0, slash));
}

std::uint64_t Node::address() const {
  if (remote_) return remote_->ask<&Node::address>();
  const Quiet quiet;
  H5O_info_t info;
  return H5Oget_info2(object_->id(), &info, H5O_INFO_BASIC) < 0 ? 0 : info.addr;
}

std::vector<std::string> Node::attributes() const {
  if (remote_) return remote_->ask<&Node::attributes>();
  const Quiet quiet;
  std::vector<std::string> names;
  const auto keep = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t at = 0;
  H5Aiterate2(object_->id(), H5_INDEX_NAME, H5_ITER_NATIVE, &at, keep, &names);
  std::sort(names.begin(), names.end());
  return names;
}

bool Node::has_attribute(const std::string& name) const {
  if (remote_) {
    const auto names = attributes();
    return std::binary_search(names.begin(), names.end(), name);
  }
  const Quiet quiet;
  return H5Aexists(object_->id(), name.c_str()) > 0;
}

std::optional<std::string> Node::text_attribute(const std::string& name) const {
  if (!has_attribute(name)) return std::nullopt;
  if (remote_) return remote_->ask<&Node::text_attribute>(name);
  const Quiet quiet;
  const Handle attribute = own_attribute(H5Aopen(object_->id(), name.c_str(), H5P_DEFAULT));
  if (!attribute) return std::nullopt;
  const Handle type = own_type(H5Aget_type(attribute.id())), space = own_space(H5Aget_space(attribute.id()));
  return read_text(*this, object_->id(), type.id(), space.id(),
                   [&](hid_t memory, void* out) { return H5Aread(attribute.id(), memory, out); });
}

std::optional<std::vector<index_t>> Node::integer_attribute(const std::string& name) const {
  if (!has_attribute(name)) return std::nullopt;
  if (remote_) return remote_->ask<&Node::integer_attribute>(name);
  const Quiet quiet;
  const Handle attribute = own_attribute(H5Aopen(object_->id(), name.c_str(), H5P_DEFAULT));
  if (!attribute) return std::nullopt;
  const Handle type = own_type(H5Aget_type(attribute.id())), space = own_space(H5Aget_space(attribute.id()));
  return read_integers(type.id(), space.id(),
                       [&](hid_t memory, void* out) { return H5Aread(attribute.id(), memory, out); });
}

std::optional<std::vector<index_t>> Node::integers() const {
  if (group_) return std::nullopt;
  if (remote_) return remote_->ask<&Node::integers>();
  const Quiet quiet;
  const Handle type = own_type(H5Dget_type(object_->id())), space = own_space(H5Dget_space(object_->id()));
  return read_integers(type.id(), space.id(), [&](hid_t memory, void* out) {
    require_written({0, longest_list});
    return H5Dread(object_->id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
}

std::optional<std::string> Node::text() const {
  if (group_) return std::nullopt;
  if (remote_) return remote_->ask<&Node::text>();
  const Quiet quiet;
  const Handle type = own_type(H5Dget_type(object_->id())), space = own_space(H5Dget_space(object_->id()));
  return read_text(*this, object_->id(), type.id(), space.id(), [&](hid_t memory, void* out) {
    require_written({0, 1});
    return H5Dread(object_->id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
}

}  // namespace ts::inline v0::io::hdf5
