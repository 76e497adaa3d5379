#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/node.hpp"

namespace ts::io::hdf5 {

bool has_signature(const std::filesystem::path& file) {
  constexpr std::array<unsigned char, 8> signature = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::ifstream in(file, std::ios::binary);
  for (std::streamoff at = 0; in; at = at == 0 ? 512 : 2 * at) {
    std::array<unsigned char, 8> found{};
    in.seekg(at);
    if (!in.read(reinterpret_cast<char*>(found.data()), found.size())) return false;
    if (found == signature) return true;
  }
  return false;
}

Node open(const std::filesystem::path& file, bool missing_as_fill) {
  start_library();
  const Quiet quiet;
  const auto refuse = [&](const std::string& cause) {
    throw Error(Errc::bad_input, file.string() + " " + cause);
  };

  Handle access = own_properties(H5Pcreate(H5P_FILE_ACCESS));
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access.id(), 1, 1);  // where the file system knows locks
#endif
  Handle opened = own_file(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.id()));
  if (!opened) {
    const std::string why = last_error();
    if (why.find("truncated") != std::string::npos) refuse("is truncated (" + why + ")");
    if (why.find("unable to lock") != std::string::npos)
      refuse("is being written by another program (" + why +
             "); wait for it, or set HDF5_USE_FILE_LOCKING=FALSE if nothing writes it");
    refuse("is a damaged HDF5 file (" + why + ")");
  }
  Handle root = own_group(H5Gopen2(opened.id(), "/", H5P_DEFAULT));
  if (!root) refuse("is a damaged HDF5 file (" + last_error() + ")");
  return {std::make_shared<const std::filesystem::path>(file), "/", std::move(root), true, missing_as_fill};
}

}  // namespace ts::io::hdf5
