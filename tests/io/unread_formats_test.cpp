// Files in formats that are not read are named, and the way to one that is.
#include "tallskinny/tests/io/support.hpp"

using namespace ts;
using namespace ts::test;

namespace {

Refusal refused(const std::string& name, const std::string& content) {
  TemporaryFolder folder;
  return refusal_of([&] { (void)io::read_matrix(file_in(folder, name, content)); });
}

}  // namespace

TEST_CASE("compressed files are named with the command that opens them") {
  CHECK(refused("f.csv.xz", std::string("\xfd"
                                        "7zXZ\0rest",
                                        10))
            .says("f.csv.xz is compressed by xz, which is not undone here: xzcat f.csv.xz | tskmeans -"));
  CHECK(refused("f.csv", "BZh91AY&SYrest").says("by bzip2, which is not undone here: bzcat f.csv | tskmeans -"));
  CHECK(refused("f.npy.zst", "\x28\xb5\x2f\xfdrest").says("by Zstandard"));
  CHECK(refused("f.lz4", "\x04\x22\x4d\x18rest").says("by LZ4"));
  CHECK(refused("f.npy.gz", "\x1f\x8b\x08rest").says("by gzip, which is not undone here: zcat f.npy.gz"));
  CHECK(refused("f.csv", "BZhang,b\n1,x\n").says("field 2 (b) is 'x'"));  // a name in the first line
}

TEST_CASE("spreadsheets, Zarr stores and svmlight are named with what reads them") {
  std::string zip("PK\3\4", 4);
  zip.append(26, '\0');
  CHECK(refused("f.xlsx", zip + "[Content_Types].xml").says("f.xlsx is a spreadsheet"));
  CHECK(refused("f.xlsx", zip + "[Content_Types].xml").says("pandas.read_excel(\"f.xlsx\").to_csv("));
  CHECK(refused("f.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1").says("is a spreadsheet"));
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "f.zarr");
  CHECK(refusal_of([&] { (void)io::describe({folder / "f.zarr", ""}); }).says("is a folder, not a file"));
  folder.file("f.zarr/zarr.json", "{}");
  CHECK(refusal_of([&] { (void)io::describe({folder / "f.zarr", ""}); }).says("f.zarr is a Zarr store"));
  for (const char* name : {"f.svm", "f", "f.txt", "f.dat"}) {
    CAPTURE(name);
    CHECK(refused(name, "+1 1:0.5 3:-2e-1\n-1 2:1\n").says("is in svmlight's format, which is not read"));
  }
  CHECK(refused("f.txt", "# ranks\n2 qid:3 1:0.5 3:0.25\n").says("f.txt is in svmlight's format"));
  CHECK(refused("f", "1 2 3\n").says("its name is none of"));
}
