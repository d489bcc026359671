// The module stowage._arena: the accounted arena of the host device as Python's torch allocates from it.
#include "runtime/arena.h"

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <memory>
#include <utility>

namespace py = pybind11;

namespace stowage {
namespace {

std::optional<Bytes> bytes_or_none(std::optional<std::int64_t> bytes) {
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}

// Allocations come from any thread, with the interpreter's lock or without. What the callable raises is lost:
// the request is refused then.
void on_shortage(const py::object& make_room) {
  if (make_room.is_none()) return Arena::instance().on_shortage({});
  // Freed with the lock held, whoever drops it.
  const std::shared_ptr<py::object> callable(new py::object(make_room), [](py::object* held) {
    const py::gil_scoped_acquire lock;
    delete held;
  });
  Arena::instance().on_shortage([callable] {
    const py::gil_scoped_acquire lock;
    try {
      return py::cast<bool>((*callable)());
    } catch (const py::error_already_set&) {
      return false;
    }
  });
}

}  // namespace
}  // namespace stowage

PYBIND11_MODULE(_arena, module) {
  using namespace stowage;
  module.attr("torch_version") = STOWAGE_TORCH_VERSION;
  module.def("install", [] { Arena::instance().install(); });
  module.def("set_budget",
             [](std::optional<std::int64_t> bytes) { Arena::instance().set_budget(bytes_or_none(bytes)); });
  module.def("live", [] { return Arena::instance().live().value; });
  module.def("take_peak", [] { return Arena::instance().take_peak().value; });
  module.def("release_unused", [] { Arena::instance().release_unused(); });
  module.def("on_shortage", &on_shortage);
}
