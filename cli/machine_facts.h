// What a machine says about itself, and what that means for training. Facts are texts as the system gives
// them, so that what is read from them can be tested without such a machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/units.h"

namespace stowage {

struct MachineFacts {
  std::string meminfo;                     // /proc/meminfo
  std::string kernel;                      // /proc/version
  std::vector<std::string> memory_limits;  // memory.max of the control groups from the own one up
  std::string cpu_limit;                   // cpu.max of the own control group
  std::string driver;                      // /proc/driver/nvidia/version
  std::vector<std::string> gpus;           // /proc/driver/nvidia/gpus/*/information
  std::optional<Bytes> lock_limit;         // RLIMIT_MEMLOCK; absent: unlimited
  std::int64_t cores = 1;                  // that this process may use
  std::vector<std::string> torches;        // folders that hold a LibTorch
};

// From the system this runs on. What is not there is empty.
MachineFacts machine_facts();

// "MemTotal:  16384 kB" of a text in that form; absent where the key is not there.
std::optional<Bytes> meminfo_value(const std::string& meminfo, const std::string& key);
// The least of those that limit; absent where none does ("max", or so much that no machine has it).
std::optional<Bytes> least_limit(const std::vector<std::string>& memory_limits);
// How many cores "200000 100000" leaves; absent for "max 100000" and for what is no limit.
std::optional<double> cpu_share(const std::string& cpu_limit);
bool is_wsl(const std::string& kernel);
// "Model: NVIDIA L40S" of such a text; "" where it is not there.
std::string gpu_model(const std::string& information);
// "535.129.03" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 ..."; "" where it
// is not there.
std::string driver_version(const std::string& driver);

enum class Concern { none, note, wrong };

struct MachineFinding {
  std::string topic, state;
  Concern concern = Concern::none;
  std::string advice = {};  // what to do, where there is a concern
};

std::vector<MachineFinding> examine(const MachineFacts& facts);

}  // namespace stowage
