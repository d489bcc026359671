#include "tuner/dialects/torchtitan.h"

#include <array>

#include "tuner/dialects/chosen_blocks.h"
#include "tuner/dialects/option_reader.h"

namespace stowage {
namespace {

// torchtitan/config/job_config.py, torchtitan/distributed/activation_checkpoint.py
constexpr std::string_view mode_key = "activation_checkpoint.mode";
constexpr std::string_view selective_key = "activation_checkpoint.selective_ac_option";
constexpr std::string_view cpu_offload_key = "training.enable_cpu_offload";
constexpr std::array torchtitan_keys{mode_key, selective_key, cpu_offload_key};

constexpr std::array torchtitan_kept{cpu_offload_key};

class Torchtitan final : public Dialect {
 public:
  Meaning meaning(const Options& options, const BlockTable& table) const override {
    const OptionReader read(options);
    if (read.flag(cpu_offload_key, false))
      refuse_option(cpu_offload_key, "what it takes is not known: expected false");
    Meaning meaning;
    const std::string mode = read.word(mode_key).value_or("selective");
    if (mode == "none")
      meaning.plan = all_blocks(table, Policy::keep);
    else if (mode == "full")
      meaning.plan = all_blocks(table, Policy::recompute);
    else if (mode == "selective")
      meaning.plan = selective(table, read);
    else if (mode == "memory_budget")
      refuse_option(mode_key,
                    "what the compiler keeps of a memory budget is not known: expected another mode");
    else
      refuse_option(mode_key, "expected none, full, selective or memory_budget");
    return meaning;
  }

  std::vector<Options> shapes(const BlockTable& table) const override {
    const std::string mode(mode_key);
    std::vector<Options> all{{{mode, std::string("none")}}, {{mode, std::string("full")}}};
    for (std::int64_t n = 2; n <= std::int64_t{table.size()}; ++n)
      all.push_back({{mode, std::string("selective")}, {std::string(selective_key), std::to_string(n)}});
    return all;
  }

 private:
  static Plan selective(const BlockTable& table, const OptionReader& read) {
    const std::string option = read.word(selective_key).value_or("2");
    if (option == "op")
      refuse_option(selective_key, "which operations' results a block keeps is not known: expected a number");
    const OptionValue value = value_of_word(option);
    const std::int64_t* const n = std::get_if<std::int64_t>(&value);
    if (!n || *n < 0) refuse_option(selective_key, "expected op or a number");
    return every_nth_last(table, *n);
  }
};

}  // namespace

Trainer torchtitan() {
  return {"torchtitan",
          "torchtitan",
          "",
          nullptr,
          [](const std::string&) -> std::unique_ptr<Dialect> { return std::make_unique<Torchtitan>(); },
          {{ConfigFormat::toml}, torchtitan_keys, path_by_key, nullptr, nullptr, nullptr, torchtitan_kept}};
}

}  // namespace stowage
