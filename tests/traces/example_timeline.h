// A short timeline with a stall, for tests of what is done with timelines.
#pragma once

#include "traces/timeline.h"

namespace stowage {

// Block 0 is restored while compute waits for it.
//
//   compute  |F0     |~~~~~~~~|B0            |      ns: 0 300 500 1500
//   h2d              |restore |
inline Timeline example_timeline() {
  Timeline timeline;
  timeline.source = "simulated";
  timeline.name = "example";
  timeline.step = {1500};
  timeline.compute = {1300};
  timeline.spans = {{Lane::compute, StepKind::forward, 0, {}, {0}, {300}, {0}},
                    {Lane::h2d, StepKind::restore_saved, 0, 1, {300}, {500}, {64}},
                    {Lane::compute, StepKind::backward, 0, {}, {500}, {1500}, {0}}};
  timeline.memory.device = {{{0}, {10}}, {{300}, {74}}, {{1500}, {10}}};
  timeline.memory.host = {{{0}, {64}}};
  timeline.stalls = {{StallCause::restore, 0, {300}, {500}}};
  timeline.counters = {{"copies", 1}};
  return timeline;
}

}  // namespace stowage
