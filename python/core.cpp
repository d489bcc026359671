// The module stowage._core: the core's answers, and its command line.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/command_titles.h"
#include "cli/program.h"
#include "cli/quantity.h"
#include "python/answers.h"
#include "traces/error.h"

namespace py = pybind11;

namespace stowage {
namespace {

int run_command_line(std::vector<std::string> words) {
  std::vector<const char*> arguments{"stowage"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::vector<std::unique_ptr<Command>> commands;
  for (const CommandTitle& title : {demo_title, profile_title, train_title})
    commands.push_back(unavailable_command(title));
  for (std::unique_ptr<Command>& command : core_commands()) commands.push_back(std::move(command));
  return run_program(commands, STOWAGE_VERSION, static_cast<int>(arguments.size()), arguments.data());
}

std::string tune(const std::string& profile, const std::string& machine, std::optional<std::int64_t> device,
                 std::optional<std::int64_t> host, std::int64_t margin, bool free, std::int64_t threads) {
  return tune_answer(profile, machine, {device, host, margin, free, std::max<std::int64_t>(1, threads)});
}

}  // namespace
}  // namespace stowage

PYBIND11_MODULE(_core, module) {
  using namespace stowage;
  // A module's exceptions live as long as the process.
  static const py::exception<InputError> input_error(module, "InputError", PyExc_ValueError);
  static const py::exception<SystemError> system_error(module, "SystemError", PyExc_OSError);
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const InputError& error) {
      py::set_error(input_error, error.what());
    } catch (const SystemError& error) {
      py::set_error(system_error, error.what());
    }
  });
  const py::call_guard<py::gil_scoped_release> unlocked;
  module.attr("version") = STOWAGE_VERSION;
  module.def("main", &run_command_line, unlocked);
  module.def("profile", &profile_answer, unlocked);
  module.def("machine", &machine_answer, unlocked);
  module.def("plan", &plan_answer, unlocked);
  module.def("expand", &expand_answer, unlocked);
  module.def("simulate", &simulate_answer, unlocked);
  module.def("tune", &tune, unlocked);
  module.def("program", &program_answer, unlocked);
  module.def("chrome", &chrome_answer, unlocked);
  module.def("csv", &csv_answer, unlocked);
  module.def("parse_size", [](const std::string& text) { return parse_size("size", text).value; });
  module.def("readable_bytes", [](std::int64_t bytes) { return readable(Bytes{bytes}); });
  module.def("readable_nanos", [](std::int64_t nanos) { return readable(Nanos{nanos}); });
}
