"""Plants includes in a small tree and looks at what scripts/check-layering says of them."""

import subprocess
import sys
import tempfile
import unittest
from importlib import machinery, util
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "scripts" / "check-layering"
sys.dont_write_bytecode = True
loader = machinery.SourceFileLoader("check_layering", str(PROGRAM))  # by hand, since its name has no .py
check_layering = util.module_from_spec(util.spec_from_loader(loader.name, loader))
loader.exec_module(check_layering)

HEADERS = [
    "traces/profile.h", "plan/plan.h", "simulator/engine.h", "tuner/space.h", "runtime/executor.h", "profiler/probe.h",
    "cli/command.h", "cli/torch_train.h", "tests/catch.h",
]


class PlantedViolations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for header in HEADERS:
            self.write(header, "#pragma once\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def assert_allowed(self, path, include):
        self.write(path, f"#include {include}\n")
        self.assertEqual(list(check_layering.objections(self.root)), [], f"{path} includes {include}")
        (self.root / path).unlink()

    def assert_refused(self, path, include):
        self.write(path, f"\n  # include {include}\n")
        said = list(check_layering.objections(self.root))
        self.assertEqual(len(said), 1, f"{path} includes {include}: {said}")
        self.assertTrue(said[0].startswith(f"{path}:2: {include[1:-1]}: "), said)
        (self.root / path).unlink()

    def test_the_program_fails_where_there_is_an_objection(self):
        self.assertEqual(subprocess.run([PROGRAM, self.root]).returncode, 0)
        self.write("plan/a.cpp", '#include "tuner/space.h"\n')
        done = subprocess.run([PROGRAM, self.root], stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "plan/a.cpp:1: tuner/space.h: plan may not include tuner\n")

    def test_two_types_of_one_name(self):
        self.write("plan/a.h", "struct Span {\n};\n")
        self.write("runtime/b.h", "class Span;\n  struct Inner {\n")  # declared ahead, or inside another: no type of its own
        self.assertEqual(list(check_layering.twice_declared(self.root)), [])
        self.write("runtime/c.h", "class Span final : public Base {\n")
        self.assertEqual(list(check_layering.twice_declared(self.root)),
                         ["runtime/c.h:1: Span: plan/a.h has a type of that name"])

    def test_edges_of_the_picture(self):
        self.assert_allowed("plan/a.cpp", '"traces/profile.h"')
        self.assert_allowed("simulator/a.cpp", '"traces/profile.h"')
        self.assert_allowed("tuner/a.cpp", '"simulator/engine.h"')
        self.assert_allowed("runtime/a.h", '"plan/plan.h"')
        self.assert_allowed("profiler/a.cpp", '"runtime/executor.h"')
        self.assert_allowed("cli/a.cpp", '"tuner/space.h"')
        self.assert_allowed("cli/torch_a.cpp", '"profiler/probe.h"')
        self.assert_allowed("tests/runtime/a_test.cpp", '"runtime/executor.h"')

    def test_edges_against_the_picture(self):
        self.assert_refused("traces/a.cpp", '"plan/plan.h"')
        self.assert_refused("plan/a.cpp", '"simulator/engine.h"')
        self.assert_refused("simulator/a.h", '"tuner/space.h"')
        self.assert_refused("simulator/a.cpp", '"profiler/probe.h"')
        self.assert_refused("tuner/a.cpp", '"runtime/executor.h"')
        self.assert_refused("runtime/a.cpp", '"simulator/engine.h"')
        self.assert_refused("runtime/a.cpp", '"profiler/probe.h"')
        self.assert_refused("profiler/a.cpp", '"tuner/space.h"')
        self.assert_refused("tuner/a.cpp", '"cli/command.h"')
        self.assert_refused("cli/a.cpp", '"tests/catch.h"')

    def test_the_part_without_torch_stays_without_it(self):
        self.assert_allowed("cli/main.cpp", '"cli/torch_train.h"')
        self.assert_refused("cli/a.cpp", '"cli/torch_train.h"')
        self.assert_refused("cli/a.cpp", '"runtime/executor.h"')
        self.assert_refused("tests/plan/a_test.cpp", '"runtime/executor.h"')
        self.assert_refused("benchmarks/simulate.cpp", '"runtime/executor.h"')
        self.assert_allowed("benchmarks/torch_overlap.cpp", '"runtime/executor.h"')

    def test_each_outside_library_has_its_home(self):
        self.assert_allowed("traces/json.cpp", "<nlohmann/json.hpp>")
        self.assert_refused("traces/json.h", "<nlohmann/json.hpp>")
        self.assert_refused("plan/a.cpp", "<nlohmann/json.hpp>")
        self.assert_allowed("cli/a.h", "<CLI/CLI.hpp>")
        self.assert_refused("tuner/a.cpp", "<CLI/CLI.hpp>")
        self.assert_allowed("profiler/a.cpp", "<Eigen/Dense>")
        self.assert_refused("simulator/a.cpp", "<Eigen/Dense>")
        self.assert_allowed("runtime/a.h", "<ATen/ATen.h>")
        self.assert_refused("cli/a.cpp", "<torch/torch.h>")
        self.assert_refused("plan/a.h", "<c10/core/Allocator.h>")
        self.assert_allowed("runtime/cuda_device.cpp", "<cuda_runtime_api.h>")
        self.assert_refused("simulator/a.cpp", "<cuda_runtime.h>")
        self.assert_refused("tests/plan/a_test.cpp", "<catch2/catch.hpp>")

    def test_includes_are_written_from_the_root(self):
        self.assert_refused("traces/a.cpp", '"profile.h"')
        self.assert_refused("traces/a.cpp", '"traces/missing.h"')
        self.assert_refused("traces/a.cpp", '"../plan/plan.h"')


if __name__ == "__main__":
    unittest.main()
