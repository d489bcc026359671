#include <string>

#include "runtime/models/transformer_config.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "traces/error.h"

using namespace stowage;

namespace {

std::string model(const std::string& rest) {
  return R"({"format": "stowage.model", "version": 1, "layers": 3, "width": 12, "heads": 4, "context": 5, "batch": 2)" +
         rest + "}";
}

// The path of the key that parsing refuses.
std::string refused(const std::string& text) {
  try {
    parse_transformer(text);
  } catch (const InputError& error) {
    return error.path();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("a model file says all that a transformer needs") {
  const TransformerConfig config =
      parse_transformer(model(R"(, "dropout": 0.25, "ffn_multiple": 2, "training": "lora", "lora_rank": 3)"));
  REQUIRE(config == TransformerConfig{3, 12, 4, 5, 2, 2, 0.25, LoraConfig{3, 16}});
  REQUIRE(name_of(config) == "transformer 3x12 lora 3");
  REQUIRE(parse_transformer(model("")) == TransformerConfig{3, 12, 4, 5, 2, 4, 0.1, {}});
}

TEST_CASE("the model file that is shipped is the default model") {
  REQUIRE(read_transformer(tests::source_folder() + "/data/model.json") == TransformerConfig{});
}

TEST_CASE("a wrong model file is refused at its key") {
  REQUIRE(refused(model(R"(, "depth": 3)")) == "depth");
  REQUIRE(refused(model(R"(, "dropout": 1)")) == "dropout");
  REQUIRE(refused(model(R"(, "training": "half")")) == "training");
  REQUIRE(refused(model(R"(, "lora_rank": 2)")) == "lora_rank");
  REQUIRE(refused(model(R"(, "training": "full", "lora_alpha": 2)")) == "lora_alpha");
  REQUIRE(refused(model(R"(, "training": "lora", "lora_rank": 13)")) == "lora_rank");  // above the width, 12
  REQUIRE(refused(R"({"format": "stowage.model", "version": 1, "layers": 0, "width": 12, "heads": 4,
                      "context": 5, "batch": 2})") == "layers");
  REQUIRE(refused(R"({"format": "stowage.model", "version": 1, "layers": 1, "width": 12, "heads": 5,
                      "context": 5, "batch": 2})") == "heads");  // 12 / 5 leaves a rest
  REQUIRE(refused(R"({"format": "stowage.model", "version": 1, "layers": 1, "heads": 5,
                      "context": 5, "batch": 2})") == "width");
  REQUIRE(refused(R"({"format": "stowage.model", "version": 2})") == "version");
  REQUIRE(refused(R"({"format": "stowage.profile", "version": 1, "blocks": []})") == "format");
}
