// What several commands read: a machine with overrides, and a plan from a file or from settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/setting_flags.h"
#include "plan/block_table.h"
#include "plan/plan.h"
#include "traces/error.h"
#include "traces/machine.h"
#include "traces/profile.h"

namespace stowage {

// A flag that takes a size; parsing throws InputError naming the flag.
void add_size(CLI::App& app, const std::string& flag, std::optional<Bytes>& into, const std::string& help);

// A flag that takes an integer within [least, most].
void add_count(CLI::App& app, const std::string& flag, std::int64_t& into, std::int64_t least,
               std::int64_t most, const std::string& help);

// What `work` gives; an InputError of it that names no source comes out naming `source`.
template <class Work>
auto blaming(const std::string& source, Work work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw error.source().empty() ? error.in(source) : error;
  }
}

// --vram and --host-ram.
struct MemoryFlags {
  std::optional<Bytes> vram, host_ram;

  void declare(CLI::App& app);
  // The machine with these sizes for its own, as one of its ranks sees it. A smaller host also lowers the
  // pinned limit. Throws InputError where less is left than other processes take.
  Machine apply(Machine machine) const;
};

// --plan FILE, or settings.
class PlanFlags {
 public:
  void declare(CLI::App& app);

  bool any() const { return !file_.empty() || settings_.any(); }
  std::string first() const { return file_.empty() ? settings_.first() : "--plan"; }
  // Throws InputError where both forms are given, and as read_plan() and expand() do.
  Expansion choose(const Profile& profile, const BlockTable& table) const;

 private:
  std::string file_;
  GivenSettings settings_;
};

}  // namespace stowage
