// `stowage profile`, `train` and `demo`, run as processes on a small model.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/paths.h"
#include "traces/machine.h"
#include "traces/profile.h"
#include "traces/timeline.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// A folder with model.json, and its profile.json and machine.json as measured.
class Bench {
 public:
  static const Bench& instance() {
    static const Bench bench;
    return bench;
  }

  Ended train(const std::string& flags) const {
    return place_.stowage("train --data '" + data() + "' --model model.json --profile profile.json " + flags);
  }
  const Workplace& place() const { return place_; }

 private:
  Bench() {
    place_.write(
        "model.json",
        R"({"format": "stowage.model", "version": 1, "layers": 3, "width": 32, "heads": 2, "context": 32,
                     "batch": 2, "dropout": 0.1})");
    const Ended ended = place_.stowage(
        "profile --model model.json -o profile.json --machine-output machine.json --repeats 2");
    INFO(ended.err);
    REQUIRE(ended.code == 0);
  }

  static std::string data() { return source_folder() + "/data/alice.txt"; }

  Workplace place_;
};

// What stands between two keys of the printed JSON, letter by letter.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from), end = text.find(to);
  REQUIRE(begin < end);
  REQUIRE(end != std::string::npos);
  return text.substr(begin, end - begin);
}

}  // namespace

TEST_CASE("losses and gradient norms are the same under every plan, to the last digit") {
  const Bench& bench = Bench::instance();
  const Ended keep = bench.train("--steps 3 --json");
  REQUIRE(keep.code == 0);
  REQUIRE(keep.err == "");
  const JsonNode answer = keep.json();
  REQUIRE(answer.at("outcome").string() == "ran");
  for (const char* key : {"losses", "gradient_norms", "step_ns", "peak_bytes"})
    REQUIRE(answer.at(key).items().size() == 3);
  REQUIRE(answer.at("predicted").at("peak_bytes").integer() > 0);
  const std::string losses = between(keep.out, "\"losses\"", "\"step_ns\"");
  for (const char* plan : {"--policy recompute --interval 2", "--policy offload --prefetch 2",
                           "--policy recompute+offload --swap-blocks 2 --swap-mode two-way"}) {
    INFO(plan);
    const Ended other = bench.train(std::string("--steps 3 --json ") + plan);
    REQUIRE(other.code == 0);
    REQUIRE(between(other.out, "\"losses\"", "\"step_ns\"") == losses);
  }
  const Ended seeded = bench.train("--steps 3 --json --seed 2");
  REQUIRE(between(seeded.out, "\"losses\"", "\"step_ns\"") != losses);
}

TEST_CASE("layers stream from a measured profile, and losses are the same to the last digit") {
  Workplace place;
  place.write(
      "lora.json",
      R"({"format": "stowage.model", "version": 1, "layers": 3, "width": 32, "heads": 2, "context": 32,
                  "batch": 2, "dropout": 0.1, "ffn_multiple": 4, "training": "lora", "lora_rank": 2})");
  REQUIRE(place.stowage("profile --model lora.json -o profile.json --repeats 2").code == 0);
  const auto train = [&](const std::string& plan) {
    const Ended ended = place.stowage("train --data '" + source_folder() + "/data/alice.txt" +
                                      "' --model lora.json --profile profile.json --steps 2 --json " + plan);
    INFO(ended.err);
    REQUIRE(ended.code == 0);
    return ended;
  };
  const Ended keep = train(""), streamed = train("--swap-blocks 3 --swap-mode stream --swap-keep 2");
  const auto losses = [](const Ended& ended) { return between(ended.out, "\"losses\"", "\"step_ns\""); };
  REQUIRE(losses(streamed) == losses(keep));
  const std::int64_t predicted = streamed.json().at("predicted").at("peak_bytes").integer();
  REQUIRE(predicted < keep.json().at("predicted").at("peak_bytes").integer());
  for (const JsonNode& peak : streamed.json().at("peak_bytes").items()) REQUIRE(peak.integer() == predicted);
}

