// stowage doctor: what this machine has, what is wrong, and what to do.
#include <sched.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command.h"
#include "cli/machine_facts.h"
#include "cli/output.h"
#include "cli/table.h"
#include "traces/json.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;

// "" where there is no such file: most machines lack some.
std::string system_text(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code none;
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

// The own control group's folder: "0::/a/b" is below the root of version 2.
fs::path own_group() {
  std::istringstream lines(system_text("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::/")) return fs::path("/sys/fs/cgroup") / line.substr(4);
  return "/sys/fs/cgroup";
}

std::vector<std::string> memory_limits() {
  std::vector<std::string> limits{system_text("/sys/fs/cgroup/memory/memory.limit_in_bytes")};
  for (fs::path group = own_group(); group.string().starts_with("/sys/fs/cgroup");
       group = group.parent_path())
    limits.push_back(system_text(group / "memory.max"));
  return limits;
}

std::vector<std::string> torch_folders() {
  std::vector<fs::path> places;
  if (const char* root = std::getenv("LIBTORCH_ROOT")) places.emplace_back(root);
  if (const char* environment = std::getenv("VIRTUAL_ENV"))
    for (const fs::path& python : entries_of(fs::path(environment) / "lib"))
      places.push_back(python / "site-packages/torch");
  const char *cache = std::getenv("STOWAGE_CACHE"), *home = std::getenv("HOME");
  for (const fs::path& entry :
       entries_of(cache ? fs::path(cache) : fs::path(home ? home : "/") / ".cache/stowage"))
    places.push_back(entry / "torch");
  std::vector<std::string> found;
  std::error_code none;
  for (const fs::path& place : places)
    if (fs::exists(place / "lib/libtorch_cpu.so", none)) found.push_back(place.string());
  return found;
}

const char* mark_of(Concern concern) {
  switch (concern) {
    case Concern::none:
      return "ok";
    case Concern::note:
      return "note";
    case Concern::wrong:
      return "wrong";
  }
  return "";
}

class DoctorCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"doctor", "Say what this machine has for training, what is wrong, and what to do",
            "stowage doctor"};
  }

  void declare(CLI::App&) override {}

  Answer run(Output& output) override {
    const std::vector<MachineFinding> findings = examine(machine_facts());
    const auto wrong = std::count_if(findings.begin(), findings.end(), [](const MachineFinding& finding) {
      return finding.concern == Concern::wrong;
    });
    output.answer(wrong == 0 ? "Nothing is wrong with this machine."
                             : std::to_string(wrong) + (wrong == 1 ? " thing is" : " things are") +
                                   " wrong with this machine.");
    Table table(1);
    for (const MachineFinding& finding : findings) {
      table.row({mark_of(finding.concern), finding.topic, finding.state});
      if (!finding.advice.empty()) table.row({"", "", finding.advice});
    }
    output.say("\n" + table.text());
    output.object(json_of(findings));
    return wrong == 0 ? Answer::done : Answer::no;
  }

 private:
  static std::string json_of(const std::vector<MachineFinding>& findings) {
    JsonWriter json;
    json.begin_object().key("findings").begin_array();
    for (const MachineFinding& finding : findings)
      json.begin_row()
          .field("topic", finding.topic)
          .field("state", finding.state)
          .field("concern", mark_of(finding.concern))
          .field("advice", finding.advice)
          .end_object();
    return json.end_array().end_object().text();
  }
};

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  facts.meminfo = system_text("/proc/meminfo");
  facts.kernel = system_text("/proc/version");
  facts.memory_limits = memory_limits();
  facts.cpu_limit = system_text(own_group() / "cpu.max");
  facts.driver = system_text("/proc/driver/nvidia/version");
  for (const fs::path& gpu : entries_of("/proc/driver/nvidia/gpus"))
    facts.gpus.push_back(system_text(gpu / "information"));
  rlimit lock{};
  if (::getrlimit(RLIMIT_MEMLOCK, &lock) == 0 && lock.rlim_cur != RLIM_INFINITY)
    facts.lock_limit = Bytes{static_cast<std::int64_t>(lock.rlim_cur)};
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) facts.cores = CPU_COUNT(&cores);
  facts.torches = torch_folders();
  return facts;
}

std::unique_ptr<Command> doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace stowage
