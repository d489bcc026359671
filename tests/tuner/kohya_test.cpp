// musubi-tuner and sd-scripts: their options, and what they make of them, rule by rule.
#include <algorithm>
#include <string>
#include <vector>

#include "plan/names.h"
#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "tests/tuner/two_lists.h"
#include "traces/error.h"
#include "tuner/choose.h"
#include "tuner/dialects/rotation.h"
#include "tuner/dialects/trainer.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

const BlockTable& one_list() {
  static const BlockTable table(example_profile(8));
  return table;
}

Meaning told(const char* trainer, const std::string& family, const std::string& flags,
             const BlockTable& table = one_list()) {
  const Trainer& row = trainer_named(trainer);
  return row.dialect(family)->meaning(options_in(row, *flags_config(flags, false), ConfigFormat::flags),
                                      table);
}

std::string refused(const char* trainer, const std::string& family, const std::string& flags,
                    const BlockTable& table = one_list()) {
  try {
    told(trainer, family, flags, table);
    return "";
  } catch (const InputError& error) {
    return error.path() + ": " + error.reason();
  }
}

// Each block: kept or recomputed, and whether its weights are away.
std::string pattern(const Meaning& meaning) {
  std::string text;
  for (const BlockDecision& block : meaning.plan.blocks)
    text += block.weights == Residence::resident   ? (block.activation == Activation::keep ? '.' : 'r')
            : block.activation == Activation::keep ? 's'
                                                   : 'S';
  return text;
}

std::string musubi_script() {
  return "accelerate launch --num_cpu_threads_per_process 1 src/musubi_tuner/wan_train_network.py \\\n"
         "  --task t2v-14B --dit wan.safetensors \\\n"
         "  --dataset_config data.toml --sdpa --mixed_precision bf16 \\\n"
         "  --gradient_checkpointing --blocks_to_swap 3 \\\n"
         "  --output_dir out --output_name mine  # as last week\n";
}

}  // namespace

// Three of eight away: one more, four, evenly spread.
TEST_CASE("musubi's blocks take turns, counted as one more that is away") {
  const Meaning meaning = told("musubi", "wan", "--gradient_checkpointing --blocks_to_swap 3");
  REQUIRE(pattern(meaning) == "SrSrSrSr");
  REQUIRE(meaning.plan.blocks[0].weights == Residence::two_way);
  REQUIRE(meaning.overhead.turns);
  REQUIRE(meaning.overhead.pageable);
  REQUIRE(meaning.readings.size() == 2);
  const Meaning pinned =
      told("musubi", "wan", "--gradient_checkpointing --blocks_to_swap 3 --use_pinned_memory_for_block_swap");
  REQUIRE_FALSE(pinned.overhead.pageable);
}

TEST_CASE("a ring brings frozen weights one way") {
  const std::string on = "--gradient_checkpointing --blocks_to_swap 4 --block_swap_h2d_only";
  const Meaning meaning = told("musubi", "wan", on);
  REQUIRE(pattern(meaning) == "SrSrSrSr");
  REQUIRE(meaning.plan.blocks[0].weights == Residence::h2d);
  REQUIRE(meaning.plan.transfer.prefetch == 1);
  REQUIRE(meaning.overhead.device == Bytes{5});
  REQUIRE(told("musubi", "wan", on + " --block_swap_ring_size 1").plan.transfer.prefetch == 0);
  REQUIRE(refused("musubi", "wan", on + " --block_swap_ring_size 0") == "block_swap_ring_size: must be >= 1");
  REQUIRE(refused("musubi", "wan", "--blocks_to_swap 4 --block_swap_h2d_only") ==
          "block_swap_h2d_only: requires gradient_checkpointing for training");
  Profile trained = example_profile(8);
  trained.blocks.front().sizes.gradient = trained.blocks.front().sizes.weight;
  REQUIRE(refused("musubi", "wan", on, BlockTable(trained)) ==
          "block_swap_h2d_only: requires frozen base weights");
}

