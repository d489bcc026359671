#include "tuner/dialects/deepspeed.h"

#include <algorithm>
#include <array>

#include "traces/error.h"
#include "tuner/dialects/option_reader.h"

namespace stowage {
namespace {

// deepspeed/runtime/activation_checkpointing/config.py, deepspeed/runtime/zero/config.py
constexpr std::string_view partition = "activation_checkpointing.partition_activations";
constexpr std::string_view cpu_checkpointing = "activation_checkpointing.cpu_checkpointing";
constexpr std::string_view contiguous = "activation_checkpointing.contiguous_memory_optimization";
constexpr std::string_view number_checkpoints = "activation_checkpointing.number_checkpoints";
constexpr std::string_view stage = "zero_optimization.stage";
constexpr std::string_view optimizer_device = "zero_optimization.offload_optimizer.device";
constexpr std::string_view parameter_device = "zero_optimization.offload_param.device";
constexpr std::array deepspeed_keys{partition, cpu_checkpointing, contiguous,      number_checkpoints,
                                    stage,     optimizer_device,  parameter_device};

constexpr std::array deepspeed_kept{partition, contiguous, number_checkpoints, stage, parameter_device};

// offload_activations.py: inputs that stay on the device behind the copy in flight, and the last.
constexpr int held_inputs = 3;

bool optimizer_known(const BlockTable& table) {
  try {
    check_optimizer({.accumulate = 1, .optimizer = OptimizerPlace::host}, table);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

class DeepSpeed final : public Dialect {
 public:
  explicit DeepSpeed(bool checkpoints) : checkpoints_(checkpoints) {}

  Meaning meaning(const Options& options, const BlockTable& table) const override {
    const OptionReader read(options);
    const bool on_cpu = read.flag(cpu_checkpointing, false);
    refuse_uncounted(read);
    Settings settings;
    if (checkpoints_) settings.policy = on_cpu ? Policy::recompute_offload : Policy::recompute;
    settings.transfer.prefetch = 0;
    settings.step.optimizer = optimizer_of(read);
    Meaning meaning;
    meaning.plan = expand(table, settings).plan;
    const auto warn = [&](std::string_view key, const char* text) {
      meaning.warnings.push_back(std::string(key) + ": " + text);
    };
    if (!checkpoints_ && on_cpu) warn(cpu_checkpointing, "has no effect on a model that does not checkpoint");
    if (read.flag(partition, false))
      warn(partition, "has no effect without model parallelism, as is counted here");
    if (checkpoints_ && on_cpu) hold_inputs(meaning, table);
    return meaning;
  }

  std::vector<Options> shapes(const BlockTable& table) const override {
    const auto key = [](std::string_view name) { return std::string(name); };
    std::vector<Options> all;
    for (bool on_host : {false, true}) {
      if (on_host && !optimizer_known(table)) continue;
      Options base;
      if (on_host) base = {{key(stage), std::int64_t{2}}, {key(optimizer_device), std::string("cpu")}};
      all.push_back(base);
      if (!checkpoints_) continue;
      base[key(cpu_checkpointing)] = true;
      all.push_back(base);
    }
    return all;
  }

 private:
  static void refuse_uncounted(const OptionReader& read) {
    if (read.flag(contiguous, false))
      refuse_option(contiguous, "what its buffers take is not known: expected false");
    // Read by contiguous_memory_optimization alone.
    read.count_or(number_checkpoints, 0);
    if (const std::string device = read.word(parameter_device).value_or("none"); device != "none")
      refuse_option(parameter_device, "when parameters come and go is not known: expected none");
    if (read.count_or(stage, 0) > 3) refuse_option(stage, "expected 0 to 3");
  }

  static OptimizerPlace optimizer_of(const OptionReader& read) {
    const std::string device = read.word(optimizer_device).value_or("none");
    if (device == "none") return OptimizerPlace::device;
    if (device == "nvme")
      refuse_option(optimizer_device, "what a disk takes of it is not known: expected none or cpu");
    if (device != "cpu") refuse_option(optimizer_device, "expected none, cpu or nvme");
    if (read.count_or(stage, 0) < 1)
      refuse_option(optimizer_device, "expected with zero_optimization.stage 1, 2 or 3");
    return OptimizerPlace::host;
  }

  static void hold_inputs(Meaning& meaning, const BlockTable& table) {
    Bytes largest;
    for (std::uint32_t i = 0; i < table.size(); ++i) largest = std::max(largest, table.activation(i));
    for (int i = 0; i < held_inputs; ++i) meaning.overhead.device += largest;
    meaning.readings.push_back(
        "counted with three inputs of blocks more on the device, which DeepSpeed holds back");
  }

  const bool checkpoints_;
};

std::vector<std::string> deepspeed_models() {
  return {"checkpointed", "plain"};
}

}  // namespace

// Whether blocks are checkpointed is the model's to say, which calls deepspeed.checkpointing.checkpoint.
Trainer deepspeed() {
  return {"deepspeed",
          "DeepSpeed",
          "model",
          deepspeed_models,
          [](const std::string& family) -> std::unique_ptr<Dialect> {
            const std::vector<std::string> models = deepspeed_models();
            if (std::find(models.begin(), models.end(), family) == models.end())
              refuse_family("model", family, models);
            return std::make_unique<DeepSpeed>(family == "checkpointed");
          },
          {{ConfigFormat::json}, deepspeed_keys, path_by_key, nullptr, nullptr, nullptr, deepspeed_kept}};
}

}  // namespace stowage
