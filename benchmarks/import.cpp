// How fast recordings are read, and what it takes: import [MIB]... generates Kineto traces of about these
// sizes (256) and imports them; beside each, what Python's json takes to load the same file, where there is a
// python3, and what HolisticTraceAnalysis takes, where the environment's STOWAGE_HTA names a Python that has
// it:
//
//   python3 -m venv ~/.cache/hta && ~/.cache/hta/bin/pip install HolisticTraceAnalysis
//   STOWAGE_HTA=~/.cache/hta/bin/python build/core/benchmarks/import 256 2048
//
// The traces are of a training loop as a profiler writes it, shapes, modules and memory recorded: 24 blocks,
// forward and backward, in steps. "reading" is the parser alone, "import" all that `stowage import` does
// before it prints.
#include "traces/import/import.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/generated_trace.h"
#include "benchmarks/machine_name.h"
#include "traces/import/byte_window.h"
#include "traces/import/kineto_reader.h"

using namespace stowage;

namespace {

// MiB: they take many times as much memory.
constexpr std::int64_t most_for_python = 512, most_for_hta = 256;

struct Cost {
  double seconds = 0;    // of the processor: what else runs on the machine does not count
  double mebibytes = 0;  // at most resident
  bool done = false;
};

// Never returns.
void run_python(const char* python, const char* script, const std::string& file) {
  if (std::freopen("/dev/null", "w", stderr) && std::freopen("/dev/null", "w", stdout))
    ::execlp(python, python, "-c", script, file.c_str(), static_cast<char*>(nullptr));
  std::_Exit(1);
}

// In a process of its own, so that peaks do not add up.
template <class Job>
Cost cost_of(Job job) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    job();
    std::_Exit(0);
  }
  int status = 0;
  struct rusage used {};
  ::wait4(child, &status, 0, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024,
          WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

void report(const char* what, double megabytes, const Cost& cost) {
  if (!cost.done) {
    std::printf("  %-10s failed\n", what);
    return;
  }
  std::printf("  %-10s %7.2f s %8.0f MB/s %8.0f MiB\n", what, cost.seconds, megabytes / cost.seconds,
              cost.mebibytes);
}

void measure(std::int64_t mebibytes) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("stowage-import-" + std::to_string(::getpid()) + ".json");
  const std::int64_t events = benchmarks::write_trace(file.string(), mebibytes << 20);
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) / 1e6;
  std::printf("%.0f MB, %.2f million events\n", megabytes, static_cast<double>(events) / 1e6);
  report("reading", megabytes, cost_of([&] {
           const auto source = open_bytes(file.string());
           ByteWindow window(*source);
           Repairs repairs;
           if (read_kineto(window, repairs).events != events || !repairs.none()) std::_Exit(1);
         }));
  report("import", megabytes, cost_of([&] {
           if (import_recording(file.string(), {}).found.blocks.size() != benchmarks::traced_blocks)
             std::_Exit(1);
         }));
  if (mebibytes <= most_for_python) {
    report("python", megabytes, cost_of([&] {
             run_python("python3", "import json, sys; json.load(open(sys.argv[1]))", file.string());
           }));
  }
  const char* with_hta = std::getenv("STOWAGE_HTA");
  if (with_hta && mebibytes <= most_for_hta) {
    report("HTA", megabytes, cost_of([&] {
             run_python(with_hta,
                        "import os, sys; from hta.common.trace import Trace\n"
                        "Trace({0: sys.argv[1]}, os.path.dirname(sys.argv[1])).parse_traces()",
                        file.string());
           }));
  }
  std::filesystem::remove(file);
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("on %s\n\n", benchmarks::machine_name().c_str());
  std::vector<std::int64_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes.push_back(256);
  for (const std::int64_t size : sizes) measure(size);
}
