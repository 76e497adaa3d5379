// Members of a zip archive: as much of the format as NumPy writes (stored or deflated, 64-bit sizes).
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tallskinny/io/file_bytes.hpp"

namespace ts::inline v0::io {

class ZipArchive {
 public:
  struct Member {
    std::string name;
    bool deflated = false;
    std::uint64_t packed = 0, size = 0;  ///< bytes in the archive, and unpacked
    std::uint64_t header = 0;            ///< where its own header begins
    std::uint64_t crc = 0;               ///< checksum
  };

  /// @throws Error(bad_input) for a file whose directory cannot be read, or with members that are encrypted or packed
  /// by another method.
  explicit ZipArchive(const std::filesystem::path& file);

  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }
  /// The first `most` bytes of a member, or all, whose checksum is compared. A member that is not as long as the
  /// directory says, or longer than its packed bytes can become, is refused. @throws Error(bad_input).
  [[nodiscard]] std::vector<std::byte> unpacked(const Member& member, std::uint64_t most = UINT64_MAX) const;
  /// Offset of the bytes of a member that is not deflated.
  [[nodiscard]] std::uint64_t data_of(const Member& member) const;
  [[nodiscard]] const FileBytes& bytes() const noexcept { return *bytes_; }

 private:
  [[noreturn]] void refuse(const std::string& cause) const;
  [[nodiscard]] std::vector<unsigned char> read(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] std::vector<std::byte> checked(std::vector<std::byte> bytes, const Member& member) const;
  void add_member(const unsigned char* entry, const std::string& name, const std::vector<unsigned char>& extra);

  std::string name_;
  std::shared_ptr<const FileBytes> bytes_;
  std::vector<Member> members_;
};

}  // namespace ts::inline v0::io
