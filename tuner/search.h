// The search itself: which plans of a field are on the frontier, as the simulator prices them.
//
//   1. Every plan is sketched, or covered by a bound before that; sketches form a frontier of their own.
//   2. The simulator prices the plans on it. Where it finds what the sketches say, that is the frontier: what
//      is covered by a sketch is covered by a price, and a plan's price is never below its sketch.
//   3. Otherwise every plan is gone through once more against the priced frontier, and each that a bound does
//      not cover is priced.
#pragma once

#include <map>

#include "simulator/outcome.h"
#include "tuner/field.h"
#include "tuner/frontier.h"
#include "tuner/tuner.h"

namespace stowage {

struct Found {
  Frontier frontier;
  std::map<Candidate, Run> runs;  // of all candidates that were priced, keeping everything among them
  std::int64_t considered = 0;
  bool complete = true;  // false: the caller ended the search
};

inline constexpr Candidate keep_everything{0, 0, {0, false, false}};

// Everything in `Found` is the same at any number of threads, unless the caller ends the search.
Found search(const Field& field, const TuneRequest& request);

}  // namespace stowage
