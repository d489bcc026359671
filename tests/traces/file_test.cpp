#include "traces/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "tests/catch.h"
#include "traces/error.h"

using namespace stowage;
namespace fs = std::filesystem;

namespace {

// A folder of its own for each test, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "stowage-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

template <class Action>
std::string failure(Action action) {
  try {
    action();
  } catch (const SystemError& error) {
    return error.what();
  }
  return "done";
}

}  // namespace

TEST_CASE("a file is written whole and read back") {
  const Folder folder;
  const std::string content("a\0b\n", 4);
  write_file(folder.file("x"), "old and longer");
  write_file(folder.file("x"), content);
  REQUIRE(read_file(folder.file("x")) == content);
  REQUIRE(folder.files() == 1);
  struct stat about {};
  REQUIRE(::stat(folder.file("x").c_str(), &about) == 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  REQUIRE((about.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("a link is written through, not replaced") {
  const Folder folder;
  write_file(folder.file("target"), "old");
  fs::create_symlink(folder.file("target"), folder.file("link"));
  write_file(folder.file("link"), "new");
  REQUIRE(fs::is_symlink(folder.file("link")));
  REQUIRE(read_file(folder.file("target")) == "new");
}

TEST_CASE("a failure names the file and the reason and leaves nothing behind") {
  const Folder folder;
  REQUIRE(failure([&] { read_file(folder.file("no")); }) ==
          folder.file("no") + ": cannot read: No such file or directory");
  REQUIRE(failure([&] {
            write_file(folder.file("no/x"), "");
          }).ends_with("cannot write: No such file or directory"));
  REQUIRE(failure([&] { write_file(folder.file(""), "x"); }).find("cannot write") != std::string::npos);
  REQUIRE(failure([] { write_file("/dev/full", "x"); }) ==
          "/dev/full: cannot write: No space left on device");
  REQUIRE(folder.files() == 0);
}

TEST_CASE("a full disk leaves the old file as it was") {
  const Folder folder;
  write_file(folder.file("x"), "old");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string said = failure([&] { write_file(folder.file("x"), std::string(1000, 'n')); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE(said == folder.file("x") + ": cannot write: File too large");
  REQUIRE(read_file(folder.file("x")) == "old");
  REQUIRE(folder.files() == 1);
}
