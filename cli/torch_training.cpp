#include "cli/torch_training.h"

#include <ATen/Context.h>

#include <algorithm>
#include <deque>

#include "runtime/executor.h"
#include "runtime/mark.h"
#include "runtime/models/transformer.h"
#include "runtime/optimizer.h"
#include "runtime/profiler_recording.h"
#include "tuner/middle.h"

namespace stowage {
namespace {

// Timelines among which the one of median length is chosen.
constexpr std::size_t kept_timelines = 15;
constexpr std::int64_t recorded_steps = 3;

// Holds steps, not what is made between them, to the budget.
class BudgetGuard {
 public:
  BudgetGuard(ChosenDevice& device, std::optional<Bytes> budget) : device_(device) {
    device_.set_budget(budget);
  }
  ~BudgetGuard() { device_.set_budget(std::nullopt); }
  BudgetGuard(const BudgetGuard&) = delete;

 private:
  ChosenDevice& device_;
};

TrainedStep told(const StepReport& report) {
  const Curves& memory = report.timeline.memory;
  return {report.loss, report.gradient_norm, report.timeline.step, peak(memory.device), peak(memory.host)};
}

Timeline of_median_length(std::deque<Timeline> timelines) {
  const auto middle = timelines.begin() + static_cast<std::ptrdiff_t>(timelines.size() / 2);
  std::nth_element(timelines.begin(), middle, timelines.end(),
                   [](const Timeline& a, const Timeline& b) { return a.step < b.step; });
  return std::move(*middle);
}

// The program that is trained under, and what its latest steps were like.
class Course {
 public:
  Course(const Program& program, const TrainingOptions& options)
      : program_(program), reconsider_(options.reconsider) {}

  const Program& program() const { return program_; }

  // A step has ended; `more`: it was not the last. Whether another program follows.
  bool took(Timeline timeline, bool more) {
    timelines_.push_back(std::move(timeline));
    if (timelines_.size() > kept_timelines) timelines_.pop_front();
    if (++steps_ != considered_steps || !more || !reconsider_) return false;
    std::optional<Program> next = reconsider_({timelines_.begin() + 1, timelines_.end()});
    if (!next) return false;
    program_ = std::move(*next);
    last_ = of_median_length(std::move(timelines_));
    timelines_.clear();
    steps_ = 0;
    return true;
  }

  // Of the steps under the last program that had one; the first step counts only where it is alone.
  Timeline middle() {
    if (timelines_.size() > 1 && timelines_.size() == steps_) timelines_.pop_front();
    return timelines_.empty() ? last_ : of_median_length(std::move(timelines_));
  }

 private:
  Program program_;
  const std::function<std::optional<Program>(const std::vector<Timeline>&)> reconsider_;
  std::deque<Timeline> timelines_;
  std::size_t steps_ = 0;
  Timeline last_;
};

class Trainer {
 public:
  Trainer(const Subject& subject, ChosenDevice& device)
      : subject_(subject),
        device_(device),
        corpus_(subject.data, subject.shape()),
        model_(subject.config, subject.seed, device.place()),
        executor_(model_, device),
        optimizer_(executor_.trained(), {}) {
    at::manual_seed(subject.seed);
    executor_.refuse_excess();
  }

  StepResult step(const Program& program, std::uint64_t number, std::optional<Bytes> budget) {
    const State batch = device_.bring(corpus_.batch(subject_.seed, number));
    const BudgetGuard guard(device_, budget);
    const Mark mark("ProfilerStep#", number);
    return executor_.run(program, batch, optimizer_);
  }

 private:
  const Subject& subject_;
  ChosenDevice& device_;
  Corpus corpus_;
  Transformer model_;
  Executor executor_;
  AdamW optimizer_;
};

}  // namespace

Nanos Training::median_step() const {
  std::vector<Nanos> times;
  for (std::size_t i = steps.size() > changed + 1 ? changed + 1 : changed; i < steps.size(); ++i)
    times.push_back(steps[i].step);
  return times.empty() ? Nanos{} : middle_of(std::move(times));
}

Bytes Training::device_peak() const {
  Bytes most;
  for (const TrainedStep& step : steps) most = std::max(most, step.device_peak);
  return most;
}

Bytes Training::host_peak() const {
  Bytes most;
  for (const TrainedStep& step : steps) most = std::max(most, step.host_peak);
  return most;
}

Training train(const Subject& subject, ChosenDevice& device, const Program& program,
               const TrainingOptions& options) {
  device.set_budget(std::nullopt);
  Training training;
  Course course(program, options);
  Trainer trainer(subject, device);
  std::optional<ProfilerRecording> recording;
  try {
    for (std::int64_t i = 0; i < options.steps; ++i) {
      if (!options.recording.empty() && i == std::max<std::int64_t>(0, options.steps - recorded_steps))
        recording.emplace();
      StepResult result = trainer.step(course.program(), static_cast<std::uint64_t>(i), options.budget);
      if (const auto* shortage = std::get_if<Shortage>(&result)) {
        training.shortage = {shortage->step, shortage->refusal};
        break;
      }
      StepReport& report = std::get<StepReport>(result);
      training.steps.push_back(told(report));
      training.pool = std::move(report.pool);
      options.on_step(training.steps.back());
      if (course.took(std::move(report.timeline), i + 1 < options.steps))
        training.changed = training.steps.size();
    }
  } catch (const MemoryRefused& refused) {
    training.shortage = {std::nullopt, refused.refusal()};
  }
  if (recording) recording->write(options.recording);
  training.timeline = course.middle();
  return training;
}

}  // namespace stowage
