// `stowage recommend` and `stowage check`, run as processes.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace stowage;
using namespace stowage::tests;

namespace recommend_test {
namespace {

std::string refused(const std::string& arguments) {
  const Ended ended = Workplace().stowage(arguments);
  INFO("standard output: " << ended.out << "\nstandard error: " << ended.err);
  REQUIRE(ended.code == 2);
  REQUIRE(ended.err.starts_with("stowage: "));
  return ended.err.substr(9, ended.err.size() - 10);
}

const std::string z_image =
    "--family z-image --gpu h100 --resolution 512 --lora-rank 64 --optimizer-name lion ";

}  // namespace

TEST_CASE("recommend answers before anything was measured") {
  const Ended ended = Workplace().stowage(
      "recommend --family flux1-dev --gpu rtx4090 --resolution 1024 --batch 1 --lora-rank 16 --trainer "
      "simpletuner --json");
  REQUIRE(ended.code == 0);
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("basis").string() == "guessed");
  REQUIRE(answer.at("emitted").string().find("gradient_checkpointing") != std::string::npos);
  double last = 0;
  for (const JsonNode& row : answer.at("rows").items()) {
    const auto seconds = row.at("seconds").items();
    REQUIRE(seconds[0].number(0, 1e6) < seconds[1].number(0, 1e6));
    REQUIRE(seconds[1].number(0, 1e6) < seconds[2].number(0, 1e6));
    const auto bytes = row.at("device_bytes").items();
    if (row.at("room").string() == "fits") {
      REQUIRE(bytes[2].number(0, 1e12) <= answer.at("usable_bytes").number(0, 1e12));
      REQUIRE(seconds[1].number(0, 1e6) >= last);
      last = seconds[1].number(0, 1e6);
    }
  }
}

TEST_CASE("where nothing fits the nearest change is named") {
  const Ended ended =
      Workplace().stowage("recommend --family z-image --gpu rtx3060 --resolution 1024 --json");
  REQUIRE(ended.code == 1);
  REQUIRE(ended.json().at("outcome").string() == "out_of_memory");
  REQUIRE(ended.json().at("nearest_change").string() == "--precision int8");
  REQUIRE(Workplace()
              .stowage("recommend --family z-image --gpu rtx3060 --resolution 1024 --precision int8")
              .code == 0);
}

TEST_CASE("two measured steps take the place of the forecast") {
  const Ended ended = Workplace().stowage("recommend " + z_image +
                                          "--measured none=0.3s/30GiB --measured layer=0.5s/14GiB --json");
  REQUIRE(ended.code == 0);
  const JsonNode best = ended.json().at("rows").items().front();
  REQUIRE(ended.json().at("basis").string() == "measured");
  REQUIRE(best.at("seconds").items()[1].number(0, 10) == Approx(0.3).epsilon(0.001));
  REQUIRE(best.at("peak_bytes").number(0, 1e12) == Approx(30.0 * (1 << 30)).epsilon(0.001));
}

TEST_CASE("a language model has settings of this program's own") {
  const Ended ended = Workplace().stowage("recommend --family llama3.1-8b --gpu a100 --tokens 2048");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.out.find("As flags: ") != std::string::npos);
}

TEST_CASE("what a family makes of an option is said") {
  const Ended ended =
      Workplace().stowage("recommend --family sdxl --gpu rtx4090 --with gradient_checkpointing_interval=2");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.out.find("gradient_checkpointing_interval: has no effect") != std::string::npos);
  REQUIRE(
      refused("recommend --family sdxl --gpu rtx4090 --with gradient_checkpointing_offload_attention=true")
          .starts_with("--with: gradient_checkpointing_offload_attention"));
  REQUIRE(refused("recommend --family sdxl --gpu rtx4090 --with gradient_checkpointing_intervall=2")
              .find("did you mean gradient_checkpointing_interval?") != std::string::npos);
}

TEST_CASE("wrong use is answered with what there is") {
  REQUIRE(refused("recommend --family flux --gpu rtx4090") ==
          "--family: no such name: \"flux\"; did you mean flux1-dev?");
  REQUIRE(refused("recommend --family flux1-dev --gpu 4090ti") ==
          "--gpu: no such name: \"4090ti\"; did you mean rtx4090?");
  REQUIRE(refused("recommend --family flux1-dev --gpu rtx4090 --precision fp9")
              .starts_with("--precision: no such name: \"fp9\""));
  REQUIRE(refused("recommend --family flux1-dev --gpu rtx4090 --frames 9").starts_with("--frames: "));
  REQUIRE(
      refused("recommend --family flux1-dev --gpu rtx4090 --measured none=1").starts_with("--measured: "));
  REQUIRE(refused("recommend --family llama3.1-8b --gpu rtx4090 --trainer simpletuner")
              .starts_with("--trainer: "));
}

// The published rows of Z-Image, and one in which checkpointing did nothing.
TEST_CASE("check says whether settings took effect") {
  const auto verdict = [](const std::string& measured) {
    const Ended ended = Workplace().stowage("check " + z_image + "--policy recompute --json " + measured);
    REQUIRE(ended.code == (ended.json().at("verdict").string() == "as forecast" ? 0 : 1));
    return ended.json().at("verdict").string();
  };
  REQUIRE(verdict("--measured 0.479s/12.87GiB") == "as forecast");
  REQUIRE(verdict("--measured 0.243s/21.25GiB") == "no effect");
  REQUIRE(verdict("--measured 0.479s/16GiB") == "contradicts");
  REQUIRE(verdict("--measured 9s/12.87GiB --vram 13.3GiB") == "spilled");
  REQUIRE(refused("check " + z_image + "--policy recompute").starts_with("--measured: "));
}

}  // namespace recommend_test
