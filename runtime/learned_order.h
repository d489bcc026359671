// Which part of a model follows which, as far as steps have shown.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

namespace stowage {

// A layer of a block.
struct LayerId {
  std::uint32_t block, layer;

  auto operator<=>(const LayerId&) const = default;
};

class LearnedOrder {
 public:
  void follows(LayerId before, LayerId after);
  // What has followed at least twice, and in at least four of five times; absent where nothing has, or no
  // longer does. What is long past counts less.
  std::optional<LayerId> after(LayerId before) const;

 private:
  struct Seen {
    std::map<LayerId, std::int64_t> times;
    std::int64_t all = 0;
  };

  std::map<LayerId, Seen> seen_;
};

struct LayerOrders {
  LearnedOrder forward, backward;
};

}  // namespace stowage
