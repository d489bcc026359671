// The parts of a block's forward that run in_scope(), as a pass through the block sees them.
//
//   F_i   in_scope(ffn, {x}, body): runs, and what it saves first is dropped    -> RepeatedPart
//   R_i   body runs again from x, with the random and autocast state of F_i; what it saves takes the place
//         of what was dropped, and when the last of it is there, the rest of the body is not run
//   B_i   through the graph that F_i made
//
// So the graph, and with it every gradient, is that of an ordinary forward.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/autocast.h"
#include "runtime/chain.h"
#include "runtime/random_state.h"
#include "runtime/save_ledger.h"
#include "runtime/saved_tensors.h"
#include "runtime/scope.h"

namespace stowage {

// What a forward depends on beside its input and the parameters.
struct ForwardConditions {
  RandomState random = RandomState::now();
  AutocastState autocast = AutocastState::now();

  void put_back() const {
    random.put_back();
    autocast.put_back();
  }
};

class RepeatedPart {
 public:
  RepeatedPart(Scope scope, ScopeBody body, State inputs, std::uint32_t block)
      : scope_(scope), body_(std::move(body)), inputs_(std::move(inputs)), saves_(block) {}

  // Runs it for the first time.
  State run(SavedTensors& saved);
  // The block's forward is over: from now on the inputs are found where they are saved.
  void settle(SavedTensors& saved);
  // Fills in what run() dropped. Throws InputError where the body saves other tensors than before.
  void repeat(SavedTensors& saved) const;

 private:
  class Refill;
  struct Start {
    SavedPlace place;
    bool wants_gradient;
  };

  Scope scope_;
  ScopeBody body_;
  State inputs_;  // until settle()
  ForwardConditions conditions_;
  std::vector<Start> starts_;
  SaveLedger saves_;
};

// For the time of one forward.
class PartRunner final : public ScopeRunner {
 public:
  // Parts of scope `repeated` drop what they save. All must outlive it; `listener` may be null.
  PartRunner(std::uint32_t block, std::optional<Scope> repeated, SavedTensors& saved, SaveListener* listener)
      : block_(block), repeated_(repeated), saved_(saved), listener_(listener) {}

  State run(Scope scope, const State& inputs, const ScopeBody& body) override;
  // The forward is over. Returns the parts to be run again, in their order; throws InputError where there are
  // none, though a scope is repeated.
  std::vector<RepeatedPart> finish();

 private:
  struct Started {
    Scope scope;
    State inputs;
  };
  void tell_starts() const;

  const std::uint32_t block_;
  const std::optional<Scope> repeated_;
  SavedTensors& saved_;
  SaveListener* const listener_;
  std::vector<RepeatedPart> parts_;
  std::vector<Started> started_;  // while somebody listens
};

}  // namespace stowage
