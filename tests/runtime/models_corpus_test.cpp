#include <ATen/ATen.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "runtime/models/corpus.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "traces/error.h"
#include "traces/file.h"

using namespace stowage;

namespace {

class TextFile {
 public:
  explicit TextFile(const std::string& text) { write_file(name_, text); }
  ~TextFile() { std::remove(name_.c_str()); }
  const std::string& name() const { return name_; }

 private:
  std::string name_ = "/tmp/stowage_corpus_test_" + std::to_string(getpid());
};

std::string text_of(const at::Tensor& bytes) {
  std::string text;
  for (std::int64_t i = 0; i < bytes.numel(); ++i) text += static_cast<char>(bytes[i].item<std::int64_t>());
  return text;
}

}  // namespace

TEST_CASE("a target is the byte after its token") {
  const TextFile file("abcdefghij");
  const Corpus corpus(file.name(), {8, 3});
  const State batch = corpus.batch(7, 0);
  for (std::int64_t row = 0; row < 8; ++row) {
    const std::string tokens = text_of(batch[0][row]), targets = text_of(batch[1][row]);
    const auto place = std::string("abcdefghij").find(tokens);
    REQUIRE(place < 7);  // the last token stands before the last byte: 7 + 3 = 10
    REQUIRE(targets == std::string("abcdefghij").substr(place + 1, 3));
  }
}

TEST_CASE("batches follow from the seed and the step alone") {
  const Corpus corpus(tests::source_folder() + "/data/alice.txt", {4, 32});
  const at::Tensor first = corpus.batch(1, 5)[0];
  REQUIRE(at::equal(first, corpus.batch(1, 5)[0]));
  REQUIRE(!at::equal(first, corpus.batch(1, 6)[0]));
  REQUIRE(!at::equal(first, corpus.batch(2, 5)[0]));
}

TEST_CASE("a text of one sequence and a byte has one place to begin") {
  const TextFile file("ab\xff");
  const Corpus corpus(file.name(), {1, 2});
  REQUIRE(corpus.batch(0, 0)[0][0][1].item<std::int64_t>() == 'b');
  REQUIRE(corpus.batch(0, 9)[1][0][1].item<std::int64_t>() == 255);
}

TEST_CASE("a text that is missing, empty or too short is refused") {
  REQUIRE_THROWS_AS(Corpus("/nowhere/text", {1, 2}), SystemError);
  REQUIRE_THROWS_AS(Corpus("/tmp", {1, 2}), SystemError);
  for (const char* text : {"", "ab"}) {
    const TextFile file(text);
    REQUIRE_THROWS_AS(Corpus(file.name(), {1, 2}), InputError);
  }
}

TEST_CASE("the text that is shipped is plain") {
  const std::string text = read_file(tests::source_folder() + "/data/alice.txt");
  REQUIRE(text.size() > 100 * 1024);
  REQUIRE(std::all_of(text.begin(), text.end(),
                      [](char byte) { return (byte >= ' ' && byte <= '~') || byte == '\n'; }));
}