// Flux Kontext: n/2 of the first list, 2(n - n/2) + 1 of the second, two of each stay. Of 6 and 12: 4 and 10.
TEST_CASE("each model of musubi's has its own most") {
  const BlockTable two(two_lists(6, 12));
  REQUIRE(refused("musubi", "flux_kontext", "--blocks_to_swap 9", two) ==
          "blocks_to_swap: cannot swap 9 blocks of this model: at most 8");
  // One of the first list and three of the second, each with one more.
  REQUIRE(pattern(told("musubi", "flux_kontext", "--blocks_to_swap 2", two)) == "s..s..s..s..s..s..");
  REQUIRE(refused("musubi", "hunyuan_video", "--blocks_to_swap 11", two) ==
          "blocks_to_swap: cannot swap 11 blocks of this model: at most 10");
  // 10 are 5 and 10, 9 are 4 and 8: halves round to even.
  REQUIRE(refused("musubi", "flux_2", "--blocks_to_swap 10", two) ==
          "blocks_to_swap: cannot swap 10 blocks of this model: at most 9");
  const auto most = [](const char* family) { return refused("musubi", family, "--blocks_to_swap 99"); };
  REQUIRE(most("wan").ends_with("at most 7"));
  REQUIRE(most("qwen_image").ends_with("at most 7"));
  REQUIRE(most("zimage").ends_with("at most 6"));
  REQUIRE(most("krea2").ends_with("at most 6"));
  REQUIRE(most("hunyuan_video_1_5").ends_with("at most 5"));
  REQUIRE(most("flux_kontext").starts_with("family: flux_kontext has two lists of blocks"));
  REQUIRE(refused("musubi", "ideogram4", "--blocks_to_swap 34", BlockTable(example_profile(50))) ==
          "blocks_to_swap: cannot swap 34 blocks of this model: at most 33");
}

// As the trainers' documents have it for the models as they are.
TEST_CASE("the most that can be swapped is what the documents say") {
  const auto most = [](const char* trainer, const char* family, const BlockTable& table) {
    const std::string reason = refused(trainer, family, "--blocks_to_swap 99", table);
    return reason.substr(reason.rfind(' ') + 1);
  };
  REQUIRE(most("musubi", "hunyuan_video", BlockTable(two_lists(20, 40))) == "38");
  REQUIRE(most("musubi", "hunyuan_video_1_5", BlockTable(example_profile(54))) == "51");
  REQUIRE(most("musubi", "krea2", BlockTable(example_profile(28))) == "26");
  REQUIRE(most("sd-scripts", "flux", BlockTable(two_lists(19, 38))) == "35");
}

// 7 inputs of 2 B: one way each in the plan, three waited for.
TEST_CASE("checkpoints on the CPU come and go while all waits") {
  for (const auto& [trainer, family, flag] :
       {std::tuple("musubi", "wan", "--gradient_checkpointing_cpu_offload"),
        {"sd-scripts", "hunyuan_image", "--cpu_offload_checkpointing"}}) {
    const Meaning meaning = told(trainer, family, std::string("--gradient_checkpointing ") + flag);
    REQUIRE(meaning.overhead.waited == Bytes{3 * 7 * 2});
    REQUIRE(meaning.plan.transfer.max_buckets == 0);
    REQUIRE_FALSE(meaning.plan.blocks[0].offload_input);
    REQUIRE(meaning.plan.blocks[1].offload_input);
    REQUIRE(told(trainer, family, flag).warnings.size() == 1);
  }
  REQUIRE(told("musubi", "krea2", "--gradient_checkpointing --gradient_checkpointing_cpu_offload")
              .warnings.front()
              .find("has no effect") != std::string::npos);
}

TEST_CASE("sd-scripts refuses what it cannot do together") {
  REQUIRE(refused("sd-scripts", "flux", "--blocks_to_swap 2 --cpu_offload_checkpointing",
                  BlockTable(two_lists(6, 12))) ==
          "blocks_to_swap: is not supported with cpu_offload_checkpointing");
  REQUIRE(refused("sd-scripts", "anima", "--blocks_to_swap 2 --unsloth_offload_checkpointing") ==
          "blocks_to_swap: is not supported with unsloth_offload_checkpointing");
  REQUIRE(refused("sd-scripts", "anima", "--cpu_offload_checkpointing --unsloth_offload_checkpointing") ==
          "cpu_offload_checkpointing: cannot be used with unsloth_offload_checkpointing");
  REQUIRE(refused("sd-scripts", "sd3", "--gradient_checkpointing --cpu_offload_checkpointing") != "");
  REQUIRE(refused("sd-scripts", "sd3", "--blocks_to_swap -1") == "blocks_to_swap: expected 0 or more");
  REQUIRE(refused("sd-scripts", "sd3", "--blocks_to_swap many") == "blocks_to_swap: expected a whole number");
  REQUIRE(told("sd-scripts", "sdxl", "--blocks_to_swap 3").warnings.size() == 1);
  const Meaning unsloth =
      told("sd-scripts", "anima", "--gradient_checkpointing --unsloth_offload_checkpointing");
  REQUIRE(describe(unsloth.plan.settings.value()) == "recompute+offload, prefetch 0");
}

