#include "cli/setting_flags.h"

#include <algorithm>
#include <vector>

#include "plan/settings_json.h"
#include "tests/catch.h"

using namespace stowage;

TEST_CASE("every setting of a file has a flag, under the same key") {
  JsonWriter json;
  Settings settings;
  settings.transfer.disk_over = settings.swap.keep_max = Bytes{1};  // left out where they are absent
  write_settings(json, settings);
  std::vector<std::string> in_files = JsonNode::parse(json.text()).keys(), in_flags;
  for (const SettingFlag& setting : setting_flags()) in_flags.push_back(setting.key);
  std::sort(in_files.begin(), in_files.end());
  std::sort(in_flags.begin(), in_flags.end());
  REQUIRE(in_flags == in_files);
}

TEST_CASE("each flag sets what it gets, and nothing else") {
  for (const SettingFlag& setting : setting_flags()) {
    INFO(setting.flag);
    Settings settings;
    setting.set(settings, 1);  // for a choice: its second word
    REQUIRE(setting.get(settings) == 1);
    for (const SettingFlag& other : setting_flags())
      if (&other != &setting) REQUIRE(other.get(settings) == other.get(Settings{}));
  }
}

TEST_CASE("settings as flags leave the defaults out") {
  REQUIRE(flags_of({}) == "--policy keep");
  Settings settings;
  settings.policy = Policy::offload;
  settings.interval = 2;
  settings.stride = 3;
  settings.scope = Scope::ffn;
  settings.swap = {4, SwapWhich::spread, SwapMode::two_way};
  settings.transfer.pinned_max = Bytes{1000};
  REQUIRE(flags_of(settings) ==
          "--policy offload --interval 2 --stride 3 --scope ffn --swap-blocks 4 --swap-which spread "
          "--swap-mode two-way --pinned-max 1000");
}
