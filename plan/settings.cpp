#include "plan/settings.h"

#include "plan/names.h"
#include "traces/error.h"

namespace stowage {
namespace {

// A program holds each micro-batch's steps.
constexpr std::int64_t most_micro_batches = 1000;

void require(bool holds, const char* setting, const std::string& reason) {
  if (!holds) throw InputError("", setting, reason);
}

}  // namespace

void check(const Settings& settings) {
  const SwapSettings& swap = settings.swap;
  const TransferSettings& transfer = settings.transfer;
  require(settings.interval >= 1, "interval", "must be at least 1");
  if (settings.stride) {
    require(*settings.stride >= 1, "stride", "must be at least 1");
    require(*settings.stride >= settings.interval, "stride",
            "must be at least the interval: " + std::to_string(*settings.stride) + " < " +
                std::to_string(settings.interval));
  }
  require(swap.blocks >= 0, "swap_blocks", "must not be negative");
  require(swap.keep >= 0, "swap_keep", "must not be negative");
  if (swap.keep_max) require(swap.keep_max->value >= 0, "swap_keep_max_bytes", "must not be negative");
  require(settings.step.accumulate >= 1 && settings.step.accumulate <= most_micro_batches, "accumulate",
          "must be from 1 to " + std::to_string(most_micro_batches));
  require(transfer.prefetch >= 0, "prefetch", "must not be negative");
  require(transfer.h2d_streams >= 1, "h2d_streams", "must be at least 1");
  require(transfer.d2h_streams >= 1, "d2h_streams", "must be at least 1");
  if (transfer.max_buckets) require(*transfer.max_buckets >= 0, "max_buckets", "must not be negative");
  if (transfer.pinned_max)
    require(transfer.pinned_max->value >= 0, "pinned_max_bytes", "must not be negative");
  if (transfer.disk_over) require(transfer.disk_over->value >= 0, "disk_over_bytes", "must not be negative");
}

std::string describe(const Settings& settings) {
  std::string text = std::string(name_in(policy_names, settings.policy));
  if (settings.policy != Policy::keep) {
    if (settings.interval != 1 || settings.stride) text += ", interval " + std::to_string(settings.interval);
    if (settings.stride) text += ", stride " + std::to_string(*settings.stride);
    if (settings.segmenting == Segmenting::every_nth) text += ", every-nth";
  }
  if (settings.scope && settings.policy != Policy::keep)
    text += ", scope " + std::string(name_in(scope_names, *settings.scope));
  const SwapSettings& swap = settings.swap;
  if (swap.blocks > 0) {
    text +=
        ", swap " + std::to_string(swap.blocks) + " " + std::string(name_in(swap_which_names, swap.which));
    if (swap.mode != SwapMode::h2d) text += " " + std::string(name_in(swap_mode_names, swap.mode));
    if (swap.keep > 0) text += " keep " + std::to_string(swap.keep);
    if (swap.keep > 0 && swap.keep_max) text += " in " + std::to_string(swap.keep_max->value) + " B";
  }
  if (settings.step.optimizer != OptimizerPlace::device)
    text += ", optimizer " + std::string(name_in(optimizer_names, settings.step.optimizer));
  if (settings.step.accumulate != 1) text += ", accumulate " + std::to_string(settings.step.accumulate);
  const TransferSettings& transfer = settings.transfer;
  const TransferSettings defaults;
  if (transfer.disk_over) text += ", over " + std::to_string(transfer.disk_over->value) + " B to disk";
  if (transfer.prefetch != defaults.prefetch) text += ", prefetch " + std::to_string(transfer.prefetch);
  if (transfer.h2d_streams != 1) text += ", h2d streams " + std::to_string(transfer.h2d_streams);
  if (transfer.d2h_streams != 1) text += ", d2h streams " + std::to_string(transfer.d2h_streams);
  if (transfer.max_buckets) text += ", max buckets " + std::to_string(*transfer.max_buckets);
  if (transfer.pinned_max) text += ", pinned max " + std::to_string(transfer.pinned_max->value) + " B";
  return text;
}

}  // namespace stowage
