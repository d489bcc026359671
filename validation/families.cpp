#include "validation/families.h"

#include <algorithm>

namespace stowage {

std::vector<const BlockGroup*> chain_of(const Family& family) {
  std::vector<const BlockGroup*> chain;
  if (family.interleaved) {
    for (std::int64_t turn = 0; turn < family.groups.front().blocks; ++turn)
      for (const BlockGroup& group : family.groups) chain.push_back(&group);
    return chain;
  }
  for (const BlockGroup& group : family.groups)
    chain.insert(chain.end(), static_cast<std::size_t>(group.blocks), &group);
  return chain;
}

Bytes input_of(const Family& family, const GroupShape& shape) {
  return Bytes{family.batch * family.activation_bytes * shape.tokens() * shape.width};
}

Bytes kept_by(const Family& family, const GroupShape& shape) {
  constexpr std::int64_t kept_by_attention = 5;
  const std::int64_t hidden = shape.ffn_width * (shape.ffn_gated ? 3 : 1);
  const std::int64_t attended =
      shape.attentions * shape.tokens() + shape.image_attentions * shape.image_tokens;
  return Bytes{family.batch * family.activation_bytes *
               (kept_by_attention * shape.width * attended + hidden * shape.tokens())};
}

double work_of(const Family& family, const GroupShape& shape) {
  const auto width = static_cast<double>(shape.width), hidden = static_cast<double>(shape.ffn_width);
  // Four projections, then scores and their weighted sum.
  const auto attention = [&](std::int64_t tokens) {
    const auto t = static_cast<double>(tokens);
    return t * 4 * width * width + 2 * t * t * width;
  };
  return static_cast<double>(family.batch) *
         (static_cast<double>(shape.attentions) * attention(shape.tokens()) +
          static_cast<double>(shape.image_attentions) * attention(shape.image_tokens) +
          static_cast<double>(shape.tokens()) * (shape.ffn_gated ? 3 : 2) * width * hidden);
}

std::int64_t parameters_of(const GroupShape& shape) {
  const GroupWeights& weights = shape.weights;
  if (weights.parameters) return *weights.parameters;
  const std::int64_t square = shape.width * shape.width;
  const std::int64_t attention = 2 * (weights.query_width + weights.key_value_width) * shape.width;
  const std::int64_t ffn = (shape.ffn_gated ? 3 : 2) * shape.width * shape.ffn_width;
  // Cross-attention is the image's alone, whatever the streams.
  const std::int64_t further = std::max<std::int64_t>(0, shape.attentions - 1) * attention;
  return weights.streams * ((shape.attentions > 0 ? attention : 0) + ffn) + further +
         shape.image_attentions * 4 * square +
         static_cast<std::int64_t>(weights.modulation * static_cast<double>(square));
}

std::int64_t parameters_of(const Family& family) {
  std::int64_t all = family.facts.other_parameters;
  for (const auto* groups : {&family.groups, &family.outside})
    for (const BlockGroup& group : *groups) all += group.blocks * parameters_of(group.shape);
  return all;
}

const Family* find_family(const std::vector<Family>& families, const std::string& name) {
  const auto of_name = [&](const std::string& wanted) -> const Family* {
    const auto found = std::find_if(families.begin(), families.end(), [&](const Family& family) {
      return family.name == wanted || family.facts.id == wanted;
    });
    return found == families.end() ? nullptr : &*found;
  };
  if (const Family* exact = of_name(name)) return exact;
  const std::size_t note = name.rfind(" (");
  return note != std::string::npos && name.ends_with(')') ? of_name(name.substr(0, note)) : nullptr;
}

}  // namespace stowage
