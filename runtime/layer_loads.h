// Loads of streamed layers that the program does not have: where layers run in another order than it says.
//
// A layer whose turn is over, or has not come, is loaded when it begins, and the step waits. What follows it
// is learned, so that later steps load it ahead. A wrong guess costs a copy, never more.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/device.h"
#include "runtime/learned_order.h"
#include "runtime/model.h"

namespace stowage {

class LayerLoads {
 public:
  // Both must outlive it.
  LayerLoads(Device& device, Model& model) : device_(device), model_(model) {}
  ~LayerLoads();  // waits for what is under way

  // Loads it now, or ends the load that is under way, and waits. Throws MemoryRefused.
  void bring(LayerId layer);
  // Begins to load it, if there is room.
  void fetch_ahead(LayerId layer);
  // Frees what bring() has brought.
  void drop();
  // Ends and frees a load that nothing came of; false where there is none.
  bool forget_ahead();

  struct Counts {
    std::int64_t blocking = 0, ahead = 0, hits = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Load {
    LayerId layer;
    std::vector<c10::Storage> storages;
    std::shared_ptr<Copy> copy;
  };

  Load begin(LayerId layer);

  Device& device_;
  Model& model_;
  std::optional<Load> ahead_;
  std::optional<LayerId> brought_;
  Counts counts_;
};

}  // namespace stowage
