#include "tuner/dialects/meaning_pricer.h"

#include <algorithm>

namespace stowage {
namespace {

Machine with_overhead(Machine machine, const Overhead& overhead) {
  Links& links = machine.links;
  for (Link* link : {&links.h2d, &links.d2h}) {
    // Half of the link each while both are busy is what taking turns comes to.
    if (overhead.turns) link->duplex = std::min(links.share_left(*link), 0.5);
    if (!overhead.pageable || link->rate <= links.pageable) continue;
    link->rate = links.pageable;
    link->curve.clear();
  }
  return machine;
}

}  // namespace

Pricer& MeaningPricer::pricer(const Overhead& overhead) {
  std::optional<Pricer>& pricer = pricers_[overhead.turns * 2 + overhead.pageable];
  if (!pricer) pricer.emplace(table_, with_overhead(machine_, overhead));
  return *pricer;
}

Run MeaningPricer::price(const Meaning& meaning) {
  Run run = pricer(meaning.overhead).price(meaning.plan);
  run.peaks.device += meaning.overhead.device;
  run.peaks.device_reserved += meaning.overhead.device;
  const Nanos waited = machine_.links.pageable.time_for(meaning.overhead.waited);
  run.step += waited;
  run.compute += waited;
  return run;
}

}  // namespace stowage
