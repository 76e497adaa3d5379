#include "tallskinny/gemm/runtime/gpu/kernel_pack.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/sha256.hpp"

namespace ts::cuda {

namespace {

// magic, "COMPILER ENTRIES INDEX-BYTES INDEX-DIGEST\n", the index, the contents. A line of the index: the digests of
// key and content, and where the content begins, behind the index, and its length.
constexpr std::string_view magic = "tallskinny kernels 1\n";
constexpr std::size_t longest_head = 256, longest_index = std::size_t{64} << 20;

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
  for (Entry e; count > 0 && lines >> key >> e.digest >> e.offset >> e.bytes; --count) {
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
  std::string content = read_at(file_, found->second.offset, found->second.bytes);
  if (sha256(content) != found->second.digest) return std::nullopt;
  return content;
}

void write_pack(const std::filesystem::path& file, const std::string& compiler,
                const std::map<std::string, std::string>& contents) {
  std::ostringstream index;
  std::size_t offset = 0;
  for (const auto& [key, content] : contents) {
    index << sha256(key) << ' ' << sha256(content) << ' ' << offset << ' ' << content.size() << '\n';
    offset += content.size();
  }
  const std::string lines = index.str();
  const std::filesystem::path unfinished = file.string() + ".new";
  std::ofstream out(unfinished, std::ios::binary);
  out << magic << compiler << ' ' << contents.size() << ' ' << lines.size() << ' ' << sha256(lines) << '\n' << lines;
  for (const auto& [key, content] : contents) out << content;
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

}  // namespace ts::cuda
