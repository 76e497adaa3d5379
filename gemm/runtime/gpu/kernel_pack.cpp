#include "tallskinny/gemm/runtime/gpu/kernel_pack.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/sha256.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"

namespace ts::inline v0::cuda {

namespace {

// magic, "COMPILER ENTRIES INDEX-BYTES INDEX-DIGEST\n", the index, the contents. A line of the index: the digests of
// key and stored content, where it begins behind the index, its length there and that of the content. What is shorter
// there is compressed by zlib.
constexpr std::string_view magic = "tallskinny kernels 2\n";
constexpr std::size_t longest_head = 256, longest_index = std::size_t{64} << 20, longest_content = longest_index;

/// Empty where not all of it can be read.
std::string read_at(int file, std::size_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = ::pread(file, text.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (count <= 0) return {};
    done += static_cast<std::size_t>(count);
  }
  return text;
}

/// zlib, where the machine has it; the declarations are those of its documentation.
struct Zlib {
  unsigned long (*bound)(unsigned long) = nullptr;
  int (*compress)(char* to, unsigned long* to_bytes, const char* from, unsigned long bytes, int level) = nullptr;
  int (*uncompress)(char* to, unsigned long* to_bytes, const char* from, unsigned long bytes) = nullptr;
  bool loaded = false;
};

const Zlib& zlib() {
  static const Zlib found = [] {
    constexpr std::array names = {"libz.so.1"};
    const SharedLibrary library(names);
    Zlib z;
    z.loaded = library.bind(z.bound, "compressBound") && library.bind(z.compress, "compress2") &&
               library.bind(z.uncompress, "uncompress");
    return z;
  }();
  return found;
}

/// The content itself where it does not become shorter.
std::string compressed(const std::string& content) {
  constexpr int best = 9;
  if (!zlib().loaded) return content;
  unsigned long bytes = zlib().bound(content.size());
  std::string shorter(bytes, '\0');
  if (zlib().compress(shorter.data(), &bytes, content.data(), content.size(), best) != 0) return content;
  shorter.resize(bytes);
  return bytes < content.size() ? shorter : content;
}

std::optional<std::string> uncompressed(const std::string& stored, std::size_t bytes) {
  if (stored.size() == bytes) return stored;
  if (!zlib().loaded || bytes > longest_content) return std::nullopt;
  unsigned long written = bytes;
  std::string content(bytes, '\0');
  const bool whole = zlib().uncompress(content.data(), &written, stored.data(), stored.size()) == 0 && written == bytes;
  return whole ? std::optional(std::move(content)) : std::nullopt;
}

/// The folder of what this function is part of: the library if it is a shared one, else the program.
std::filesystem::path own_folder() {
  Dl_info info{};
  std::error_code ignored;
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  // The name of a program is as it was called, which may be by way of PATH.
  const std::filesystem::path named(info.dli_fname);
  const bool is_path = named.has_parent_path() && std::filesystem::exists(named, ignored);
  const auto file = std::filesystem::canonical(is_path ? named : std::filesystem::path("/proc/self/exe"), ignored);
  return file.parent_path();
}

}  // namespace

KernelPack::KernelPack(const std::filesystem::path& file) {
  if (file.empty()) return;
  file_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) return;
  std::string head(longest_head, '\0');
  head.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::pread(file_, head.data(), head.size(), 0))));
  const std::size_t end = head.find('\n', magic.size());
  if (!head.starts_with(magic) || end == std::string::npos) return;
  std::istringstream words(head.substr(magic.size(), end - magic.size()));
  std::size_t count = 0, bytes = 0;
  std::string digest;
  if (!(words >> compiler_ >> count >> bytes >> digest) || bytes > longest_index) return;
  const std::string index = read_at(file_, end + 1, bytes);
  if (sha256(index) != digest) return;
  std::istringstream lines(index);
  std::string key;
  for (Entry e; count > 0 && lines >> key >> e.digest >> e.offset >> e.stored >> e.bytes; --count) {
    e.offset += end + 1 + bytes;
    entries_.emplace(key, e);
  }
}

KernelPack::~KernelPack() {
  if (file_ >= 0) ::close(file_);
}

std::optional<std::string> KernelPack::find(std::string_view key) const {
  if (entries_.empty()) return std::nullopt;
  const auto found = entries_.find(sha256(key));
  if (found == entries_.end()) return std::nullopt;
  const Entry& entry = found->second;
  const std::string stored = read_at(file_, entry.offset, entry.stored);
  if (sha256(stored) != entry.digest) return std::nullopt;
  return uncompressed(stored, entry.bytes);
}

void write_pack(const std::filesystem::path& file, const std::string& compiler,
                const std::map<std::string, std::string>& contents) {
  std::ostringstream index;
  std::string all;
  for (const auto& [key, content] : contents) {
    const std::string stored = compressed(content);
    index << sha256(key) << ' ' << sha256(stored) << ' ' << all.size() << ' ' << stored.size() << ' ' << content.size()
          << '\n';
    all += stored;
  }
  const std::string lines = index.str();
  const std::filesystem::path unfinished = file.string() + ".new";
  std::ofstream out(unfinished, std::ios::binary);
  out << magic << compiler << ' ' << contents.size() << ' ' << lines.size() << ' ' << sha256(lines) << '\n'
      << lines << all;
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(unfinished, file, failed);
  if (!out || failed) throw Error(Errc::bad_input, "the pack of kernels " + file.string() + " cannot be written");
}

std::filesystem::path default_pack_file() {
  std::error_code ignored;
  if (const char* named = std::getenv("TALLSKINNY_KERNELS"); named != nullptr && *named != '\0') {
    if (std::string_view(named) == "none") return {};
    if (!std::filesystem::is_regular_file(named, ignored))
      throw Error(Errc::bad_input, "TALLSKINNY_KERNELS names " + std::string(named) +
                                       ", which is no file: name a pack of kernels, or none");
    return named;
  }
  // bin/ and lib/, or lib/x86_64-linux-gnu/, lie beside share/; a program of a user may lie anywhere.
  constexpr const char* name = "tallskinny/kernels.pack";
  std::filesystem::path folder = own_folder();
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up, folder = folder.parent_path())
    if (auto file = folder / "share" / name; std::filesystem::is_regular_file(file, ignored)) return file;
  const std::filesystem::path installed = std::filesystem::path(TS_DATA_DIR) / name;
  return std::filesystem::is_regular_file(installed, ignored) ? installed : std::filesystem::path{};
}

}  // namespace ts::inline v0::cuda
