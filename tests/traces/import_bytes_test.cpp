#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "tests/catch.h"
#include "tests/traces/packed.h"
#include "traces/error.h"
#include "traces/import/byte_source.h"
#include "traces/import/byte_window.h"

using namespace stowage;
using tests::packed;

namespace {

std::string all_of(ByteSource& source) {
  std::string out;
  char room[1000];
  while (const std::size_t got = source.read(room)) out.append(room, got);
  return out;
}

std::string counting(int upto) {
  std::string text;
  for (int i = 0; i < upto; ++i) text += std::to_string(i) + " ";
  return text;
}

}  // namespace

TEST_CASE("plain bytes come through as they are, however short") {
  for (const std::string& text : {std::string(), std::string("{"), std::string("\x1f"), counting(5000)}) {
    REQUIRE(all_of(*open_bytes(std::span(text))) == text);
  }
}

TEST_CASE("gzip is known by its content, in one member or more") {
  const std::string text = counting(50000);
  const std::string one = packed(text);
  REQUIRE(one.size() < text.size() / 2);
  REQUIRE(all_of(*open_bytes(std::span(one))) == text);
  const std::string three = one + packed("") + packed("more");
  REQUIRE(all_of(*open_bytes(std::span(three))) == text + "more");
  const std::string padded = one + std::string(512, '\0');
  const auto source = open_bytes(std::span(padded));
  REQUIRE(all_of(*source) == text);
  REQUIRE(!source->cut_short());
}

TEST_CASE("gzip cut short gives what is there and says so") {
  const std::string text = counting(50000), whole = packed(text);
  for (const std::size_t kept : {whole.size() / 2, whole.size() - 1, std::size_t{12}}) {
    const std::string cut = whole.substr(0, kept);
    const auto source = open_bytes(std::span(cut));
    const std::string got = all_of(*source);
    REQUIRE(text.starts_with(got));
    REQUIRE(source->cut_short());
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 0x55;
  const auto source = open_bytes(std::span(damaged));
  all_of(*source);
  REQUIRE(source->cut_short());
}

TEST_CASE("a pipe is read like a file") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const std::string text = counting(40000), sent = packed(text);
  std::thread writer([&] {
    for (std::size_t at = 0; at < sent.size(); at += 700) {
      REQUIRE(write(ends[1], sent.data() + at, std::min<std::size_t>(700, sent.size() - at)) > 0);
    }
    close(ends[1]);
  });
  const std::string got = all_of(*open_bytes("/dev/fd/" + std::to_string(ends[0])));
  writer.join();
  close(ends[0]);
  REQUIRE(got == text);
}

TEST_CASE("what cannot be opened is named with its reason") {
  REQUIRE_THROWS_AS(open_bytes(std::string("/nowhere/trace.json")), SystemError);
  REQUIRE_THROWS_AS(open_bytes(std::filesystem::temp_directory_path().string()), SystemError);
}

TEST_CASE("a window slides, grows, and knows where it is") {
  const std::string text = counting(3000);
  const auto source = open_bytes(std::span(text));
  ByteWindow window(*source, 64);
  const char* at = window.begin();
  REQUIRE(window.end() - at == 64);
  at += 60;
  REQUIRE(window.more(at));
  REQUIRE(window.offset_of(at) == 60);
  REQUIRE(*at == text[60]);
  REQUIRE(window.end() - at == 64);
  REQUIRE(window.more(at));  // all 64 are still needed: twice the room
  REQUIRE(window.end() - at == 128);
  std::string rest(at, window.end());
  while (at = window.end(), window.more(at)) rest.append(at, window.end());
  REQUIRE(rest == text.substr(60));
  REQUIRE(window.at_end());
  REQUIRE(*window.end() == '\0');
}
