#include "cli/machine_facts.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "cli/quantity.h"

namespace stowage {
namespace {

constexpr Bytes no_machine_has{std::int64_t{1} << 60};

std::optional<std::int64_t> leading_integer(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && number >= 0 ? std::optional(number) : std::nullopt;
}

std::string after(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

MachineFinding memory_finding(const MachineFacts& facts) {
  const auto total = meminfo_value(facts.meminfo, "MemTotal:"),
             free = meminfo_value(facts.meminfo, "MemAvailable:");
  if (!total || !free)
    return {"host memory", "not known", Concern::note, "Say it to the commands: --host-ram."};
  MachineFinding finding{"host memory",
                         readable(*total) + ", of which " + readable(*free) + " can be had now"};
  if (free->value < total->value / 4) {
    finding.concern = Concern::note;
    finding.advice = "Other processes hold most of it: end them, or plan with --host-ram " +
                     std::to_string(free->value) + ".";
  }
  return finding;
}

MachineFinding cache_finding(const MachineFacts& facts) {
  const auto cached = meminfo_value(facts.meminfo, "Cached:"), dirty = meminfo_value(facts.meminfo, "Dirty:");
  if (!cached) return {"page cache", "not known"};
  MachineFinding finding{"page cache", readable(*cached) + ", given back when memory is asked for"};
  if (dirty && dirty->value > cached->value / 4 && *dirty > Bytes{std::int64_t{1} << 30}) {
    finding.concern = Concern::note;
    finding.advice = readable(*dirty) +
                     " of it must be written first, which makes pinning slow: run `sync` before training.";
  }
  return finding;
}

MachineFinding container_finding(const MachineFacts& facts) {
  const auto limit = least_limit(facts.memory_limits);
  const auto total = meminfo_value(facts.meminfo, "MemTotal:");
  if (!limit || (total && *limit >= *total)) return {"container", "no memory limit below the machine's"};
  return {"container", "memory is limited to " + readable(*limit), Concern::wrong,
          "A process that passes it is killed without a word, pinned memory included: plan with --host-ram " +
              std::to_string(limit->value) + ", or raise the limit."};
}

MachineFinding processor_finding(const MachineFacts& facts) {
  const auto share = cpu_share(facts.cpu_limit);
  const std::string cores = std::to_string(facts.cores) + (facts.cores == 1 ? " core" : " cores");
  if (!share || *share >= static_cast<double>(facts.cores)) return {"processor", cores};
  std::ostringstream text;
  text << cores << ", of which the container may use " << *share;
  return {"processor", text.str(), Concern::note, "Data loading and an optimizer on the host share these."};
}

MachineFinding gpu_finding(const MachineFacts& facts) {
  if (facts.gpus.empty()) {
    if (is_wsl(facts.kernel))
      return {"GPU", "not listed under WSL2; nvidia-smi tells", Concern::note,
              "Say its memory to the commands: --vram."};
    return {"GPU", "none found", Concern::note,
            "Nothing here needs one: `--device host` plays one, and predictions need only a machine file."};
  }
  std::string models;
  for (const std::string& gpu : facts.gpus) {
    const std::string model = gpu_model(gpu);
    models += (models.empty() ? "" : ", ") + (model.empty() ? "a model that it does not tell" : model);
  }
  return {"GPU", models};
}

MachineFinding driver_finding(const MachineFacts& facts) {
  const std::string version = driver_version(facts.driver);
  if (!version.empty()) return {"driver", version};
  if (facts.gpus.empty()) return {"driver", "none"};
  return {"driver", "not loaded", Concern::wrong, "Install NVIDIA's driver, or load its kernel module."};
}

MachineFinding pinning_finding(const MachineFacts& facts) {
  if (is_wsl(facts.kernel))
    return {"pinned memory", "limited by WSL2 to a part of host memory", Concern::wrong,
            "Offload fails there long before memory is full. Tell the limit to the machine file "
            "(host.pinned_limit_bytes), or train "
            "under Linux."};
  if (!facts.lock_limit) return {"pinned memory", "no limit of the system's"};
  return {"pinned memory", "locked memory is limited to " + readable(*facts.lock_limit) + " (ulimit -l)",
          Concern::none, ""};
}

MachineFinding torch_finding(const MachineFacts& facts) {
  if (facts.torches.empty())
    return {"LibTorch", "not found", Concern::note,
            "profile, train and demo need it: scripts/build fetches it, or set LIBTORCH_ROOT."};
  std::string text;
  for (const std::string& folder : facts.torches) text += (text.empty() ? "" : ", ") + folder;
  return {"LibTorch", text};
}

}  // namespace

std::optional<Bytes> meminfo_value(const std::string& meminfo, const std::string& key) {
  const auto kibibytes = leading_integer(after(meminfo, key));
  if (!kibibytes || *kibibytes > no_machine_has.value / 1024) return std::nullopt;
  return Bytes{*kibibytes * 1024};
}

std::optional<Bytes> least_limit(const std::vector<std::string>& memory_limits) {
  std::optional<Bytes> least;
  for (const std::string& text : memory_limits) {
    const auto limit = leading_integer(text);
    if (limit && *limit < no_machine_has.value && (!least || *limit < least->value)) least = Bytes{*limit};
  }
  return least;
}

std::optional<double> cpu_share(const std::string& cpu_limit) {
  const auto quota = leading_integer(cpu_limit);
  const std::size_t space = cpu_limit.find(' ');
  const auto period =
      space == std::string::npos ? std::nullopt : leading_integer(cpu_limit.substr(space + 1));
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

bool is_wsl(const std::string& kernel) {
  std::string lower = kernel;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.find("microsoft") != std::string::npos;
}

std::string gpu_model(const std::string& information) {
  return after(information, "Model:");
}

std::string driver_version(const std::string& driver) {
  std::istringstream words(after(driver, "NVRM version:"));
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return "";
}

std::vector<MachineFinding> examine(const MachineFacts& facts) {
  return {gpu_finding(facts),     driver_finding(facts),    memory_finding(facts),    cache_finding(facts),
          pinning_finding(facts), container_finding(facts), processor_finding(facts), torch_finding(facts)};
}

}  // namespace stowage
