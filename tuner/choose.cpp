#include "tuner/choose.h"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "traces/error.h"
#include "tuner/dialects/meaning_pricer.h"

namespace stowage {
namespace {

// The same for meanings that come to the same.
std::string fingerprint(const Meaning& meaning) {
  const Plan& plan = meaning.plan;
  Settings around;
  around.transfer = plan.transfer;
  around.step = plan.step;
  std::string text = describe(around);
  const Overhead& overhead = meaning.overhead;
  for (std::int64_t number : {overhead.device.value, overhead.waited.value, std::int64_t{overhead.turns},
                              std::int64_t{overhead.pageable}})
    text += "," + std::to_string(number);
  for (const BlockDecision& block : plan.blocks) {
    text += block.activation == Activation::keep ? ";k" : ";r";
    if (block.scope) text += "s" + std::to_string(static_cast<int>(*block.scope));
    if (block.segment) text += std::to_string(*block.segment);
    for (std::uint32_t storage : block.offload) text += "o" + std::to_string(storage);
    if (block.offload_input) text += "i";
    text += "w" + std::to_string(static_cast<int>(block.weights)) + "," + std::to_string(block.kept_layers);
  }
  return text;
}

class Chooser {
 public:
  Chooser(const BlockTable& table, const Machine& machine, const Budget& budget, const Dialect& dialect)
      : table_(table), budget_(budget), dialect_(dialect), pricer_(table, machine) {}

  Choice choose() {
    const std::vector<Options> shapes = dialect_.shapes(table_);
    for (const Options& options : shapes) price_alone(options);
    std::vector<Base> bases = bases_of(shapes);
    std::stable_sort(bases.begin(), bases.end(),
                     [](const Base& a, const Base& b) { return a.run.step < b.run.step; });
    for (const Base& base : bases) {
      if (choice_.best && base.run.step >= choice_.best->run.step) break;
      try_swaps(base);
    }
    if (!choice_.best)
      for (const Base& base : bases) take(swapped(base.options, dialect_.most_swapped(base.options, table_)));
    return std::move(choice_);
  }

 private:
  // Options to which swaps are added, and what a step would be without the swaps' copies.
  struct Base {
    Options options;
    Run run;
    bool alone;  // the same can be had without a swap
  };

  // Each meaning once.
  void price_alone(const Options& options) {
    ++choice_.considered;
    Meaning meaning = dialect_.meaning(options, table_);
    const auto [words, is_new] = alone_.try_emplace(fingerprint(meaning));
    if (!is_new) return;
    const Chosen chosen = priced(options, std::move(meaning));
    words->second = chosen.run;
    take(chosen);
  }

  // A swap may change what the other options mean.
  std::vector<Base> bases_of(const std::vector<Options>& shapes) {
    std::vector<Base> bases;
    std::unordered_set<std::string> seen;
    for (const Options& options : shapes) {
      const std::int64_t most = dialect_.most_swapped(options, table_);
      if (most == 0) continue;
      choice_.considered += most;
      Options one = options;
      dialect_.swap(one, 1);
      Meaning unswapped = dialect_.meaning(one, table_);
      for (BlockDecision& block : unswapped.plan.blocks) block.weights = Residence::resident;
      const std::string words = fingerprint(unswapped);
      if (!seen.insert(words).second) continue;
      const auto found = alone_.find(words);
      const bool alone = found != alone_.end();
      bases.push_back({options, alone ? found->second : pricer_.price(unswapped), alone});
    }
    return bases;
  }

  Chosen priced(const Options& options, Meaning meaning) {
    const Run run = pricer_.price(meaning);
    ++choice_.evaluated;
    return {options, std::move(meaning), run};
  }

  Chosen swapped(Options options, std::int64_t blocks) {
    dialect_.swap(options, blocks);
    Meaning meaning = dialect_.meaning(options, table_);
    return priced(options, std::move(meaning));
  }

  // The least count that fits, for it is the fastest. With more blocks swapped the peak is no higher.
  void try_swaps(const Base& base) {
    if (base.alone && fits(base.run.peaks, budget_)) return;
    std::int64_t few = least_blocks(base.run), many = dialect_.most_swapped(base.options, table_);
    if (few > many || try_swap(base, few) || !try_swap(base, many)) return;
    while (many - few > 1) {
      const std::int64_t middle = few + (many - few) / 2;
      (try_swap(base, middle) ? many : few) = middle;
    }
  }

  // Whether to look for fewer: it fits, or is too slow already.
  bool try_swap(const Base& base, std::int64_t blocks) {
    const Chosen chosen = swapped(base.options, blocks);
    const bool slow = choice_.best && chosen.run.step >= choice_.best->run.step;
    take(chosen);
    return slow || fits(chosen.run.peaks, budget_);
  }

  // Below it the device cannot have room, whatever the rest does.
  std::int64_t least_blocks(const Run& run) const {
    Bytes missing = run.peaks.on_device() - budget_.device;
    std::vector<Bytes> weights;
    for (const BlockRow& row : table_.rows) weights.push_back(row.sizes.weight);
    std::sort(weights.begin(), weights.end(), std::greater<>());
    std::int64_t blocks = 1;
    for (Bytes weight : weights) {
      missing -= weight;
      if (missing <= Bytes{}) break;
      ++blocks;
    }
    return blocks;
  }

  void take(const Chosen& chosen) {
    const Peaks& peaks = chosen.run.peaks;
    const bool host_fits = peaks.host <= budget_.host && peaks.host_pinned <= budget_.pinned;
    const auto rank_by_memory = [](const Chosen& c) {
      return std::tuple(c.run.peaks.on_device(), c.run.step);
    };
    const auto rank = [](const Chosen& c) {
      return std::tuple(c.run.step, c.run.peaks.on_device(), c.run.peaks.host);
    };
    if (host_fits && (!any_least_ || rank_by_memory(chosen) < rank_by_memory(choice_.least))) {
      choice_.least = chosen;
      any_least_ = true;
    }
    if (fits(chosen.run.peaks, budget_) && (!choice_.best || rank(chosen) < rank(*choice_.best)))
      choice_.best = chosen;
  }

  const BlockTable& table_;
  const Budget budget_;
  const Dialect& dialect_;
  MeaningPricer pricer_;
  std::unordered_map<std::string, Run> alone_;  // by fingerprint
  bool any_least_ = false;
  Choice choice_;
};

}  // namespace

Choice choose(const BlockTable& table, const Machine& machine, const Budget& budget, const Dialect& dialect) {
  for (Bytes bytes : {budget.device, budget.host, budget.pinned})
    if (bytes < Bytes{}) throw InputError("", "budget", "expected no less than 0 B");
  return Chooser(table, machine, budget, dialect).choose();
}

Chosen price(const BlockTable& table, const Machine& machine, const Dialect& dialect,
             const Options& options) {
  Meaning meaning = dialect.meaning(options, table);
  const Run run = MeaningPricer(table, machine).price(meaning);
  return {options, std::move(meaning), run};
}

}  // namespace stowage
