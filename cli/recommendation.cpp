#include "cli/recommendation.h"

#include <algorithm>
#include <set>

#include "cli/free_tuning.h"

namespace stowage {
namespace {

Room room_of(const RowForecast& forecast, const Peaks& peaks, const Budget& budget) {
  if (!fits(peaks, budget)) return Room::too_large;
  // The host's part of what is on the device does not grow with the forecast's error.
  const double pinned = static_cast<double>(peaks.pinned_on_device.value);
  return forecast.bytes.high + pinned <= static_cast<double>(budget.device.value) ? Room::fits
                                                                                  : Room::may_fit;
}

// Copies of saved tensors are issued by hooks of the trainer's, which the simulator does not know. Published
// rows that send a block's activations away take from 1.0 to 3.8 times as long as checkpointing alone, twice
// in the middle, though the copies would fit under the compute (SimpleTuner's sweep). Swapped weights cost 3
// to 11 percent more than waiting for the link explains (block_swap.csv).
void allow_for_moving(RowForecast& forecast, const Plan& plan) {
  const auto sends = [](const BlockDecision& block) { return !block.offload.empty(); };
  const auto swaps = [](const BlockDecision& block) { return block.weights != Residence::resident; };
  if (std::any_of(plan.blocks.begin(), plan.blocks.end(), sends))
    forecast.seconds = {forecast.seconds.low, 2 * forecast.seconds.middle, 4 * forecast.seconds.high};
  else if (std::any_of(plan.blocks.begin(), plan.blocks.end(), swaps))
    forecast.seconds.high *= 1.2;
}

class Recommender {
 public:
  explicit Recommender(const ForecastSubject& subject)
      : subject_(subject), table_(subject.step.profile), budget_(budget_of(subject.machine)) {}

  void add(const Plan& plan, Run run, Options options, const std::vector<std::string>& warnings) {
    const bool recomputes =
        std::any_of(plan.blocks.begin(), plan.blocks.end(),
                    [](const BlockDecision& block) { return block.activation == Activation::recompute; });
    if (recomputes) run.step += subject_.step.switching;
    std::string words = summary(table_, plan);
    if (!words_.insert(words).second) return;
    RecommendedRow row{std::move(words), std::move(options), plan.settings, run, {}, Room::too_large,
                       warnings};
    row.forecast = row_forecast(subject_.ends, {run.step, run.peaks.device});
    allow_for_moving(row.forecast, plan);
    row.room = room_of(row.forecast, run.peaks, budget_);
    all_.rows.push_back(std::move(row));
  }

  void of_trainer(const Trainer& trainer, const std::string& family) {
    const std::unique_ptr<Dialect> dialect = trainer.dialect(family);
    for (const Options& options : dialect->shapes(table_)) add(*dialect, options);
    // Swaps are found by the search: for what surely fits, and where nothing does for what may.
    for (const double share : {surely(), 1.0}) {
      Budget budget = budget_;
      budget.device = Bytes{static_cast<std::int64_t>(static_cast<double>(budget.device.value) * share)};
      const Choice choice = choose(table_, subject_.machine, budget, *dialect);
      all_.considered = choice.considered;
      add(choice.least);
      if (!choice.best) continue;
      add(*choice.best);
      return;
    }
  }

  RecommendedRow of_options(const Trainer& trainer, const std::string& family, const Options& options) {
    add(*trainer.dialect(family), options);
    return std::move(all_.rows.front());
  }

  void of_native() {
    TuneRequest request;
    request.budget = budget_;
    const TuneResult result = tune(table_, subject_.machine, request);
    all_.considered = result.considered;
    for (const FrontierPoint& point : result.frontier)
      add(expand(table_, point.settings).plan, point.run, {}, {});
    add(result.least.plan, result.least.run, {}, {});
  }

  Recommendation ranked() {
    std::stable_sort(all_.rows.begin(), all_.rows.end(),
                     [](const RecommendedRow& a, const RecommendedRow& b) {
                       if (a.room != b.room) return a.room < b.room;
                       if (a.room == Room::too_large)
                         return a.run.peaks.on_device() < b.run.peaks.on_device();
                       return a.forecast.seconds.middle < b.forecast.seconds.middle;
                     });
    const auto end = std::find_if(all_.rows.begin(), all_.rows.end(),
                                  [](const RecommendedRow& row) { return row.room == Room::too_large; });
    if (end != all_.rows.begin()) all_.rows.erase(end, all_.rows.end());
    return std::move(all_);
  }

 private:
  void add(const Dialect& dialect, const Options& options) {
    add(price(table_, subject_.machine, dialect, options));
  }

  void add(const Chosen& chosen) {
    add(chosen.meaning.plan, chosen.run, chosen.options, chosen.meaning.warnings);
  }

  // What may be filled for the upper end of a forecast to fit.
  double surely() const { return subject_.ends.layer.bytes.middle / subject_.ends.layer.bytes.high; }

  const ForecastSubject& subject_;
  const BlockTable table_;
  const Budget budget_;
  Recommendation all_;
  std::set<std::string> words_;
};

}  // namespace

Recommendation recommend(const ForecastSubject& subject, const Trainer* trainer,
                         const std::string& trainer_family) {
  Recommender recommender(subject);
  if (trainer != nullptr)
    recommender.of_trainer(*trainer, trainer_family);
  else
    recommender.of_native();
  return recommender.ranked();
}

RecommendedRow as_it_stands(const ForecastSubject& subject, const Trainer& trainer,
                            const std::string& trainer_family, const Options& options) {
  return Recommender(subject).of_options(trainer, trainer_family, options);
}

}  // namespace stowage