TEST_CASE("a command line of musubi's keeps all but its memory options") {
  const Trainer& trainer = trainer_named("musubi");
  const auto config = flags_config(musubi_script(), false);
  REQUIRE(trainer.file.family(*config, ConfigFormat::flags) == "wan");
  write_options(trainer, *config, ConfigFormat::flags,
                {{"gradient_checkpointing", true},
                 {"blocks_to_swap", std::int64_t{5}},
                 {"use_pinned_memory_for_block_swap", true}});
  std::string expected = musubi_script();
  expected.replace(expected.find("swap 3"), 6, "swap 5");
  expected.insert(expected.find("  # as"), " --use_pinned_memory_for_block_swap");
  REQUIRE(config->text() == expected);
}

TEST_CASE("a configuration of sd-scripts keeps its tables") {
  const Trainer& trainer = trainer_named("sd-scripts");
  const std::string toml =
      "# mine\n[memory]\ngradient_checkpointing = true\nblocks_to_swap = 18 # of 57\n\n[model]\nmodel_type = "
      "\"chroma\"\n";
  const auto config = config_text(ConfigFormat::flat_toml, toml);
  REQUIRE(trainer.file.family(*config, ConfigFormat::flat_toml) == "chroma");
  REQUIRE(options_in(trainer, *config, ConfigFormat::flat_toml).at("blocks_to_swap") ==
          OptionValue(std::int64_t{18}));
  write_options(trainer, *config, ConfigFormat::flat_toml,
                {{"gradient_checkpointing", true}, {"blocks_to_swap", std::int64_t{20}}});
  std::string expected = toml;
  expected.replace(expected.find("18"), 2, "20");
  REQUIRE(config->text() == expected);
}

namespace {

// A rotation of n equal blocks, `away` of them on the host, all checkpointed, as the trainers' hooks make it:
// a worker copies one block out and then another in, a pair after the other, `pair` ns each.
std::int64_t rotation_step(std::int64_t n, std::int64_t away, std::int64_t forward, std::int64_t backward,
                           std::int64_t pair) {
  std::vector<std::int64_t> ready(static_cast<std::size_t>(n), 0);
  std::int64_t now = 0, worker = 0;
  const auto exchange = [&](std::int64_t block) {
    worker = std::max(worker, now) + pair;
    ready[static_cast<std::size_t>(block)] = worker;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    now = std::max(now, ready[static_cast<std::size_t>(i)]) + forward;
    if (i < away) exchange(n - away + i);
  }
  for (std::int64_t i = n; i-- > 0;) {
    now = std::max(now, ready[static_cast<std::size_t>(i)]) + forward + backward;
    const std::int64_t behind = n - 1 - i;
    if (behind > 0 && behind <= away) exchange(away - behind);
  }
  return std::max(now, worker);
}

}  // namespace

// Equal blocks of 5 B at 1 B/ns: 10 ns a pair. What is counted beside an implementation of its own.
TEST_CASE("a rotation takes no more memory than is counted, and about the time") {
  Machine machine = plain_machine();
  std::vector<double> ratios;
  for (std::int64_t n : {8, 13, 30}) {
    for (std::int64_t weight : {5, 20, 60}) {
      Profile profile = example_profile(n);
      profile.blocks.front().sizes.weight = {weight};
      profile.fixed.epilogue = profile.fixed.optimizer = {0};
      const BlockTable table(profile);
      const Run resident =
          price(table, machine, *trainer_named("musubi").dialect("wan"), {{"gradient_checkpointing", true}})
              .run;
      for (std::int64_t away = 1; away < n; ++away) {
        const Run run = price(table, machine, *trainer_named("musubi").dialect("wan"),
                              {{"gradient_checkpointing", true},
                               {"blocks_to_swap", away},
                               {"use_pinned_memory_for_block_swap", true}})
                            .run;
        const std::int64_t exact = rotation_step(n, away, 10, 20, 2 * weight);
        INFO(n << " blocks of " << weight << " B, " << away << " away: " << run.step.value << " for "
               << exact);
        // All that is on the device but weights is as without the swap; of weights n - away blocks'.
        REQUIRE(run.peaks.device.value >= resident.peaks.device.value - away * weight);
        REQUIRE(run.step.value * 100 >= exact * (n - away > 2 ? 100 : 94));
        if (n - away > 2) ratios.push_back(static_cast<double>(run.step.value) / static_cast<double>(exact));
      }
    }
  }
  std::sort(ratios.begin(), ratios.end());
  REQUIRE(ratios[ratios.size() / 2] < 1.03);
  REQUIRE(ratios.back() < 1.35);  // of one block of eight, whose copies take four times as long as it
}