TEST_CASE("memory that runs out is an answer") {
  const Bench& bench = Bench::instance();
  const Ended ended = bench.train("--steps 2 --json --vram 400kB");
  REQUIRE(ended.code == 1);
  REQUIRE(ended.err == "");
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("outcome").string() == "out_of_memory");
  REQUIRE(answer.at("space").string() == "device");
  REQUIRE(answer.at("needed_bytes").integer() > answer.at("free_bytes").integer());
  REQUIRE(answer.at("predicted").at("outcome").string() == "out_of_memory");
  REQUIRE(bench.train("--steps 2 --vram 400kB").out.find("Stopped: out of device memory at ") !=
          std::string::npos);
}

// A budget of nine tenths of what keeping everything takes.
TEST_CASE("autotune trains within the budget, or says what would do") {
  const Bench& bench = Bench::instance();
  const std::int64_t kept = bench.train("--steps 1 --json").json().at("predicted").at("peak_bytes").integer();
  const std::int64_t budget = kept * 9 / 10;
  REQUIRE(bench.train("--steps 1 --vram " + std::to_string(budget)).code == 1);
  const Ended tuned = bench.train("--steps 3 --json --autotune --vram " + std::to_string(budget));
  REQUIRE(tuned.code == 0);
  for (const JsonNode& peak : tuned.json().at("peak_bytes").items()) REQUIRE(peak.integer() <= budget);

  const Ended hopeless = bench.train("--json --autotune --vram 1kB");
  REQUIRE(hopeless.code == 1);
  REQUIRE(hopeless.json().at("least_bytes").integer() > 1000);
  REQUIRE(bench.train("--autotune --interval 2").err ==
          "stowage: --autotune: chooses the settings itself; leave out --interval\n");
}

// The profile says that a forward takes forty times what it does, so that recomputing looks dear and slow
// copies cheap. The first steps show otherwise.
TEST_CASE("a plan from wrong figures is corrected while it trains, and changes no loss") {
  const Bench& bench = Bench::instance();
  Profile wrong = read_profile(bench.place().path("profile.json"));
  for (BlockProfile& block : wrong.blocks) {
    block.times.forward.value *= 40;
    block.times.scope_forward = {};
    block.layers.clear();
  }
  bench.place().write("wrong.json", to_json(wrong));
  Machine slow = read_machine(bench.place().path("machine.json"));
  slow.links.h2d.rate = slow.links.d2h.rate = {20'000'000};
  bench.place().write("slow.json", to_json(slow));
  const std::int64_t kept = bench.train("--steps 1 --json").json().at("predicted").at("peak_bytes").integer();
  const std::string flags = "train --data '" + source_folder() +
                            "/data/alice.txt' --model model.json --profile wrong.json --machine slow.json "
                            "--steps 8 --json --autotune --vram " +
                            std::to_string(kept * 85 / 100);
  const Ended trained = bench.place().stowage(flags);
  INFO(trained.out << trained.err);
  REQUIRE(trained.code == 0);
  const auto corrections = trained.json().at("corrections").items();
  REQUIRE(!corrections.empty());
  REQUIRE(corrections[0].at("steps").integer() == 3);
  REQUIRE(corrections[0].at("changed_to").string() == trained.json().at("settings").string());
  const Ended kept_plan = bench.place().stowage(flags + " --keep-plan");
  REQUIRE(kept_plan.json().at("settings").string() != trained.json().at("settings").string());
  REQUIRE(between(kept_plan.out, "\"losses\"", "\"step_ns\"") ==
          between(trained.out, "\"losses\"", "\"step_ns\""));
  REQUIRE(bench.train("--keep-plan").err == "stowage: --keep-plan: expected with --autotune\n");
}

TEST_CASE("the first step can be checked against one without a plan") {
  const Bench& bench = Bench::instance();
  const Ended checked = bench.train("--steps 1 --policy recompute+offload --interval 2 --self-check");
  REQUIRE(checked.code == 0);
  REQUIRE(checked.out.find("gradients of the first step equal those without a plan, bit for bit.") !=
          std::string::npos);
}

