// Peak and time of a step with nothing checkpointed and with every block checkpointed, from what the shape
// says and a few constants that say how implementations differ from it. The constants are fitted to published
// rows; each is positive, and starts at what was known of it before.
//
//   peak     weights + trained + constant + workspace x (largest input)
//            + inputs + kept of all blocks, or of the largest one where every block is checkpointed
//            + kept and inputs of the blocks outside, always
//     kept     = attention x (a tensor of each attention) + ffn x (hidden layer) + extra x (projected) +
//     scores extra    by how weights are held: quantising on the way keeps copies of what enters each
//     projection
//
//   time     passes x (projections x launch, together with multiplications / (the GPU's rate x efficiency))
//     passes   forward and backward are two; with every block checkpointed three
//     launch   what the host and small kernels take for one projection and what goes with it, however fast
//     the
//              GPU; by how weights are held, more with Kronecker adapters and with streamed weights
//     efficiency  of everything else, of the GPU and by how weights are held
//
// The longer of both counts most: small steps take as long on any GPU, large ones by its rate.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "forecast/gpus.h"
#include "forecast/shape_cost.h"

namespace stowage {

// One measured or wanted step.
struct Situation {
  const Family* family = nullptr;
  std::string label;  // of the table: tells runs of one family apart
  TrainedShape training;
  const Gpu* gpu = nullptr;
  bool checkpointed = false;  // every block, or none
  // Whether the shape describes it: blocks that options reach, weights on the device, nothing compiled.
  bool described = true;
  FamilyCost cost;
};

Situation situation(const Family& family, std::string label, const TrainedShape& training, const Gpu& gpu,
                    bool checkpointed);

struct MeasuredStep {
  Situation situation;
  double seconds = 0, bytes = 0;
};

class StepModel {
 public:
  // Fits the constants to the rows that the shape describes; without any they stay as they start. Cost:
  // some thousand evaluations of each row.
  static StepModel fitted(const std::vector<MeasuredStep>& rows);

  double bytes(const Situation& situation) const;
  double seconds(const Situation& situation) const;
  // Bytes that one block keeps besides its input, by scope: attention, then the hidden layer.
  std::array<double, 2> kept(const BlockCost& cost, const TrainedShape& training) const;
  // Multiplications that the GPU reaches, a second.
  double rate(const Gpu& gpu, Precision precision) const;

 private:
  StepModel();

  std::vector<double> memory_, time_;  // logarithms, in the order of the enumerations of step_model.cpp
  std::vector<std::string> gpus_;      // whose efficiencies are the last of `time_`
};

}  // namespace stowage
