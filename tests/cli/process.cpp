#include "tests/cli/process.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/plan/chain_profile.h"
#include "traces/file.h"

namespace stowage::tests {
namespace {

// One byte a nanosecond each way, and 24 GiB on the device.
constexpr const char* plain_machine =
    R"({"format": "stowage.machine", "version": 1, "name": "plain",
  "device": {"memory_bytes": 25769803776, "reserved_bytes": 0},
  "host": {"memory_bytes": 68719476736, "pinned_limit_bytes": 34359738368, "pinned_rounding": "exact"},
  "links": {"h2d": {"bytes_per_second": 1000000000, "latency_ns": 0},
            "d2h": {"bytes_per_second": 1000000000, "latency_ns": 0},
            "pageable_bytes_per_second": 1000000000, "duplex": 1.0, "compute_slowdown": 0.0},
  "arena": "ideal"})";

// Files of the harness, out of sight of the workplace.
std::string beside(const std::string& folder, const char* what) {
  return folder + what;
}

}  // namespace

JsonNode Ended::json() const {
  INFO("standard output: " << out << "\nstandard error: " << err);
  REQUIRE(out.starts_with('{'));
  return JsonNode::parse(out);
}

Workplace::Workplace() {
  std::string name = (std::filesystem::temp_directory_path() / "stowage-test-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  folder_ = name;
  write("profile.json", to_json(example_profile()));
  write("machine.json", plain_machine);
}

Workplace::~Workplace() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  for (const char* what : {".out", ".err"}) std::filesystem::remove(beside(folder_, what), ignored);
}

Ended Workplace::stowage(const std::string& arguments, const std::string& before) const {
  const std::string out = beside(folder_, ".out"), err = beside(folder_, ".err");
  const std::string line = "cd '" + folder_ + "' && { " + before + " '" + program() + "' " + arguments +
                           "; } >'" + out + "' 2>'" + err + "' </dev/null";
  const int status = std::system(line.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), read_file(out), read_file(err)};
}

std::string Workplace::read(const std::string& name) const {
  return read_file(path(name));
}

void Workplace::write(const std::string& name, const std::string& content) const {
  write_file(path(name), content);
}

bool Workplace::holds(const std::string& name) const {
  return std::filesystem::exists(path(name));
}

std::size_t Workplace::size() const {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
  return count;
}

}  // namespace stowage::tests
