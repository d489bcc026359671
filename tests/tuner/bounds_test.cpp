// No bound is above what the simulator says, on chains of up to 40 blocks.
#include <limits>

#include "plan/plan.h"
#include "plan/program.h"
#include "simulator/engine.h"
#include "tests/catch.h"
#include "tests/plan/chain_profile.h"
#include "tests/simulator/hand_made.h"
#include "tests/simulator/random_case.h"
#include "tuner/choices.h"
#include "tuner/outlook.h"
#include "tuner/sketch.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

constexpr Nanos endless{std::numeric_limits<std::int64_t>::max()};

// In plans up to some length, and never without hope.
Interest up_to(Nanos longest_step) {
  return {longest_step, [](const Bound&) { return false; }};
}

bool no_higher(const Bound& a, const Bound& b) {
  return a.step <= b.step && a.peak <= b.peak;
}

// One shape and one swap of a case, and all that is said of them.
class Subject {
 public:
  Subject(const BlockTable& table, const Machine& machine, const Settings& settings)
      : table_(table),
        machine_(machine),
        settings_(settings),
        costs_(table, machine),
        shape_(table, costs_, expand(table, without_swap(settings)).plan),
        swap_(choose_swap(table, costs_, settings.swap)),
        forward_(table, costs_, {swap_}, most_prefetch),
        outlook_(costs_) {
    uses_.list(shape_, swap_);
    outlook_.look_at(shape_, swap_, uses_);
  }

  static constexpr std::uint32_t most_prefetch = 90;  // more than any case has to fetch

  std::uint32_t prefetch() const { return static_cast<std::uint32_t>(settings_.transfer.prefetch); }
  Bound glance() const { return outlook_.at_a_glance(shape_, swap_, forward_.least_end(0), prefetch()); }
  Bound outlook() const { return outlook_.with(prefetch(), forward_.end(0, prefetch())); }
  Bound whatever_the_streams(Nanos longest_step) const {
    return *Sketch(costs_, machine_)
                .whatever_the_streams(shape_, swap_, uses_, prefetch(), up_to(longest_step));
  }
  Bound sketch(bool several_h2d, bool several_d2h, Nanos longest_step) const {
    const IssueChoice transfers{prefetch(), several_h2d, several_d2h};
    return *Sketch(costs_, machine_).of(shape_, swap_, uses_, transfers, up_to(longest_step));
  }
  Run simulated(bool several_h2d, bool several_d2h) const {
    Settings settings = settings_;
    settings.swap.mode = swap_.settings.mode;
    settings.transfer.h2d_streams = several_h2d ? 2 : 1;
    settings.transfer.d2h_streams = several_d2h ? 3 : 1;
    return Engine(machine_).simulate(compile(table_, expand(table_, settings).plan)).run;
  }
  Bytes host() const { return shape_.host + swap_.host; }
  Bytes pinned() const { return shape_.pinned + swap_.pinned; }

 private:
  static Settings without_swap(Settings settings) {
    settings.swap = {};
    return settings;
  }

  const BlockTable& table_;
  const Machine& machine_;
  const Settings settings_;
  const CopyCosts costs_;
  const Shape shape_;
  const SwapChoice swap_;
  const ForwardTimes forward_;
  Outlook outlook_;
  SwapUses uses_;
};

Bound figures_of(const Run& run) {
  return {run.step, run.peaks.device};
}

}  // namespace

TEST_CASE("bounds rise towards what the simulator says and never pass it") {
  int cases = 0, met = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    reference::Case random = reference::random_case(seed);
    if (random.settings.policy != Policy::offload) random.settings.scope.reset();  // as in the space
    const bool shared = seed % 4 == 0;
    if (shared) random.machine.links.duplex = 0.7;
    if (shared) random.machine.links.compute_slowdown = 0.2;
    random.machine.host.pinned_rounding = seed % 2 ? PinnedRounding::slab : PinnedRounding::pow2;
    const BlockTable table(random.profile);
    const Subject subject(table, random.machine, random.settings);
    for (bool several_h2d : {false, true}) {
      for (bool several_d2h : {false, true}) {
        const Run run = subject.simulated(several_h2d, several_d2h);
        const Bound sketch = subject.sketch(several_h2d, several_d2h, endless);
        REQUIRE(no_higher(subject.glance(), figures_of(run)));
        REQUIRE(no_higher(subject.outlook(), figures_of(run)));
        for (Nanos longest_step : {endless, run.step + Nanos{1}, run.step}) {
          REQUIRE(no_higher(subject.whatever_the_streams(longest_step), figures_of(run)));
          REQUIRE(no_higher(subject.sketch(several_h2d, several_d2h, longest_step), figures_of(run)));
        }
        if (!shared) REQUIRE(sketch.step == run.step);
        REQUIRE(subject.host() == run.peaks.host);
        REQUIRE(subject.pinned() == run.peaks.host_pinned);
        ++cases;
        met += !shared && sketch.peak == run.peaks.device;
      }
    }
  }
  // Three quarters of the cases are at their own pace. Of those a sketch's peak is low only where the peak is
  // in a stall, or in a step that takes no time.
  REQUIRE(met > cases / 2);
}
