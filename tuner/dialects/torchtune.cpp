#include "tuner/dialects/torchtune.h"

#include <algorithm>
#include <array>

#include "tuner/dialects/chosen_blocks.h"
#include "tuner/dialects/option_reader.h"

namespace stowage {
namespace {

// recipes/full_finetune_distributed.py; ac_mode and ac_option are read there and in qat_distributed.py.
constexpr std::string_view tune_checkpoints = "enable_activation_checkpointing";
constexpr std::string_view tune_offloads = "enable_activation_offloading";
constexpr std::string_view use_streams = "activation_offloading_use_streams";
constexpr std::string_view ac_mode = "ac_mode";
constexpr std::string_view ac_option = "ac_option";
constexpr std::array torchtune_keys{tune_checkpoints, tune_offloads, use_streams, ac_mode, ac_option};

// OffloadActivations, max_fwd_stash_size: tensors that stay on the device behind the copy in flight.
constexpr int stashed = 5;

class Torchtune final : public Dialect {
 public:
  explicit Torchtune(bool distributed) : distributed_(distributed) {}

  Meaning meaning(const Options& options, const BlockTable& table) const override {
    const OptionReader read(options);
    const bool checkpoints = read.flag(tune_checkpoints, false), offloads = read.flag(tune_offloads, false);
    if (offloads && !checkpoints)
      refuse_option(tune_offloads, "should only be True when enable_activation_checkpointing is True");
    Meaning meaning;
    meaning.plan = all_blocks(table, offloads      ? Policy::recompute_offload
                                     : checkpoints ? Policy::recompute
                                                   : Policy::keep);
    if (offloads) count_offload(meaning, table, read);
    if (const auto mode = read.word(ac_mode)) read_mode(meaning, table, read, *mode, checkpoints);
    return meaning;
  }

  std::vector<Options> shapes(const BlockTable& table) const override {
    const auto on = [](std::string_view key) { return std::pair(std::string(key), OptionValue(true)); };
    std::vector<Options> all{{}, {on(tune_checkpoints)}, {on(tune_checkpoints), on(tune_offloads)}};
    if (!distributed_) return all;
    for (std::int64_t n = 2; n <= std::int64_t{table.size()}; ++n)
      all.push_back({{std::string(ac_mode), std::string("selective")}, {std::string(ac_option), n}});
    return all;
  }

 private:
  static void count_offload(Meaning& meaning, const BlockTable& table, const OptionReader& read) {
    if (!read.flag(use_streams, true))
      refuse_option(use_streams, "what copies that everything waits for take is not known: expected True");
    Bytes largest;
    for (std::uint32_t i = 0; i < table.size(); ++i) largest = std::max(largest, table.activation(i));
    for (int i = 0; i < stashed; ++i) meaning.overhead.device += largest;
    meaning.readings.push_back(
        "counted with five inputs of blocks more on the device, which the trainer holds "
        "back; what it offloads outside of the blocks is not counted");
  }

  void read_mode(Meaning& meaning, const BlockTable& table, const OptionReader& read, const std::string& mode,
                 bool checkpoints) const {
    const auto warn = [&](const char* text) {
      meaning.warnings.push_back(std::string(ac_mode) + ": " + text);
    };
    if (!distributed_) return warn("is not read by recipes for a single device");
    if (checkpoints) {
      warn("leaves every block as it is beside enable_activation_checkpointing: neither checkpoints");
      meaning.plan = all_blocks(table, Policy::keep);
      if (read.flag(tune_offloads, false))
        refuse_option(tune_offloads, "what it takes without checkpoints is not known");
      return;
    }
    if (mode == "none") return;
    if (mode == "full") meaning.plan = all_blocks(table, Policy::recompute);
    if (mode != "full" && mode != "selective")
      return warn("is neither full nor selective: no block is checkpointed");
    if (mode == "selective") meaning.plan = every_nth_last(table, read.count_or(ac_option, 0));
  }

  const bool distributed_;
};

std::vector<std::string> torchtune_recipes() {
  return {"single_device", "distributed"};
}

}  // namespace

Trainer torchtune() {
  return {"torchtune",
          "torchtune",
          "recipe",
          torchtune_recipes,
          [](const std::string& family) -> std::unique_ptr<Dialect> {
            const std::vector<std::string> recipes = torchtune_recipes();
            if (std::find(recipes.begin(), recipes.end(), family) == recipes.end())
              refuse_family("recipe", family, recipes);
            return std::make_unique<Torchtune>(family == "distributed");
          },
          {{ConfigFormat::yaml}, torchtune_keys, path_by_key}};
}

}  // namespace stowage
