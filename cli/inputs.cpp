#include "cli/inputs.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/quantity.h"
#include "traces/error.h"

namespace stowage {

void add_size(CLI::App& app, const std::string& flag, std::optional<Bytes>& into, const std::string& help) {
  const auto take = [flag, &into](const std::string& text) { into = parse_size(flag, text); };
  app.add_option_function<std::string>(flag, take, help)->type_name("SIZE");
}

void add_count(CLI::App& app, const std::string& flag, std::int64_t& into, std::int64_t least,
               std::int64_t most, const std::string& help) {
  const auto take = [=, &into](const std::string& text) { into = parse_count(flag, text, least, most); };
  app.add_option_function<std::string>(flag, take, help)->type_name("COUNT");
}

void MemoryFlags::declare(CLI::App& app) {
  add_size(app, "--vram", vram, "Device memory, instead of the machine's");
  add_size(app, "--host-ram", host_ram, "Host memory, instead of the machine's");
}

Machine MemoryFlags::apply(Machine machine) const {
  if (vram) {
    machine.device.memory = *vram;
    if (machine.device.usable() < Bytes{})
      throw InputError(
          "--vram", "",
          "less than the " + readable(machine.device.reserved) + " that the machine file says are reserved");
  }
  if (host_ram) {
    machine.host.memory = *host_ram;
    machine.host.pinned_limit = std::min(machine.host.pinned_limit, *host_ram);
  }
  return of_one_rank(machine);
}

void PlanFlags::declare(CLI::App& app) {
  app.add_option("--plan", file_, "A plan, as `stowage tune -o` writes it")->type_name("FILE");
  settings_.declare(app);
}

Expansion PlanFlags::choose(const Profile& profile, const BlockTable& table) const {
  if (!file_.empty() && settings_.any())
    throw InputError(settings_.first(), "", "a plan from a file has its settings already; leave out one");
  if (!file_.empty()) return {read_plan(file_, profile), {}};
  try {
    return expand(table, settings_.settings());
  } catch (const InputError& error) {
    throw told_of_flag(error);
  }
}

}  // namespace stowage
