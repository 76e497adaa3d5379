#include "tallskinny/io/binary/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

/// A little-endian number of `bytes` bytes.
std::uint64_t number(const unsigned char* at, int bytes) {
  std::uint64_t value = 0;
  for (int b = 0; b < bytes; ++b) value |= std::uint64_t{at[b]} << 8 * b;
  return value;
}

constexpr std::uint64_t of_member = 30, of_entry = 46, of_end = 22, of_end_64 = 56,
                        of_locator = 20;           // bytes of records
constexpr std::uint64_t in_extra_32 = 0xffffffff;  ///< a size that stands in the extra field instead

}  // namespace

void ZipArchive::refuse(const std::string& cause) const { io::refuse(name_, printable(cause)); }

std::vector<unsigned char> ZipArchive::read(std::uint64_t offset, std::uint64_t count) const {
  if (offset > bytes_->size() || count > bytes_->size() - offset)
    refuse("is a truncated zip archive: something would lie beyond its end");
  std::vector<unsigned char> out(count);
  if (bytes_->read(offset, std::as_writable_bytes(std::span(out))) < count) refuse("could not be read to its end");
  return out;
}

ZipArchive::ZipArchive(const std::filesystem::path& file)
    : name_(file.string()), bytes_(std::make_shared<const FileBytes>(file)) {
  // The record of the end is the last one, before a comment of less than 64 KiB.
  const std::uint64_t searched = std::min<std::uint64_t>(bytes_->size(), of_end + 65535);
  const std::uint64_t first = bytes_->size() - searched;
  const auto tail = read(first, searched);
  constexpr std::array<unsigned char, 4> mark{'P', 'K', 5, 6};
  const auto at = std::find_end(tail.begin(), tail.end(), mark.begin(), mark.end());
  if (tail.end() - at < static_cast<std::ptrdiff_t>(of_end))
    refuse("is a zip archive without a directory: it may be truncated");
  const unsigned char* end = &*at;
  std::uint64_t count = number(end + 10, 2), length = number(end + 12, 4), begin = number(end + 16, 4);
  const std::uint64_t place = first + static_cast<std::uint64_t>(at - tail.begin());
  if ((count == 0xffff || length == in_extra_32 || begin == in_extra_32) && place >= of_locator) {
    const auto locator = read(place - of_locator, of_locator);
    if (number(locator.data(), 4) != 0x07064b50) refuse("is a zip archive without the directory that it announces");
    const auto large = read(number(locator.data() + 8, 8), of_end_64);
    count = number(large.data() + 32, 8), length = number(large.data() + 40, 8), begin = number(large.data() + 48, 8);
  }
  const auto directory = read(begin, length);
  std::uint64_t from = 0;
  for (std::uint64_t m = 0; m < count; ++m) {
    if (length - from < of_entry || number(&directory[from], 4) != 0x02014b50)
      refuse("is a zip archive whose directory cannot be read");
    const unsigned char* entry = &directory[from];
    const std::uint64_t of_name = number(entry + 28, 2), of_extra = number(entry + 30, 2),
                        of_text = number(entry + 32, 2);
    if (length - from - of_entry < of_name + of_extra + of_text)
      refuse("is a zip archive whose directory cannot be read");
    const unsigned char* name = entry + of_entry;
    add_member(entry, {name, name + of_name}, {name + of_name, name + of_name + of_extra});
    from += of_entry + of_name + of_extra + of_text;
  }
}

void ZipArchive::add_member(const unsigned char* entry, const std::string& name,
                            const std::vector<unsigned char>& extra) {
  Member member{
      name, false, number(entry + 20, 4), number(entry + 24, 4), number(entry + 42, 4), number(entry + 16, 4)};
  const std::uint64_t flags = number(entry + 8, 2), method = number(entry + 10, 2);
  if ((flags & 1) != 0) refuse("has an encrypted member '" + name + "'");
  if (method != 0 && method != 8)
    refuse(joined("has a member '", name, "' packed by method ", method, ": only deflate is read"));
  member.deflated = method == 8;
  // Large sizes, in this order, as far as they are needed.
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t id = number(&extra[at], 2), size = number(&extra[at + 2], 2);
    const std::size_t last = std::min(extra.size(), at + 4 + size);
    std::size_t next = at + 4;
    if (id == 1)
      for (std::uint64_t* value : {&member.size, &member.packed, &member.header})
        if (*value == in_extra_32 && next + 8 <= last) *value = number(&extra[next], 8), next += 8;
    at = last;
  }
  members_.push_back(std::move(member));
}

std::uint64_t ZipArchive::data_of(const Member& member) const {
  const auto header = read(member.header, of_member);
  if (number(header.data(), 4) != 0x04034b50) refuse("has no member '" + member.name + "' where its directory says");
  const std::uint64_t begin = member.header + of_member + number(&header[26], 2) + number(&header[28], 2);
  if (begin > bytes_->size() || member.packed > bytes_->size() - begin)
    refuse("is a truncated zip archive: '" + member.name + "' would lie beyond its end");
  if (!member.deflated && member.size != member.packed)
    refuse("has two sizes of the member '" + member.name + "' in its directory");
  return begin;
}

std::vector<std::byte> ZipArchive::unpacked(const Member& member, std::uint64_t most) const {
  const std::uint64_t begin = data_of(member), wanted = std::min(most, member.size);
  const auto damaged = [&] { refuse("has a damaged member '" + member.name + "'"); };
  // No memory is taken on a header's word alone: the packed bytes must be able to fill it.
  if (member.deflated && member.size / static_cast<std::uint64_t>(best_deflate) > member.packed + 1) damaged();
  std::vector<std::byte> out(wanted);
  if (!member.deflated) {
    const auto stored = read(begin, wanted);
    std::memcpy(out.data(), stored.data(), wanted);
    return checked(std::move(out), member);
  }
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } const ends{&stream};
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::uint64_t taken = 0, made = 0;
  std::vector<unsigned char> in;
  int status = Z_OK;
  while (made < wanted && status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      in = read(begin + taken, std::min(piece, member.packed - taken));
      if (in.empty()) damaged();
      taken += in.size();
      stream.next_in = in.data(), stream.avail_in = static_cast<unsigned>(in.size());
    }
    const std::uint64_t room = std::min(piece, wanted - made);
    stream.next_out = reinterpret_cast<unsigned char*>(out.data() + made);
    stream.avail_out = static_cast<unsigned>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) damaged();
    made += room - stream.avail_out;
  }
  if (made < wanted) damaged();
  return checked(std::move(out), member);
}

std::vector<std::byte> ZipArchive::checked(std::vector<std::byte> bytes, const Member& member) const {
  if (bytes.size() == member.size &&
      crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()) != member.crc)
    refuse("has a damaged member '" + member.name + "': its checksum is another one");
  return bytes;
}

}  // namespace ts::inline v0::io
