// Independent jobs on several threads.
#pragma once

#include <cstdint>
#include <functional>

namespace stowage {

// Calls job(worker, index) once for each index below `count`, on at most `workers` threads, of which the
// caller's is worker 0; which worker gets which index is left to chance. The caller's thread asks `go_on`
// before each of its jobs; once the answer is no, jobs that have not begun are left out. Returns whether all
// were done. An exception ends the work likewise and is thrown again here; of several, that of the lowest
// index.
bool in_parallel(unsigned workers, std::uint32_t count,
                 const std::function<void(unsigned worker, std::uint32_t index)>& job,
                 const std::function<bool(std::uint32_t begun)>& go_on);

}  // namespace stowage
