#include <ctime>

#include "tests/catch.h"
#include "tests/traces/import_made_pickle.h"
#include "tests/traces/packed.h"
#include "traces/error.h"
#include "traces/import/pickle.h"

using namespace stowage;
using namespace stowage::tests;
using Kind = PickleValue::Kind;

namespace {

Pickle unpickled(const std::string& bytes, Repairs& repairs) {
  const auto source = open_bytes(std::span(bytes));
  ByteWindow window(*source, bytes.starts_with('\x1f') ? 1 << 16 : 32);
  return read_pickle(window, repairs);
}

Pickle unpickled(const std::string& bytes) {
  Repairs repairs;
  Pickle pickle = unpickled(bytes, repairs);
  REQUIRE(repairs.none());
  return pickle;
}

// Why a pickle was refused, in less than a second of the processor's time.
std::string refusal(const std::string& bytes) {
  const std::clock_t begin = std::clock();
  std::string reason = "was not refused";
  try {
    unpickled(bytes);
  } catch (const InputError& error) {
    reason = error.reason();
  }
  REQUIRE(std::clock() - begin < CLOCKS_PER_SEC);
  return reason;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("plain values of every kind") {
  const Pickle pickle = unpickled(pickle_of(pickled_list(
      {"N", "\x88", "\x89", pickled(7), "M\x01\x02", "J\xfe\xff\xff\xff", pickled(6917529027641081856),
       std::string("\x8a\x00", 2), "\x8b\x02" + std::string("\0\0\0\xff\xff", 5),
       std::string("G\x3f\xf8\0\0\0\0\0\0", 9), pickled("frame"),
       "\x8c\x03"
       "abc",
       "C\x02"
       "hi",
       pickled(3) + pickled(4) + "\x86"})));
  const auto items = pickle.items(pickle.root());
  REQUIRE(items.size() == 14);
  REQUIRE(items[0].kind == Kind::none);
  REQUIRE(pickle.integer(items[1]) == 1);
  REQUIRE(pickle.integer(items[2]) == 0);
  REQUIRE(pickle.integer(items[3]) == 7);
  REQUIRE(pickle.integer(items[4]) == 513);
  REQUIRE(pickle.integer(items[5]) == -2);
  REQUIRE(pickle.integer(items[6]) == 6917529027641081856);
  REQUIRE(pickle.integer(items[7]) == 0);
  REQUIRE(pickle.integer(items[8]) == -1);
  REQUIRE(items[9].real == 1.5);
  REQUIRE(pickle.text(items[10]) == "frame");
  REQUIRE(pickle.text(items[11]) == "abc");
  REQUIRE(pickle.text(items[12]) == "hi");
  REQUIRE(pickle.items(items[13]).size() == 2);
}

TEST_CASE("addresses of 64 bits keep their bits") {
  const Pickle pickle = unpickled(
      pickle_of(std::string("\x8a\x09", 2) + little_endian(~std::uint64_t{0}, 8) + std::string(1, '\0')));
  REQUIRE(pickle.integer(pickle.root()) == -1);
}

TEST_CASE("dictionaries find what they hold, the last of two") {
  const Pickle pickle =
      unpickled(pickle_of(pickled_dictionary({{"a", pickled(1)}, {"b", pickled("x")}, {"a", pickled(2)}})));
  REQUIRE(pickle.integer(pickle.find(pickle.root(), "a")) == 2);
  REQUIRE(pickle.text(pickle.find(pickle.root(), "b")) == "x");
  REQUIRE(pickle.find(pickle.root(), "c").kind == Kind::none);
}

TEST_CASE("shared values stay one value") {
  const std::string twice = std::string("](") + "]q\x01" + "K\x05" + "a" + "h\x01" + "e";
  const Pickle pickle = unpickled(pickle_of(twice, 2));
  const auto items = pickle.items(pickle.root());
  REQUIRE(items.size() == 2);
  REQUIRE(items[0].index == items[1].index);
}

TEST_CASE("all protocols from 2 to 5, and no other") {
  for (int protocol = 2; protocol <= 5; ++protocol) {
    const std::string frame = protocol >= 4 ? "\x95" + little_endian(2, 8) : "";
    const Pickle pickle = unpickled(pickle_of(frame + "K\x09", protocol));
    REQUIRE(pickle.integer(pickle.root()) == 9);
  }
  REQUIRE(says(refusal(pickle_of("K\x09", 6)), "protocol is 6"));
  REQUIRE(says(refusal(pickle_of("K\x09", 1)), "protocol is 1"));
}

TEST_CASE("whatever could name or call code is refused") {
  REQUIRE(says(refusal(pickle_of("cos\nsystem\n(X\x02\0\0\0lstR")), "GLOBAL"));
  REQUIRE(says(refusal(pickle_of(pickled("os") + pickled("system") + "\x93")), "STACK_GLOBAL"));
  for (const char* instruction :
       {"R", "b", "i", "o", "\x81", "\x92", "\x82", "\x83", "\x84", "P", "Q", "\x97"}) {
    REQUIRE(says(refusal(pickle_of(pickled(1) + instruction)), "name or call code"));
  }
}

TEST_CASE("a bomb of shared lists is refused") {
  // Each list holds the one before it ten times: 10^13 values after 13.
  std::string bomb =
      "]\x94K\x01"
      "a0";
  for (int level = 0; level < 30; ++level) {
    bomb += "](";
    for (int i = 0; i < 10; ++i) bomb += "h" + little_endian(static_cast<std::uint64_t>(level), 1);
    bomb += "e\x94";
    if (level < 29) bomb += "0";
  }
  REQUIRE(says(refusal(pickle_of(bomb)), "spread"));
}

TEST_CASE("deep nesting is refused, however it is made") {
  REQUIRE(says(refusal(pickle_of(std::string(5000000, ']'))), "piles up"));
  REQUIRE(says(refusal(pickle_of(std::string(100000, ']') + std::string(99999, 'a'))), "nested"));
  REQUIRE(says(refusal(pickle_of(std::string(5000000, '('))), "marks"));
  std::string tuples = "N";
  for (int i = 0; i < 200; ++i) tuples += "\x85";
  REQUIRE(says(refusal(pickle_of(tuples)), "nested"));
}

TEST_CASE("huge counts are refused without making room for them") {
  REQUIRE(says(refusal(pickle_of("X\xff\xff\xff\xff")), "a text has 4294967295 bytes"));
  REQUIRE(says(refusal(pickle_of("\x8d\xff\xff\xff\xff\xff\xff\xff\xff")), "a text has"));
  REQUIRE(says(refusal(pickle_of("\x8b\xff\xff\xff\x7f")), "an integer has"));
  REQUIRE(says(refusal(pickle_of("\x8a\xff")), "an integer has 255 bytes"));
  REQUIRE(says(refusal(pickle_of("\x95\xff\xff\xff\xff\xff\xff\xff\xff"
                                 "N")),
               "frame"));
  REQUIRE(says(refusal(pickle_of("Nr\xff\xff\xff\xff")), "memo has gaps"));
  REQUIRE(says(refusal(pickle_of("N" + std::string(5'000'000, '\x94'))), "memo holds more values"));
}

namespace {

// As often as makes 6 MB or more.
std::string repeated(const std::string& instructions) {
  std::string all = instructions;
  while (all.size() < 6'000'000) all += all;
  return all;
}

}  // namespace

TEST_CASE("what unpacks to far more than its file is refused, whatever it is made of") {
  // Nothing, lists in a list, lists that are dropped, a memo, dictionaries: each is under 300 KiB when
  // packed.
  for (const char* piece : {"Na", "]a", "]0", "(NNNNNNNNNNNNe",
                            "N\x94"
                            "0"})
    REQUIRE(says(refusal(packed(pickle_of("]" + repeated(piece)))), "it unpacks to far more"));
  REQUIRE(says(refusal(packed(pickle_of("}" + repeated("(NNNNNNNNNNu")))), "it unpacks to far more"));
}

TEST_CASE("texts are bounded in all, not only one by one") {
  std::string texts = "]";
  for (int i = 0; i < 3; ++i) texts += pickled(std::string(15 << 20, static_cast<char>('a' + i))) + "a";
  REQUIRE(says(refusal(packed(pickle_of(texts))), "its texts are longer"));  // 45 MiB
  REQUIRE(says(refusal(pickle_of(pickled(std::string((16 << 20) + 1, 'a')))), "a text has 16777217 bytes"));
  const std::string longest(16 << 20, 'a');
  const Pickle pickle = unpickled(pickle_of(pickled(longest)));
  REQUIRE(pickle.text(pickle.root()) == longest);
  std::string different = "](";  // none like another
  for (int i = 0; i <= 1 << 18; ++i)
    different += "\x8c\x04" + little_endian(static_cast<std::uint64_t>(i), 4);
  REQUIRE(says(refusal(pickle_of(different + "e")), "more different texts"));
}

TEST_CASE("nonsense is refused") {
  for (const char* nonsense : {"a", "u", "e", "t",
                               "K\x01"
                               "e",
                               "}K\x01"
                               "s",
                               "](K\x01"
                               "u",
                               "h\x05", "0", "\x86", "(a", "N(\x85"}) {
    REQUIRE(says(refusal(pickle_of(nonsense)), "expected plain data"));
  }
  REQUIRE(says(refusal(pickle_of("")), "nothing is left"));
}

TEST_CASE("a pickle cut anywhere gives what is complete") {
  const std::string whole =
      pickle_of(pickled_dictionary({{"list", pickled_list({pickled_dictionary({{"a", pickled(1)}}),
                                                           pickled_dictionary({{"a", pickled(2)}})})},
                                    {"z", pickled(3)}}));
  std::size_t most = 0;
  for (std::size_t kept = 3; kept < whole.size(); ++kept) {
    Repairs repairs;
    const Pickle pickle = unpickled(whole.substr(0, kept), repairs);
    REQUIRE(repairs[Repair::truncated].count == 1);
    most = std::max(most, pickle.items(pickle.find(pickle.root(), "list")).size());
  }
  REQUIRE(most == 2);
}

TEST_CASE("a list of one item that was cut inside it keeps what is there of it") {
  // {"traces": [[1, 2, ...]]}, as a snapshot of one device: the outer list has no mark.
  const std::string single =
      "\x80\x04}(" + pickled("first") + pickled(7) + pickled("traces") + "]" + "](" + pickled(1) + pickled(2);
  Repairs repairs;
  const Pickle pickle = unpickled(single, repairs);
  REQUIRE(repairs[Repair::truncated].count == 1);
  REQUIRE(pickle.integer(pickle.find(pickle.root(), "first")) == 7);
  const auto traces = pickle.items(pickle.find(pickle.root(), "traces"));
  REQUIRE(traces.size() == 1);
  REQUIRE(pickle.items(traces[0]).size() == 2);
}
