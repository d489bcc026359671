#include "traces/import/copy_kind.h"

#include "traces/import/characters.h"

namespace stowage {
namespace {

CopyDirection direction_of(std::string_view name) {
  if (contains(name, "HtoD") || contains(name, "HtoA") || contains(name, "HostToDevice"))
    return CopyDirection::h2d;
  if (contains(name, "DtoH") || contains(name, "AtoH") || contains(name, "DeviceToHost"))
    return CopyDirection::d2h;
  if (contains(name, "PtoP")) return CopyDirection::peer;
  for (const char* between : {"DtoD", "DtoA", "AtoD", "AtoA", "DeviceToDevice"}) {
    if (contains(name, between)) return CopyDirection::on_device;
  }
  return CopyDirection::other;
}

}  // namespace

CopyKind copy_kind_of(std::string_view name) {
  CopyKind kind{.direction = direction_of(name), .host = HostSide::unknown};
  if (!kind.crosses()) return kind;
  if (contains(name, "Pinned")) kind.host = HostSide::pinned;
  if (contains(name, "Pageable")) kind.host = HostSide::pageable;
  if (contains(name, "Managed")) kind.host = HostSide::managed;
  return kind;
}

const char* name_of(CopyDirection direction) {
  static constexpr const char* names[] = {"h2d", "d2h", "on_device", "peer", "other"};
  return names[static_cast<int>(direction)];
}

const char* name_of(HostSide host) {
  static constexpr const char* names[] = {"pinned", "pageable", "managed", "unknown"};
  return names[static_cast<int>(host)];
}

}  // namespace stowage
