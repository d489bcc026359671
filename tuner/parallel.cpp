#include "tuner/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace stowage {
namespace {

struct Failure {
  std::uint32_t index;
  std::exception_ptr what;
};

}  // namespace

bool in_parallel(unsigned workers, std::uint32_t count,
                 const std::function<void(unsigned worker, std::uint32_t index)>& job,
                 const std::function<bool(std::uint32_t begun)>& go_on) {
  std::atomic<std::uint32_t> next{0};
  std::atomic<bool> stopped{false};
  std::vector<std::vector<Failure>> failures(workers);
  const auto work = [&](unsigned worker) {
    while (!stopped) {
      const std::uint32_t begun = next;
      if (begun >= count) return;
      if (worker == 0 && !go_on(begun)) {
        stopped = true;
        return;
      }
      const std::uint32_t index = next++;
      if (index >= count) return;
      try {
        job(worker, index);
      } catch (...) {
        failures[worker].push_back({index, std::current_exception()});
        stopped = true;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (unsigned worker = 1; worker < std::min(workers, count); ++worker)
        others.emplace_back(work, worker);
    } catch (const std::system_error&) {
      // No more threads to be had: those there are do the work.
    }
    work(0);
  }
  const Failure* first = nullptr;
  for (const std::vector<Failure>& of_worker : failures)
    for (const Failure& failure : of_worker)
      if (!first || failure.index < first->index) first = &failure;
  if (first) std::rethrow_exception(first->what);
  return !stopped;
}

}  // namespace stowage
