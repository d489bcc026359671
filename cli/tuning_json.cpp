#include "cli/tuning_json.h"

#include "cli/prediction.h"
#include "cli/setting_flags.h"
#include "traces/json.h"

namespace stowage {
namespace {

void write_frontier(JsonWriter& json, const std::vector<FrontierPoint>& frontier) {
  json.key("frontier").begin_array();
  for (const FrontierPoint& point : frontier)
    json.begin_row()
        .field("peak_bytes", point.run.peaks.device)
        .field("peak_reserved_bytes", point.run.peaks.device_reserved)
        .field("step_ns", point.run.step)
        .field("host_peak_bytes", point.run.peaks.host)
        .field("pinned_on_device_bytes", point.run.peaks.pinned_on_device)
        .field("settings", flags_of(point.settings))
        .end_object();
  json.end_array();
}

}  // namespace

std::string tuning_json(const Tuning& tuning, const std::optional<FreeTuning>& free, const Profile& profile) {
  const TuneResult& result = tuning.result;
  const std::optional<TunedPlan>& best = free ? free->best : result.best;
  JsonWriter json;
  json.begin_object().field("outcome", best ? "ran" : "out_of_memory");
  if (tuning.interrupted) json.field("interrupted", true);
  if (best) {
    write_run(json, best->run);
    json.key("plan").raw(to_json(best->plan, profile));
  }
  if (result.best) {
    json.field("settings", describe(*result.best->plan.settings));
    json.field("settings_step_ns", result.best->run.step);
    json.field("emitted", flags_of(*result.best->plan.settings));
  }
  if (best && free)
    json.field("bound_ns", *free->free.bound).field("gap", free->gap()).field("optimal", free->optimal());
  else if (best)
    json.field("bound_ns", result.bound).field("gap", result.gap()).field("optimal", result.optimal());
  if (!best)
    json.field("least_bytes",
               tuning.held_back + (free ? free->least->run.peaks.on_device() : result.least_bytes()));
  json.field("settings_least_bytes", tuning.least_device());
  json.field("null_step_ns", result.null_run.step).field("null_peak_bytes", result.null_run.peaks.device);
  json.field("null_fits", result.null_fits);
  write_frontier(json, result.frontier);
  json.field("considered", result.considered);
  json.field("evaluated", result.evaluated + (free ? free->free.evaluated : 0));
  return json.field("elapsed_ns", tuning.elapsed + (free ? free->elapsed : Nanos{})).end_object().text();
}

}  // namespace stowage
