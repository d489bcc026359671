#include <vector>

#include "plan/homes.h"
#include "plan/layout.h"
#include "plan/optimizer_shares.h"

namespace stowage {
namespace {

class OptimizerPlacement {
 public:
  explicit OptimizerPlacement(Layout& layout)
      : layout_(layout),
        builder_(layout.builder),
        table_(layout.table),
        place_(layout.plan.step.optimizer),
        last_(layout.order.passes.back()) {}

  void place() {
    builder_.initial(optimizer_home(table_, layout_.plan));
    for (std::uint32_t i = table_.size(); i-- > 0;) place_gradient(i);
    if (place_ == OptimizerPlace::host) bring_weights_back();
    if (streams_states(place_)) stream_states();
  }

 private:
  void place_gradient(std::uint32_t i);
  void send_gradient(std::uint32_t i, const std::vector<BufferId>& device, Bytes bytes);
  void bring_weights_back();
  void stream_states();

  // Host memory on the way from the disk, and what brings it there.
  struct Bucket {
    CopyId copy;
    BufferId host;
  };
  std::optional<Bucket> read_state(const OptimizerShare& share, Trigger issue);
  void write_state(const OptimizerShare& share, CopyId store, Trigger issue);
  BufferId bucket(const OptimizerShare& share);

  Layout& layout_;
  ProgramBuilder& builder_;
  const BlockTable& table_;
  const OptimizerPlace place_;
  const Pass& last_;
};

// Lives from the first pass on; a later pass makes one beside it and adds it.
void OptimizerPlacement::place_gradient(std::uint32_t i) {
  const Bytes bytes = table_.rows[i].sizes.gradient;
  const std::vector<Pass>& passes = layout_.order.passes;
  const Bytes late = relief_of(table_, i).of_gradients;  // of a later pass it is never seen
  const Range maker = passes.front().blocks[i].backward;
  std::vector<BufferId> sum{layout_.made_by(maker, BufferKind::gradient, i, bytes - late)};
  if (late > Bytes{}) sum.push_back(layout_.made_late_by(maker, BufferKind::gradient, i, late));
  for (std::size_t pass = 1; pass < passes.size(); ++pass)
    layout_.within(passes[pass].blocks[i].backward, BufferKind::gradient, i, bytes - late);
  if (place_ == OptimizerPlace::host && bytes > Bytes{}) return send_gradient(i, sum, bytes);
  for (BufferId buffer : sum) builder_.free(buffer, end_of(layout_.order.optimizer));
}

void OptimizerPlacement::send_gradient(std::uint32_t i, const std::vector<BufferId>& device, Bytes bytes) {
  const Range optimizer = layout_.order.optimizer;
  const CopyId store = builder_.copy(
      {StepKind::store_gradient, Lane::d2h, i, {}, {}, bytes, end_of(last_.blocks[i].backward)});
  const BufferId host = builder_.buffer({Space::host, BufferKind::gradient, i, {}, bytes});
  builder_.alloc_at_issue(host, store);
  builder_.free(host, end_of(optimizer));
  for (BufferId buffer : device) builder_.free_after(buffer, store);
  builder_.wait(optimizer.begin, store);
}

// As many bytes as there are gradients, into their places. Weights that two-way swapping keeps on the host
// are there already.
void OptimizerPlacement::bring_weights_back() {
  for (std::uint32_t i = 0; i < table_.size(); ++i) {
    const Bytes bytes = table_.rows[i].sizes.gradient;
    if (bytes == Bytes{} || layout_.plan.blocks[i].weights == Residence::two_way) continue;
    builder_.copy({StepKind::load_weights, Lane::h2d, i, {}, {}, bytes, end_of(layout_.order.optimizer)});
  }
}

// The first ones are issued when the last backward begins.
void OptimizerPlacement::stream_states() {
  const std::vector<OptimizerShare> shares = optimizer_shares(table_);
  const StepId first = layout_.order.optimizer.begin;
  const auto needed_by = [&](std::size_t k) { return static_cast<StepId>(first + k); };
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const OptimizerShare& share = shares[k];
    const Trigger start = begin_of(last_.blocks.front().backward);
    const std::optional<Bucket> read = read_state(share, layout_.issue_of(k, start, needed_by, 2));
    const Trigger issue = layout_.issue_of(k, start, needed_by);
    const CopyId load =
        builder_.copy({StepKind::load_state, Lane::h2d, share.block, {}, {}, share.state, issue},
                      read ? std::optional(read->copy) : std::nullopt);
    if (read) builder_.free_after(read->host, load);
    const BufferId state =
        builder_.buffer({Space::device, BufferKind::optimizer_state, share.block, {}, share.state});
    builder_.alloc_at_issue(state, load);
    builder_.wait(needed_by(k), load);
    const CopyId store = builder_.copy(
        {StepKind::store_state, Lane::d2h, share.block, {}, {}, share.state, end_of(only(needed_by(k)))});
    builder_.free_after(state, store);
    write_state(share, store, end_of(only(needed_by(k))));
  }
}

// To where the load takes it from; absent: where states are on the host.
std::optional<OptimizerPlacement::Bucket> OptimizerPlacement::read_state(const OptimizerShare& share,
                                                                         Trigger issue) {
  if (place_ != OptimizerPlace::disk) return {};
  const CopyId read =
      builder_.copy({StepKind::load_state, Lane::disk_read, share.block, {}, {}, share.state, issue});
  const BufferId host = bucket(share);
  builder_.alloc_at_issue(host, read);
  return Bucket{read, host};
}

// From where the store has brought it.
void OptimizerPlacement::write_state(const OptimizerShare& share, CopyId store, Trigger issue) {
  if (place_ != OptimizerPlace::disk) return;
  const CopyId write = builder_.copy(
      {StepKind::store_state, Lane::disk_write, share.block, {}, {}, share.state, issue}, store);
  const BufferId host = bucket(share);
  builder_.alloc_at_issue(host, store);
  builder_.free_after(host, write);
}

BufferId OptimizerPlacement::bucket(const OptimizerShare& share) {
  return builder_.buffer({Space::host, BufferKind::optimizer_state, share.block, {}, share.state});
}

}  // namespace

void place_optimizer(Layout& layout) {
  OptimizerPlacement(layout).place();
}

}  // namespace stowage
