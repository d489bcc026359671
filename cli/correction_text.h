// What the first steps under a plan have shown, as commands tell it.
#pragma once

#include <string>
#include <vector>

#include "traces/json.h"
#include "tuner/correction.h"

namespace stowage {

// "After 3 steps: 630 ms a step, not 512 ms as predicted; the backward of block 7 took 12.0 ms, not 9.80 ms."
std::string drift_sentence(const Observation& seen, const std::vector<Drift>& drift);
// What is changed to and why, or that nothing would pay.
std::string decision_sentence(const Correction& correction);
// "prefetch 3 had no effect: ..."
std::string inert_sentence(const Inert& inert);

// An object: `steps`, `predicted_step_ns`, `measured_step_ns`; where a search was made `corrected_step_ns`
// and `changed_to`, which is null where the plan stays; `no_effect`.
void write_correction(JsonWriter& json, const Observation& seen, const std::optional<Correction>& correction,
                      const std::vector<Inert>& inert);

}  // namespace stowage
