#include "forecast/size.h"

#include <cmath>

#include "traces/error.h"

namespace stowage {
namespace {

constexpr std::int64_t most_image_tokens = 1 << 22;

double tokens_at(const Sampling& sampling, std::int64_t resolution, std::int64_t frames) {
  const double side = static_cast<double>(resolution) / static_cast<double>(sampling.pixels_per_token);
  // The first frame has tokens of its own, as the video encoders have it.
  const double moments = static_cast<double>((frames - 1) / sampling.frames_per_token + 1);
  return side * side * moments;
}

void check_picture(const Family& family, const Sampling& wanted) {
  if (wanted.resolution < wanted.pixels_per_token)
    throw InputError("--resolution", "",
                     "expected at least " + std::to_string(wanted.pixels_per_token) +
                         ", the side of one token of " + family.name);
  if (wanted.frames > 1 && wanted.frames_per_token == 1 && family.sampling->frames == 1)
    throw InputError("--frames", "", "expected without: " + family.name + " makes single pictures");
}

void resize_pictures(Family& family, const SampleSize& size) {
  const Sampling& old = *family.sampling;
  Sampling wanted = old;
  wanted.resolution = size.resolution.value_or(old.resolution);
  wanted.frames = size.frames.value_or(old.frames);
  check_picture(family, wanted);
  const double ratio =
      tokens_at(wanted, wanted.resolution, wanted.frames) / tokens_at(old, old.resolution, old.frames);
  for (auto* groups : {&family.groups, &family.outside})
    for (BlockGroup& group : *groups) {
      const double tokens = std::round(static_cast<double>(group.shape.image_tokens) * ratio);
      if (tokens > static_cast<double>(most_image_tokens))
        throw InputError(size.frames ? "--frames" : "--resolution", "",
                         "expected a sample of at most " + std::to_string(most_image_tokens) + " tokens");
      group.shape.image_tokens = static_cast<std::int64_t>(tokens);
      if (group.shape.tokens() == 0) group.shape.image_tokens = 1;
    }
  family.sampling = wanted;
}

void resize_sequences(Family& family, std::int64_t tokens) {
  for (BlockGroup& group : family.groups)
    (group.shape.text_tokens > 0 ? group.shape.text_tokens : group.shape.image_tokens) = tokens;
}

double entering(const Family& family) {
  double all = 0;
  for (const BlockGroup& group : family.groups)
    all += static_cast<double>(group.blocks * input_of(family, group.shape).value);
  return all;
}

}  // namespace

Family sized(Family family, const SampleSize& size) {
  if (size.batch) family.batch = *size.batch;
  if (size.tokens && family.sampling)
    throw InputError("--tokens", "",
                     "expected with sequences; of " + family.name + " give --resolution and --frames");
  if (!family.sampling && (size.resolution || size.frames))
    throw InputError(size.resolution ? "--resolution" : "--frames", "",
                     "expected with pictures; of " + family.name + " give --tokens");
  if (size.resolution || size.frames) resize_pictures(family, size);
  if (size.tokens) resize_sequences(family, *size.tokens);
  return family;
}

double unlikeness(const Family& a, const Family& b) {
  const double one = entering(a), other = entering(b);
  return one > 0 && other > 0 ? std::abs(std::log(one / other)) : 0;
}

}  // namespace stowage
