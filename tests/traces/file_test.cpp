#include "traces/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

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

TEST_CASE("a link to nothing yet creates what it names, and a relative one counts from its folder") {
  const Folder folder;
  fs::create_symlink("target", folder.file("link"));
  write_file(folder.file("link"), "new");
  REQUIRE(fs::is_symlink(folder.file("link")));
  REQUIRE(read_file(folder.file("target")) == "new");
}

TEST_CASE("links in a circle are refused") {
  const Folder folder;
  fs::create_symlink("b", folder.file("a"));
  fs::create_symlink("a", folder.file("b"));
  REQUIRE(failure([&] { write_file(folder.file("a"), "x"); }) ==
          folder.file("a") + ": cannot write: Too many levels of symbolic links");
}

TEST_CASE("a private file stays private") {
  const Folder folder;
  write_file(folder.file("x"), "old");
  fs::permissions(folder.file("x"), fs::perms::owner_read | fs::perms::owner_write);
  write_file(folder.file("x"), "new");
  REQUIRE(fs::status(folder.file("x")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("what a process holds open is appended to, never replaced") {
  const Folder folder;
  write_file(folder.file("log"), "first\n");
  const int log = ::open(folder.file("log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  REQUIRE(log >= 0);
  const std::string name = "/dev/fd/" + std::to_string(log);
  write_file(name, "second\n");
  fs::create_symlink(name, folder.file("link"));
  write_file(folder.file("link"), "third\n");
  REQUIRE(read_file(folder.file("log")) == "first\nsecond\nthird\n");
  // A file without a name, as a standard output that goes to a temporary file.
  fs::remove(folder.file("log"));
  write_file(name, "fourth\n");
  REQUIRE(read_file(name) == "first\nsecond\nthird\nfourth\n");
  ::close(log);
  REQUIRE(folder.files() == 1);  // the link
}

TEST_CASE("a pipe takes what is written") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  write_file("/dev/fd/" + std::to_string(ends[1]), "through");
  ::close(ends[1]);
  REQUIRE(read_file("/dev/fd/" + std::to_string(ends[0])) == "through");
  ::close(ends[0]);
}

TEST_CASE("names as long as the file system takes are written") {
  const Folder folder;
  write_file(folder.file(std::string(255, 'n')), "x");
  REQUIRE(read_file(folder.file(std::string(255, 'n'))) == "x");
  REQUIRE(failure([&] {
            write_file(folder.file(std::string(256, 'n')), "x");
          }).ends_with("cannot write: File name too long"));
  REQUIRE(folder.files() == 1);
}

TEST_CASE("files of one folder may be written at once") {
  const Folder folder;
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i)
    writers.emplace_back(
        [&, i] { write_file(folder.file(std::to_string(i)), std::string(100'000, 'a' + i)); });
  for (std::thread& writer : writers) writer.join();
  for (int i = 0; i < 8; ++i)
    REQUIRE(read_file(folder.file(std::to_string(i))) == std::string(100'000, 'a' + i));
  REQUIRE(folder.files() == 8);
}

TEST_CASE("a failure names the file and the reason and leaves nothing behind") {
  const Folder folder;
  REQUIRE(failure([&] { read_file(folder.file("no")); }) ==
          folder.file("no") + ": cannot read: No such file or directory");
  REQUIRE(failure([&] {
            write_file(folder.file("no/x"), "");
          }).ends_with("cannot write: No such file or directory"));
  REQUIRE(failure([&] { write_file(folder.file(""), "x"); }) ==
          folder.file("") + ": cannot write: Is a directory");
  REQUIRE(failure([&] { read_file(folder.file("")); }) == folder.file("") + ": cannot read: Is a directory");
  REQUIRE(failure([] { write_file("", "x"); }) == "cannot write: No such file or directory");
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
