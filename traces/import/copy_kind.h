// Where a device copy goes and what lies at its ends. Profilers say so in the copy's name alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace stowage {

enum class CopyDirection : std::uint8_t { h2d, d2h, on_device, peer, other };
enum class HostSide : std::uint8_t { pinned, pageable, managed, unknown };

struct CopyKind {
  CopyDirection direction = CopyDirection::other;
  HostSide host = HostSide::unknown;

  auto operator<=>(const CopyKind&) const = default;
  // Crosses the link between host and device.
  bool crosses() const { return direction == CopyDirection::h2d || direction == CopyDirection::d2h; }
};

// From "Memcpy HtoD (Pinned -> Device)" (NVIDIA), "Memcpy HtoD (Host -> Device)" or "CopyHostToDevice" (AMD),
// which do not tell how the host's side is pinned.
CopyKind copy_kind_of(std::string_view name);

const char* name_of(CopyDirection direction);
const char* name_of(HostSide host);

}  // namespace stowage
