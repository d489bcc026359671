#include "tuner/dialects/pytorch.h"

#include <algorithm>
#include <array>

#include "tuner/dialects/chosen_blocks.h"
#include "tuner/dialects/option_reader.h"

namespace stowage {
namespace {

// Not options of a file but the calls of a training loop.
constexpr std::string_view each_block = "checkpoint";             // torch.utils.checkpoint.checkpoint
constexpr std::string_view sequential = "checkpoint_sequential";  // its segments
constexpr std::string_view saved_on_cpu = "save_on_cpu";          // torch.autograd.graph.save_on_cpu
constexpr std::array pytorch_keys{each_block, sequential, saved_on_cpu};

class PyTorch final : public Dialect {
 public:
  Meaning meaning(const Options& options, const BlockTable& table) const override {
    const OptionReader read(options);
    const bool each = read.flag(each_block, false), on_cpu = read.flag(saved_on_cpu, false);
    const std::int64_t segments = read.count_or(sequential, 0);
    if (each + on_cpu + (segments > 0) > 1)
      refuse_option(segments > 0 ? sequential : each_block,
                    "expected alone: what they do together is not counted");
    Meaning meaning;
    meaning.plan = all_blocks(table, each ? Policy::recompute : on_cpu ? Policy::offload : Policy::keep);
    if (on_cpu) save_on_cpu(meaning, table);
    if (segments > std::int64_t{table.size()})
      refuse_option(sequential,
                    "more segments than the " + std::to_string(table.size()) + " blocks there are");
    if (segments > 0) in_segments(meaning.plan, static_cast<std::uint32_t>(segments));
    return meaning;
  }

  std::vector<Options> shapes(const BlockTable& table) const override {
    std::vector<Options> all{{}, {{std::string(each_block), true}}, {{std::string(saved_on_cpu), true}}};
    for (std::int64_t segments = 2; segments <= std::int64_t{table.size()}; ++segments)
      all.push_back({{std::string(sequential), segments}});
    return all;
  }

 private:
  // All segments but the last are recomputed; it holds what is left over, too.
  static void in_segments(Plan& plan, std::uint32_t segments) {
    const auto blocks = static_cast<std::uint32_t>(plan.blocks.size());
    const std::uint32_t length = blocks / segments;
    for (std::uint32_t i = 0; i < length * (segments - 1); ++i) {
      plan.blocks[i].activation = Activation::recompute;
      plan.blocks[i].segment = i / length;
    }
    if (segments > 1) plan.settings.reset();
  }

  // Every tensor that autograd saves goes through pageable memory while all waits, weights too: they come
  // back as copies beside those that never left.
  static void save_on_cpu(Meaning& meaning, const BlockTable& table) {
    meaning.plan.transfer.max_buckets = 0;
    meaning.plan.settings.reset();
    Bytes largest;
    for (const BlockRow& row : table.rows) {
      largest = std::max(largest, row.sizes.weight);
      meaning.overhead.waited += row.sizes.weight;
      meaning.overhead.waited += row.sizes.weight;
    }
    meaning.overhead.device = largest;
    meaning.readings.push_back(
        "save_on_cpu copies weights, too, there and back: counted with a block's weights more "
        "on the device");
  }
};

std::string pytorch_code(const Options& options) {
  const OptionReader read(options);
  if (read.flag(each_block, false))
    return "from torch.utils.checkpoint import checkpoint\n\n"
           "for block in blocks:\n"
           "    x = checkpoint(block, x, use_reentrant=False)\n";
  if (const std::int64_t segments = read.count_or(sequential, 0))
    return "from torch.utils.checkpoint import checkpoint_sequential\n\n"
           "x = checkpoint_sequential(blocks, segments=" +
           std::to_string(segments) + ", input=x, use_reentrant=False)\n";
  if (read.flag(saved_on_cpu, false))
    return "from torch.autograd.graph import save_on_cpu\n\n"
           "with save_on_cpu(pin_memory=False):\n"
           "    for block in blocks:\n"
           "        x = block(x)\n";
  return "for block in blocks:\n    x = block(x)\n";
}

}  // namespace

Trainer pytorch() {
  return {"pytorch",
          "PyTorch",
          "",
          nullptr,
          [](const std::string&) -> std::unique_ptr<Dialect> { return std::make_unique<PyTorch>(); },
          {{}, pytorch_keys, path_by_key, nullptr, pytorch_code}};
}

}  // namespace stowage
