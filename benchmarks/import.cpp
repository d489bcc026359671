// How fast recordings are read, and what it takes: import [MIB]... generates Kineto traces of about these
// sizes (in MiB; 256) and imports them; beside each, what Python's json takes to load the same file, where
// there is a python3, and what HolisticTraceAnalysis takes, where the environment's STOWAGE_HTA names a
// Python that has it:
//
//   python3 -m venv ~/.cache/hta && ~/.cache/hta/bin/pip install HolisticTraceAnalysis
//   STOWAGE_HTA=~/.cache/hta/bin/python build/core/benchmarks/import 256 2048
//
// The traces are of a training loop as a profiler writes it, shapes, modules and memory recorded: 24 blocks,
// forward and backward, in steps. "reading" is the parser alone, "import" all that `stowage import` does
// before it prints. Exit 0: done; 1: something could not be written or read; 2: a size that is none, or for
// which there is no room.
#include "traces/import/import.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/generated_trace.h"
#include "benchmarks/machine_name.h"
#include "benchmarks/unnamed_file.h"
#include "traces/import/byte_window.h"
#include "traces/import/kineto_reader.h"

using namespace stowage;

namespace {

// MiB: they take many times as much memory.
constexpr std::int64_t most_for_python = 512, most_for_hta = 256;
constexpr std::int64_t most = 16 << 10;  // MiB: more is a size in another unit

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
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // or it would keep the file
    try {
      job();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "import: %s\n", error.what());
      std::_Exit(1);
    }
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

// Whether it succeeded.
bool report(const char* what, double megabytes, const Cost& cost) {
  if (!cost.done) {
    std::printf("  %-10s failed\n", what);
    return false;
  }
  std::printf("  %-10s %7.2f s %8.0f MB/s %8.0f MiB\n", what, cost.seconds, megabytes / cost.seconds,
              cost.mebibytes);
  return true;
}

bool measure(std::int64_t mebibytes) {
  const benchmarks::UnnamedFile scratch;
  const std::string file = scratch.path();
  const std::int64_t events = benchmarks::write_trace(file, mebibytes << 20);
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) / 1e6;
  std::printf("%.0f MB, %.2f million events\n", megabytes, static_cast<double>(events) / 1e6);
  bool done = report("reading", megabytes, cost_of([&] {
                       const auto source = open_bytes(file);
                       ByteWindow window(*source);
                       Repairs repairs;
                       if (read_kineto(window, repairs).events != events || !repairs.none()) std::_Exit(1);
                     }));
  done &= report("import", megabytes, cost_of([&] {
                   if (import_recording(file, {}).found.blocks.size() != benchmarks::traced_blocks)
                     std::_Exit(1);
                 }));
  if (mebibytes <= most_for_python) {
    done &= report("python", megabytes, cost_of([&] {
                     run_python("python3", "import json, sys; json.load(open(sys.argv[1]))", file);
                   }));
  }
  const char* with_hta = std::getenv("STOWAGE_HTA");
  if (with_hta && mebibytes <= most_for_hta) {
    done &= report("HTA", megabytes, cost_of([&] {
                     run_python(with_hta,  // it wants a name that ends with .json
                                "import os, sys, tempfile; from hta.common.trace import Trace\n"
                                "with tempfile.TemporaryDirectory() as folder:\n"
                                "  os.symlink(sys.argv[1], folder + '/trace.json')\n"
                                "  Trace({0: folder + '/trace.json'}, folder).parse_traces()",
                                file);
                   }));
  }
  return done;
}

// Absent, with the reason on standard error, where it is no size or the disk has no room for it.
std::optional<std::int64_t> size_of(std::string_view text) {
  std::int64_t mebibytes = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
  if (failure != std::errc() || end != text.data() + text.size() || mebibytes < 1 || mebibytes > most) {
    std::fprintf(stderr, "import: expected a size in MiB, from 1 to %lld, not %.*s\n",
                 static_cast<long long>(most), static_cast<int>(text.size()), text.data());
    return std::nullopt;
  }
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const auto free = static_cast<std::int64_t>(std::filesystem::space(folder).available >> 20);
  if (free < 2 * mebibytes) {
    std::fprintf(stderr, "import: %lld MiB want twice as much disk free, and %s has %lld MiB\n",
                 static_cast<long long>(mebibytes), folder.c_str(), static_cast<long long>(free));
    return std::nullopt;
  }
  return mebibytes;
}

constexpr const char* usage =
    "usage: import [MIB]...\n"
    "Generates traces of these sizes, in MiB (256), one after another in the folder for temporary files\n"
    "(TMPDIR), and says how fast they are imported. STOWAGE_HTA=PYTHON names a Python that has\n"
    "HolisticTraceAnalysis, to set beside it.\n";

int run(const std::vector<std::string_view>& arguments) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view argument : arguments) {
    if (argument == "--help" || argument == "-h") return std::printf("%s", usage) < 0 ? 1 : 0;
    const std::optional<std::int64_t> size = size_of(argument);
    if (!size) {
      std::fprintf(stderr, "%s", usage);
      return 2;
    }
    sizes.push_back(*size);
  }
  if (sizes.empty()) sizes.push_back(256);
  std::printf("on %s\n\n", benchmarks::machine_name().c_str());
  bool done = true;
  for (const std::int64_t size : sizes) done = measure(size) && done;
  return done ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "import: %s\n", error.what());
    return 1;
  }
}
