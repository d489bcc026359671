// Facts about real traces, found out by other means.
#include <algorithm>

#include "tests/catch.h"
#include "tests/traces/external_recordings.h"

using namespace stowage;
using stowage::tests::imported;

namespace {

bool noted(const ImportReport& report, const std::string& words) {
  return std::any_of(report.notes.begin(), report.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

const CopyTraffic& traffic(const ImportReport& report, CopyKind kind, std::int64_t stream) {
  const auto& all = report.copies->traffic;
  const auto found = std::find_if(all.begin(), all.end(), [&](const CopyTraffic& copies) {
    return copies.kind == kind && copies.stream.thread == stream;
  });
  REQUIRE(found != all.end());
  return *found;
}

constexpr CopyKind pinned_h2d{CopyDirection::h2d, HostSide::pinned};

}  // namespace

TEST_CASE("a checkpointed ResNet on ROCm: recomputation is told apart from backward") {
  const auto report = imported("kineto_mi300x_resnet_checkpointed.json.gz");
  if (!report) return;
  REQUIRE(report->clean());
  REQUIRE(report->events == 56451);
  REQUIRE(report->found.how == FoundBy::modules);
  REQUIRE(report->found.blocks.size() == 8);
  REQUIRE(report->steps.size() == 3);
  REQUIRE(report->time->totals.orphan_count == 968);
  REQUIRE(noted(*report, "184 copies do not say"));
  const ImportedBlock &first = report->found.blocks[0], &second = report->found.blocks[1];
  REQUIRE(second.name == "BasicBlock_1");
  // the first step: 794.8 us within the second block's nodes are 421.8 us of both blocks again and 373.0 us
  // of its own
  REQUIRE(second.passes[0].backward.value == Approx(373.0e3).margin(50));
  REQUIRE((first.passes[0].recompute + second.passes[0].recompute).value == Approx(421.8e3).margin(50));
  for (std::uint32_t i = 0; i < 8; ++i) {  // pairs, as checkpoint_sequential makes them
    REQUIRE(report->found.blocks[i].recompute > Nanos{});
    REQUIRE(report->found.blocks[i].segment == i / 2 * 2);
  }
}

TEST_CASE("a compiled model: five steps with one peak") {
  const auto report = imported("kineto_v100_compiled_memory.json.gz");
  if (!report) return;
  REQUIRE(report->clean());
  REQUIRE(report->steps.size() == 5);
  for (const ImportedStep& step : report->steps) {
    REQUIRE(step.peak->value / 1048576.0 == Approx(6322.39).margin(0.005));
  }
  for (const ImportedBlock& block : report->found.blocks) REQUIRE(block.backward == Nanos{});
}

TEST_CASE("copies on a side stream beside the compute stream") {
  const auto report = imported("kineto_a100_side_stream_copies.json.gz");
  if (!report) return;
  REQUIRE(report->clean());
  REQUIRE(report->steps.size() == 6);
  REQUIRE(traffic(*report, pinned_h2d, 22).count == 144);
  REQUIRE(noted(*report, "whole microseconds"));
  REQUIRE(report->copies->hidden > Nanos{});
  REQUIRE(report->copies->hidden < report->copies->crossing);
  const double rate = static_cast<double>(report->copies->links.at(pinned_h2d).rate.bytes_per_second);
  REQUIRE(rate > 7e9);
  REQUIRE(rate < 13e9);
}

TEST_CASE("transformer blocks that nothing names: eight, equal to the byte") {
  for (const auto& [name, saved] : {std::pair("kineto_a100_particle_b512.json.gz", 908463616),
                                    std::pair("kineto_a100_particle_b8.json.gz", 14585344)}) {
    const auto report = imported(name);
    if (!report) return;
    REQUIRE(report->clean());
    REQUIRE(report->found.how == FoundBy::operators);
    REQUIRE(report->found.blocks.size() == 8);
    for (const ImportedBlock& block : report->found.blocks) {
      REQUIRE(block.bytes.saved == Bytes{saved});
      REQUIRE(block.backward == Nanos{});
    }
    REQUIRE(*report->copies->claimed_rate_off_by == Approx(2.35).margin(0.005));
    REQUIRE(noted(*report, "wrong by a factor of 2.35"));
  }
}

TEST_CASE("decoder layers by their modules, with the backlog of the step before") {
  const auto report = imported("kineto_h100_qwen_inference.json.gz");
  if (!report) return;
  REQUIRE(report->clean());
  REQUIRE(report->found.how == FoundBy::modules);
  REQUIRE(report->found.blocks.size() == 24);
  for (const ImportedBlock& block : report->found.blocks) {
    REQUIRE(block.group == "Qwen2DecoderLayer");
    REQUIRE(block.forward >= Nanos{1'314'000});
    REQUIRE(block.forward <= Nanos{1'329'000});
    REQUIRE(block.bytes.saved == Bytes{54'951'936});
  }
  const WorkTotals& totals = report->time->totals;
  REQUIRE(totals.orphan_count == 509);
  // The step's own kernels never overlap, so that their sum is how long it computes.
  REQUIRE(report->time->use.at(0).compute == totals.blocks + totals.rest);
}

TEST_CASE("the schema of 2021: threads as text, no totals") {
  const auto report = imported("kineto_v100_resnet50_2021.json.gz");
  if (!report) return;
  REQUIRE(report->clean());
  REQUIRE(report->events == 75718);
  REQUIRE(report->steps.size() == 6);
  REQUIRE(report->time->totals.orphan_count == 0);
  REQUIRE(report->memory->account.start == Bytes{});
  REQUIRE(report->memory->reserved.empty());
  for (const ImportedBlock& block : report->found.blocks) REQUIRE(block.backward > block.forward);
}

TEST_CASE("graphs: many kernels share a launch, copies go on beside") {
  const auto report = imported("kineto_a100_cuda_graphs.json.gz");
  if (!report) return;
  REQUIRE(report->clean());
  REQUIRE(report->steps.size() == 5);
  REQUIRE(report->time->totals.orphan_count == 872);
  REQUIRE(traffic(*report, pinned_h2d, 25).count == 35);
}

TEST_CASE("one stream waits for another") {
  const auto report = imported("kineto_a100_event_sync_multi_stream.json.gz");
  if (!report) return;
  REQUIRE(report->clean());
  const SynchronisationReport& found = *report->synchronisation;
  REQUIRE(found.kinds == std::map<std::string, std::int64_t>{
                             {"Context Sync", 1}, {"Event Sync", 3}, {"Stream Wait Event", 1}});
  REQUIRE(found.stream_waits == std::map<std::pair<Track, std::int64_t>, std::int64_t>{{{{0, 24}, 20}, 1}});
}

TEST_CASE("synchronisations out of order do not know what they wait for") {
  const auto before = imported("kineto_h100_out_of_order_before.json.gz");
  const auto after = imported("kineto_h100_out_of_order_after.json.gz");
  if (!before || !after) return;
  REQUIRE(before->synchronisation->out_of_order == 1);
  REQUIRE(before->synchronisation->unresolved == 2);
  REQUIRE(after->synchronisation->out_of_order == 0);
  REQUIRE(after->synchronisation->unresolved == 0);
}

TEST_CASE("small ones: ROCm, no device at all, a number beyond 2^63") {
  const auto toy = imported("kineto_mi250_toy.json.gz");
  const auto host = imported("kineto_cpu_only.json.gz");
  const auto large = imported("kineto_uint64_comms_id.json.gz");
  if (!toy || !host || !large) return;
  REQUIRE(toy->clean());
  REQUIRE(toy->copies->traffic.at(0).kind == CopyKind{CopyDirection::h2d, HostSide::unknown});
  REQUIRE(toy->time->totals.orphan_count == 0);
  REQUIRE(host->clean());
  REQUIRE(!host->time->on_device);
  REQUIRE(host->steps.size() == 5);
  REQUIRE(large->clean());
  REQUIRE(large->time->totals.collectives == Nanos{50'000});
}
