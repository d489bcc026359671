// The words of settings and plans: the same in files, on the command line and in text for people.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "plan/plan.h"
#include "plan/settings.h"

namespace stowage {

// Each list is in the order of its enumeration.
inline constexpr std::array<std::string_view, 4> policy_names = {"keep", "recompute", "offload",
                                                                 "recompute+offload"};
inline constexpr std::array<std::string_view, 2> segmenting_names = {"contiguous", "every-nth"};
inline constexpr std::array<std::string_view, 3> scope_names = {"attention", "ffn", "other"};
inline constexpr std::array<std::string_view, 3> swap_which_names = {"last", "first", "spread"};
inline constexpr std::array<std::string_view, 3> swap_mode_names = {"h2d", "two-way", "stream"};
inline constexpr std::array<std::string_view, 4> optimizer_names = {"device", "host", "streamed", "disk"};
inline constexpr std::array<std::string_view, 2> activation_names = {"keep", "recompute"};
inline constexpr std::array<std::string_view, 4> residence_names = {"resident", "h2d", "two-way", "stream"};

template <class Enumeration>
constexpr std::string_view name_in(std::span<const std::string_view> names, Enumeration value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace stowage
