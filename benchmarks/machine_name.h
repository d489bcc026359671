// Names the machine that a benchmark ran on, so that its figures mean something elsewhere.
#pragma once

#include <fstream>
#include <string>
#include <thread>

namespace stowage::benchmarks {

// "AMD EPYC 7763 64-Core Processor, 2 cores"
inline std::string machine_name() {
  std::string model = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    model = line.substr(colon + 2);
    break;
  }
  const unsigned cores = std::thread::hardware_concurrency();
  return model + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
}

}  // namespace stowage::benchmarks
