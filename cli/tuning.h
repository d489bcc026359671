// A search for the fastest plan, as commands run and tell it.
#pragma once

#include <string>

#include "cli/output.h"
#include "plan/block_table.h"
#include "traces/machine.h"
#include "tuner/tuner.h"

namespace stowage {

struct Tuning {
  Budget budget;
  Bytes held_back;  // of the device's memory: reserved by the machine, and the margin
  TuneResult result;
  Nanos elapsed;
  bool interrupted = false;  // by the user, before all was done

  // The device memory that a machine must have for anything to fit.
  Bytes least_device() const { return result.least_bytes() + held_back; }
};

// All that the machine has, less `margin` of the device. Throws InputError where the margin is more than
// there is.
Budget budget_with(const Machine& machine, Bytes margin);
// Searches with the machine's memory less `margin` for a budget, and shows progress. Throws as
// budget_with() and tune() do.
Tuning run_tuning(const BlockTable& table, const Machine& machine, Bytes margin, unsigned threads);

// One sentence: what is fastest, or what would be needed.
std::string sentence(const Tuning& tuning);
// The same where nothing fits, with the plan that needs least in words.
std::string nothing_fits(const Tuning& tuning, const Run& least, const std::string& plan);
// A plan beside keeping everything and the budget; absent: the least memory that settings need.
std::string comparison_text(const Tuning& tuning, const std::optional<TunedPlan>& best);
// What every other budget would get.
std::string frontier_text(const TuneResult& result);
// Where nothing fits: one JSON object with `outcome` and `least_bytes`.
std::string infeasible_json(const Tuning& tuning);
// How sure the answer is.
std::string certainty(const Tuning& tuning);

}  // namespace stowage