TEST_CASE("a measured timeline is a file like a predicted one") {
  const Bench& bench = Bench::instance();
  REQUIRE(bench.train("--steps 3 --policy offload -o measured.json").code == 0);
  REQUIRE(read_timeline(bench.place().path("measured.json")).source == "measured");
  REQUIRE(bench.place()
              .stowage("simulate profile.json --machine machine.json --policy offload -o predicted.json")
              .code == 0);
  const Ended compared = bench.place().stowage("compare predicted.json measured.json --json");
  REQUIRE(compared.code != 2);
  REQUIRE(compared.err == "");
  REQUIRE(compared.json().at("only_predicted").integer() == 0);
  REQUIRE(compared.json().at("only_measured").integer() == 0);
}

// The third step is the steady one that is predicted; a bucket may have to wait two steps for its place.
TEST_CASE("the pool of pinned buffers is told as it is predicted") {
  const Bench& bench = Bench::instance();
  const auto pool_of = [](const Ended& ended) {
    INFO(ended.err);
    REQUIRE(ended.code == 0);
    const std::size_t begin = ended.out.find("\"pinned_pool\"");
    REQUIRE(begin != std::string::npos);
    return ended.out.substr(begin, ended.out.find(']', begin) - begin);
  };
  for (const std::string caps : {"--max-buckets 1", "--max-buckets 2 --pinned-max 50kB", ""}) {
    INFO(caps);
    const std::string flags = "--machine machine.json --json --policy offload " + caps;
    const std::string predicted = pool_of(bench.place().stowage("simulate profile.json " + flags));
    if (caps.empty())  // a step of a plan without caps is predicted as a first one
      REQUIRE(pool_of(bench.train("--steps 1 " + flags)) == predicted);
    else
      REQUIRE(pool_of(bench.train("--steps 3 " + flags)) == predicted);
  }
}

TEST_CASE("a training that was recorded is imported with all of its blocks and no complaint") {
  const Bench& bench = Bench::instance();
  const Ended trained = bench.train("--steps 4 --record recording.json");
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  REQUIRE(trained.err == "");  // PyTorch's profiler keeps quiet on a machine without a GPU
  const Ended imported = bench.place().stowage("import recording.json --json");
  REQUIRE(imported.code == 0);
  REQUIRE(imported.json().at("steps").items().size() == 3);
  REQUIRE(bench.train("--steps 1 --record no/such/folder.json").code == 2);
}

TEST_CASE("wrong data and models are refused before anything is measured") {
  const Bench& bench = Bench::instance();
  const Workplace& place = bench.place();
  REQUIRE(place.stowage("train --data none.txt").err ==
          "stowage: none.txt: cannot read: No such file or directory\n");
  place.write("short.txt", "Down, down, down.");
  REQUIRE(place.stowage("train --data short.txt").err.starts_with("stowage: short.txt: "));
  place.write("wide.json", R"({"format": "stowage.model", "version": 1, "width": "wide"})");
  const Ended wide = place.stowage("train --data short.txt --model wide.json");
  REQUIRE(wide.code == 2);
  REQUIRE(wide.err.starts_with("stowage: wide.json: "));
  REQUIRE(bench.train("--device tpu").err == "stowage: --device: expected host or cuda, not \"tpu\"\n");
}

TEST_CASE("the demo runs the whole job") {
  const Bench& bench = Bench::instance();
  const Ended ended = bench.place().stowage("demo --model model.json --steps 2 --repeats 2 -o out --json");
  INFO(ended.out << ended.err);
  REQUIRE(ended.code == 0);
  REQUIRE(ended.err == "");
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("same_losses").boolean());
  const auto rows = answer.at("rows").items();
  REQUIRE(rows.size() == 3);
  REQUIRE(rows[0].at("measured").at("outcome").string() == "out_of_memory");
  REQUIRE(rows[2].at("measured").at("outcome").string() == "ran");
  REQUIRE(rows[2].at("measured").at("peak_bytes").integer() <= answer.at("budget_bytes").integer());
  for (const char* file : {"profile.json", "machine.json", "plan.json", "predicted.json", "measured.json",
                           "trace.json", "report.html"}) {
    INFO(file);
    REQUIRE(bench.place().holds(std::string("out/") + file));
  }
}
