// The cache of compiled kernels, and the digest that names and verifies its entries.
#include "tallskinny/gemm/runtime/gpu/disk_cache.hpp"

#include <sys/stat.h>

#include "tallskinny/gemm/runtime/gpu/kernel_pack.hpp"
#include "tallskinny/gemm/runtime/gpu/sha256.hpp"
#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"
#include "tallskinny/tests/support/files.hpp"
#include "tallskinny/tests/support/test.hpp"

TEST_CASE("sha256 gives the digests of FIPS 180-4") {
  CHECK(cuda::sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(cuda::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(cuda::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(cuda::sha256(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("what is stored is found again, under its key only") {
  const TemporaryFolder folder;
  const cuda::DiskCache cache(folder.path() / "deep" / "cache");
  REQUIRE(cache.usable());
  const std::string content("machine\0code", 12);
  CHECK_FALSE(cache.find("a key"));
  cache.store("a key", content);
  CHECK(cache.find("a key") == content);
  CHECK_FALSE(cache.find("another key"));
  cache.store("a key", "newer");
  CHECK(cache.find("a key") == "newer");

  struct stat status {};
  REQUIRE(::stat((folder.path() / "deep" / "cache").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("an entry that was changed or cut is not found") {
  const TemporaryFolder folder;
  const cuda::DiskCache cache(folder.path() / "cache");
  cache.store("key", "some machine code");
  const auto file = folder.path() / "cache" / cuda::sha256("key");
  const auto size = std::filesystem::file_size(file);
  {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(-1, std::ios::end);
    out.put('X');
  }
  CHECK_FALSE(cache.find("key"));
  for (const std::uintmax_t length : {size - 1, std::uintmax_t{20}, std::uintmax_t{0}}) {
    cache.store("key", "some machine code");
    std::filesystem::resize_file(file, length);
    CHECK_FALSE(cache.find("key"));
  }
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK_FALSE(cache.find("key"));
  cache.store("key", "some machine code");  // cannot be kept, and says nothing
}

TEST_CASE("a folder that others can enter, or that is none, is not used") {
  const TemporaryFolder folder;
  const auto open = folder.path() / "open", link = folder.path() / "link", file = folder.path() / "file";
  std::filesystem::create_directory(open);
  std::filesystem::permissions(open, std::filesystem::perms::all);
  CHECK_FALSE(cuda::DiskCache(open).usable());
  std::filesystem::create_directory_symlink(open, link);
  CHECK_FALSE(cuda::DiskCache(link).usable());
  folder.file("file", "text");
  CHECK_FALSE(cuda::DiskCache(file).usable());
  const cuda::DiskCache none("");
  CHECK_FALSE(none.usable());
  none.store("key", "content");
  CHECK_FALSE(none.find("key"));
}

TEST_CASE("what is packed is found again, unless it was changed") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "kernels.pack";
  const std::map<std::string, std::string> contents = {
      {"a key", std::string("machine\0code", 12)}, {"another", "more"}, {"a third", ""}};
  cuda::write_pack(file, "13.0", contents);
  {
    const cuda::KernelPack pack(file);
    CHECK(pack.size() == 3);
    CHECK(pack.compiler() == "13.0");
    for (const auto& [key, content] : contents) CHECK(pack.find(key) == content);
    CHECK_FALSE(pack.find("a fourth"));
  }
  const auto change = [&](std::streamoff back) {
    cuda::write_pack(file, "13.0", contents);
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(-back, std::ios::end);
    out.put('#');
  };
  change(1);  // in the last content, which is that of "another"
  CHECK_FALSE(cuda::KernelPack(file).find("another"));
  CHECK(cuda::KernelPack(file).find("a key") == contents.at("a key"));
  change(30);  // in the index
  CHECK(cuda::KernelPack(file).size() == 0);
  std::filesystem::resize_file(file, 40);
  CHECK(cuda::KernelPack(file).size() == 0);
  CHECK(cuda::KernelPack(folder.path() / "none.pack").size() == 0);
  CHECK_THROWS_AS(cuda::write_pack(folder.path() / "no" / "such" / "folder", "13.0", contents), Error);
}

TEST_CASE("a pack is shorter than what repeats in it") {
  constexpr std::array names = {"libz.so.1"};
  if (!cuda::SharedLibrary(names).loaded()) return;
  const TemporaryFolder folder;
  const auto file = folder.path() / "kernels.pack";
  const std::string long_one(100000, 'x');
  cuda::write_pack(file, "13.0", {{"a key", long_one}});
  CHECK(std::filesystem::file_size(file) < 2000);
  CHECK(cuda::KernelPack(file).find("a key") == long_one);
}

TEST_CASE("TALLSKINNY_KERNELS names the pack, or says that there is none") {
  const TemporaryFolder folder;
  const auto file = folder.file("some.pack", "text");
  ::setenv("TALLSKINNY_KERNELS", file.c_str(), 1);
  CHECK(cuda::default_pack_file() == file);
  ::setenv("TALLSKINNY_KERNELS", "none", 1);
  CHECK(cuda::default_pack_file().empty());
  ::setenv("TALLSKINNY_KERNELS", (folder / "no.pack").c_str(), 1);
  CHECK_THROWS_WITH(cuda::default_pack_file(), Catch::Contains("TALLSKINNY_KERNELS") && Catch::Contains("no.pack"));
  ::unsetenv("TALLSKINNY_KERNELS");
}
