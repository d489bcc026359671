#include "forecast/step_model.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "forecast/least_squares.h"

namespace stowage {
namespace {

enum MemoryConstant : std::size_t {
  attention_tensors,
  ffn_tensors,
  extra_int8,
  extra_fp8,
  extra_fp8_weights,
  extra_streamed,
  constant_gib,
  workspace_units,
  quantized_bytes,
  streamed_resident,
  memory_constants
};

enum TimeConstant : std::size_t {
  launch_bf16,
  launch_int8,
  launch_fp8,
  launch_fp8_weights,
  efficiency_bf16,
  efficiency_int8,
  efficiency_fp8,
  efficiency_fp8_weights,
  launch_of_lokr,
  launch_of_streams,
  time_constants
};

constexpr double gib_bytes = 1024.0 * 1024.0 * 1024.0;

// nf4 is for weights alone, as fp8_weights is.
std::size_t offset(Precision precision) {
  return precision == Precision::nf4 ? 3 : static_cast<std::size_t>(precision);
}

double passes(const Situation& situation) {
  const double backward = situation.training.recipe.adapter == AdapterKind::full ? 2 : 1;
  return 1 + backward + (situation.checkpointed ? 1 : 0);
}

using Constants = std::vector<double>;

// The host runs ahead of the device: of launching and computing the longer counts, and some of the other
// where both take as long.
double together(double launching, double computing) {
  constexpr double n = 1.5;
  return std::pow(std::pow(launching, n) + std::pow(computing, n), 1 / n);
}

double at(const Constants& constants, std::size_t index) {
  return std::exp(constants[index]);
}

std::array<double, 2> kept_by(const Constants& m, const BlockCost& cost, const TrainedShape& training) {
  double extra = 0;
  if (training.recipe.streamed_weights)
    extra = at(m, extra_streamed);
  else if (training.recipe.adapter == AdapterKind::full)
    extra = 1;  // of each projection its input, for the gradient of its weights
  else if (training.precision != Precision::bf16)
    extra = at(m, extra_int8 + offset(training.precision) - 1);
  const double all = cost.attention_kept + cost.ffn_kept;
  const double of_attention = all > 0 ? cost.attention_kept / all : 0;
  return {at(m, attention_tensors) * cost.attention_kept + cost.scores_kept +
              extra * cost.projected * of_attention,
          at(m, ffn_tensors) * cost.ffn_kept + extra * cost.projected * (1 - of_attention)};
}

double kept_sum(const Constants& m, const BlockCost& cost, const TrainedShape& training) {
  const auto parts = kept_by(m, cost, training);
  return parts[0] + parts[1];
}

double weights_of(const Constants& m, const Situation& situation) {
  const FamilyCost& cost = situation.cost;
  const TrainedShape& training = situation.training;
  if (training.recipe.adapter == AdapterKind::full) return 0;  // among what is trained
  const bool quantized = training.precision != Precision::bf16;
  const double each = bytes_per_weight(training.precision) * (quantized ? at(m, quantized_bytes) : 1);
  if (training.recipe.streamed_weights)
    return at(m, streamed_resident) * 2 * (cost.block_weights + cost.other_weights);
  return each * (cost.block_weights + cost.other_weights);
}

// PyTorch keeps a workspace for cuBLAS for each thread that multiplies, the forward's and the backward's.
double matrix_workspace(const Gpu& gpu) {
  constexpr double threads = 2;
  return threads * static_cast<double>(gpu.matrix_workspace.value);
}

double bytes_of_step(const Constants& m, const Situation& situation) {
  const FamilyCost& cost = situation.cost;
  const TrainedShape& training = situation.training;
  const double trained = bytes_per_trained(training.recipe.optimizer) * cost.trained;
  const double outside = cost.outside.input + kept_sum(m, cost.outside, training);
  const double blocks =
      cost.blocks.input + kept_sum(m, situation.checkpointed ? cost.largest : cost.blocks, training);
  return weights_of(m, situation) + trained + at(m, constant_gib) * gib_bytes +
         matrix_workspace(*situation.gpu) + at(m, workspace_units) * cost.largest.input + outside + blocks +
         cost.epilogue;
}

double rate_of(const Constants& t, const std::vector<std::string>& gpus, const Gpu& gpu,
               Precision precision) {
  double efficiency = t[efficiency_bf16 + offset(precision)];
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (gpus[i] == gpu.name) efficiency += t[time_constants + i];
  return gpu.half_flops * std::exp(efficiency);
}

double seconds_of_step(const Constants& t, const std::vector<std::string>& gpus, const Situation& situation) {
  const TrainedShape& training = situation.training;
  BlockCost all = situation.cost.blocks;
  all += situation.cost.outside;
  double launch = at(t, launch_bf16 + offset(training.precision));
  if (training.recipe.adapter == AdapterKind::lokr) launch *= at(t, launch_of_lokr);
  if (training.recipe.streamed_weights) launch *= at(t, launch_of_streams);
  const double work = all.linear_flops + all.attention_flops;
  return passes(situation) *
         together(launch * all.projections, work / rate_of(t, gpus, *situation.gpu, training.precision));
}

// A constant by its usual value. One that physics bounds, as no GPU is used to the full, is held more firmly.
constexpr double loose = 0.5, firm = 8;

Prior usually(double value, double pull = loose) {
  return {std::log(value), pull};
}

std::vector<Prior> memory_priors() {
  return {usually(13),  usually(1.2), usually(0.4), usually(6),    usually(1.9),
          usually(0.8), usually(0.2), usually(15),  usually(1.05), usually(0.05)};
}

std::vector<Prior> time_priors(std::size_t gpus) {
  std::vector<Prior> priors{usually(4e-4),      usually(1e-3),       usually(1e-3),       usually(5e-4),
                            usually(0.3, firm), usually(0.27, firm), usually(0.21, firm), usually(0.27, firm),
                            usually(1.4),       usually(1.4)};
  for (std::size_t i = 0; i < gpus; ++i) priors.push_back(usually(1, firm));
  return priors;
}

Constants values_of(const std::vector<Prior>& priors) {
  Constants values;
  for (const Prior& prior : priors) values.push_back(prior.value);
  return values;
}

}  // namespace

Situation situation(const Family& family, std::string label, const TrainedShape& training, const Gpu& gpu,
                    bool checkpointed) {
  const Recipe& recipe = training.recipe;
  return {&family,
          std::move(label),
          training,
          &gpu,
          checkpointed,
          family.segmenting.has_value() && !recipe.streamed_weights && !recipe.compiled,
          family_cost(family, training)};
}

StepModel::StepModel() : memory_(values_of(memory_priors())), time_(values_of(time_priors(0))) {}

StepModel StepModel::fitted(const std::vector<MeasuredStep>& rows) {
  StepModel model;
  std::vector<const MeasuredStep*> used;
  for (const MeasuredStep& row : rows) {
    if (!row.situation.described) continue;
    used.push_back(&row);
    const std::string& gpu = row.situation.gpu->name;
    if (std::find(model.gpus_.begin(), model.gpus_.end(), gpu) == model.gpus_.end())
      model.gpus_.push_back(gpu);
  }
  model.time_ = values_of(time_priors(model.gpus_.size()));
  if (used.empty()) return model;
  // A family counts as one, however many rows it has.
  constexpr double rows_of_one = 4;
  std::vector<double> weights;
  for (const MeasuredStep* row : used) {
    const auto own = std::count_if(used.begin(), used.end(), [&](const MeasuredStep* other) {
      return other->situation.family->name == row->situation.family->name;
    });
    weights.push_back(std::sqrt(rows_of_one / static_cast<double>(own)));
  }
  // Errors beyond these count by their size, not by its square: some families are not like the rest.
  constexpr double usual_memory_error = 0.05, usual_time_error = 0.2;
  model.memory_ = least_squares(
      memory_priors(), used.size(),
      [&](const Constants& m, std::size_t i) {
        return weights[i] * std::log(bytes_of_step(m, used[i]->situation) / used[i]->bytes);
      },
      usual_memory_error);
  model.time_ = least_squares(
      time_priors(model.gpus_.size()), used.size(),
      [&](const Constants& t, std::size_t i) {
        return weights[i] * std::log(seconds_of_step(t, model.gpus_, used[i]->situation) / used[i]->seconds);
      },
      usual_time_error);
  return model;
}

double StepModel::bytes(const Situation& situation) const {
  return bytes_of_step(memory_, situation);
}

double StepModel::seconds(const Situation& situation) const {
  return seconds_of_step(time_, gpus_, situation);
}

std::array<double, 2> StepModel::kept(const BlockCost& cost, const TrainedShape& training) const {
  return kept_by(memory_, cost, training);
}

double StepModel::rate(const Gpu& gpu, Precision precision) const {
  return rate_of(time_, gpus_, gpu, precision);
}

}  // namespace stowage
