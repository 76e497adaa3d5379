// HDF5 as a library, and opening files with it.
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/node.hpp"
#include "tallskinny/io/hdf5/reader.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::hdf5 {

std::recursive_mutex& library_lock() {
  static std::recursive_mutex lock;
  return lock;
}

Quiet::Quiet() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
Quiet::~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

std::string last_error() {
  std::string text;
  const auto keep_first = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    auto& kept = *static_cast<std::string*>(out);
    if (kept.empty() && error->desc != nullptr) kept = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  // For a failed system call, HDF5's message holds the system's: only that is kept.
  const std::string key = "error message = '";
  if (const auto at = text.find(key); at != std::string::npos) {
    const auto begin = at + key.size();
    return text.substr(begin, text.find('\'', begin) - begin);
  }
  return text;
}

std::string cause_of_failure(const std::string& words) {
  const std::string why = last_error();
  return why == std::generic_category().message(EIO) ? why : words + " (" + why + ")";
}

void start_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    // HDF5 1.10 crashes where memory runs out while it starts, which takes less than this.
    constexpr std::size_t of_start = std::size_t{4} << 20;
    void* const spare = ::mmap(nullptr, of_start, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (spare == MAP_FAILED) throw std::bad_alloc();
    ::munmap(spare, of_start);
    H5dont_atexit();
    const Quiet quiet;
    register_lzf();
    register_half_conversion();
  });
}

bool has_signature(const std::filesystem::path& file) {
  constexpr std::array<unsigned char, 8> signature = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  const FileBytes bytes(file);
  std::array<unsigned char, 8> found{};
  for (std::uint64_t at = 0; bytes.read(at, std::as_writable_bytes(std::span(found))) == found.size();
       at = at == 0 ? 512 : 2 * at)
    if (found == signature) return true;
  return false;
}

namespace {

[[noreturn]] void refuse_locked(const std::filesystem::path& file, const std::string& why) {
  refuse(file, joined("is being written by another program (", why,
                      "); wait for it, or set HDF5_USE_FILE_LOCKING=FALSE if nothing writes it"));
}

}  // namespace

Node open_here(std::shared_ptr<const std::filesystem::path> file, const std::string& name, const Handle& access,
               std::shared_ptr<const FileBytes> bytes, const OpenOptions& options) {
  const Quiet quiet;
  const auto refuse = [&](const std::string& cause) { io::refuse(*file, cause); };
  const Handle opened = own_file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()));
  if (!opened) {
    const std::string why = last_error();
    if (why.find("truncated") != std::string::npos) refuse("is truncated (" + why + ")");
    if (why == std::generic_category().message(EWOULDBLOCK)) refuse_locked(*file, why);
    refuse("cannot be opened: " + cause_of_failure("it is a damaged HDF5 file"));
  }
  Node root;
  root.object_ = std::make_shared<const Handle>(own_group(H5Gopen2(opened.id(), "/", H5P_DEFAULT)));
  if (!*root.object_) refuse("cannot be opened: " + cause_of_failure("it is a damaged HDF5 file"));
  root.file_ = std::move(file), root.path_ = "/";
  root.bytes_ = std::move(bytes), root.options_ = options;
  return root;
}

Node open(const std::filesystem::path& file, const OpenOptions& options) {
  auto name = std::make_shared<const std::filesystem::path>(file);
  auto bytes = std::make_shared<const FileBytes>(file);
  if (options.trusted) {
    start_library();
    const Handle access = own_properties(H5Pcreate(H5P_FILE_ACCESS));
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access.id(), 1, 1);  // where the file system knows locks
#endif
    return open_here(std::move(name), file.string(), access, nullptr, options);
  }
  try {
    bytes->lock();
  } catch (const std::system_error& error) {
    refuse_locked(file, error.code().message());
  }
  Node root;
  root.file_ = name, root.path_ = "/", root.options_ = options;
  root.remote_ = std::make_shared<const Remote>(std::make_shared<Reader>(std::move(name), std::move(bytes), options));
  return root;
}

}  // namespace ts::inline v0::io::hdf5
