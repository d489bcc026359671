"""Runs scripts/libtorch with a pip that only pretends, and breaks its cache in the ways that a cache breaks."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "scripts" / "libtorch"

# Found before the real pip. It counts its calls, writes a small torch into --target in PIP_TAKES seconds, and does as
# PIP_DOES says.
PRETENDED_PIP = """
    import os, pathlib, sys, time
    if sys.argv[1] == "--version":
        sys.exit()
    target = pathlib.Path(sys.argv[sys.argv.index("--target") + 1])
    with open(os.environ["PIP_CALLS"], "a") as calls:
        calls.write(" ".join(sys.argv[1:]) + "\\n")
    (target / "torch/lib").mkdir(parents=True)
    (target / "torch/include").mkdir()
    (target / "torch/lib/libc10.so").write_bytes(b"x" * 10)
    if os.environ.get("PIP_DOES") == "fail":
        sys.exit("no network")
    time.sleep(float(os.environ.get("PIP_TAKES", "0")))
    (target / "torch/lib/libtorch_cpu.so").write_bytes(b"x" * 1000)
"""


class LibTorchCache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "python/pip").mkdir(parents=True)
        (self.folder / "python/pip/__init__.py").touch()
        (self.folder / "python/pip/__main__.py").write_text(textwrap.dedent(PRETENDED_PIP))
        self.calls = self.folder / "calls"
        self.cache = self.folder / "cache"

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items() if k != "LIBTORCH_ROOT"}
        return {**kept, "PYTHONPATH": str(self.folder / "python"), "PIP_CALLS": str(self.calls),
                "STOWAGE_CACHE": str(self.cache), **more}

    def start(self, verb, **more):
        # -S hides a torch and a pip that this Python may really have.
        return subprocess.Popen([sys.executable, "-S", PROGRAM, verb], env=self.environment(**more), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_program(self, verb, **more):
        process = self.start(verb, **more)
        out, err = process.communicate()
        return process.returncode, out.strip(), err

    def pip_calls(self):
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0

    def install(self):
        code, found, said = self.run_program("install")
        self.assertEqual(code, 0, said)
        root = Path(found)
        self.assertEqual((root / "lib/libtorch_cpu.so").stat().st_size, 1000)
        return root

    def assert_repaired(self, root, because):
        """`find` refuses what is there and says why; `install` calls pip once more, and then all is well."""
        before = self.pip_calls()
        code, found, said = self.run_program("find")
        self.assertEqual((code, found), (1, ""))
        self.assertIn(because, said)
        self.assertEqual(self.install(), root)
        self.assertEqual(self.pip_calls(), before + 1)
        self.assertEqual(self.run_program("find")[:2], (0, str(root)))

    def test_installs_once(self):
        self.assertEqual(self.run_program("find")[0], 1)
        root = self.install()
        self.assertEqual(self.install(), root)
        self.assertEqual(self.run_program("find")[:2], (0, str(root)))
        self.assertEqual(self.pip_calls(), 1)
        self.assertIn("torch==2.11.0", self.calls.read_text())

    def test_a_file_cut_short_is_repaired(self):
        root = self.install()
        (root / "lib/libtorch_cpu.so").write_bytes(b"x" * 999)
        self.assert_repaired(root, "torch/lib/libtorch_cpu.so has 999 bytes instead of 1000")

    def test_a_missing_file_is_repaired(self):
        root = self.install()
        (root / "lib/libc10.so").unlink()
        self.assert_repaired(root, "lacks torch/lib/libc10.so")

    def test_a_missing_or_broken_manifest_is_repaired(self):
        root = self.install()
        manifest = root.parent / "stowage-manifest.json"
        manifest.unlink()
        self.assert_repaired(root, "half done")
        for text in ('{"torch/lib', "{}"):
            manifest.write_text(text)
            self.assert_repaired(root, "half done")

    def test_a_failed_download_leaves_nothing_that_counts(self):
        code, found, said = self.run_program("install", PIP_DOES="fail")
        self.assertEqual((code, found), (1, ""))
        self.assertIn("no network", said)
        self.assertIn("pip could not install torch", said)
        self.assertNotIn("Traceback", said)
        self.assertEqual(self.run_program("find")[0], 1)
        self.install()

    def test_what_a_killed_installer_left_is_cleared(self):
        leftover = self.cache / "torch-2.11.0-cpu.partial" / "torch/lib"
        other = self.cache / "torch-2.11.0-cuda.partial" / "torch/lib"
        for folder in (leftover, other):
            folder.mkdir(parents=True)
            (folder / "libtorch_cpu.so").write_bytes(b"half")
        root = self.install()
        self.assertFalse(root.parent.with_name(root.parent.name + ".partial").exists())

    def test_two_installers_at_once_call_pip_once(self):
        both = [self.start("install", PIP_TAKES="0.2") for _ in range(2)]
        found = {process.communicate()[0] for process in both}
        self.assertEqual([process.returncode for process in both], [0, 0])
        self.assertEqual(len(found), 1)
        self.assertEqual(self.pip_calls(), 1)

    def test_a_folder_that_is_named_is_taken_and_never_repaired(self):
        root = self.folder / "mine"
        (root / "lib").mkdir(parents=True)
        code, _, said = self.run_program("install", LIBTORCH_ROOT=str(root))
        self.assertEqual(code, 1)
        self.assertIn(str(root), said)
        (root / "include").mkdir()
        self.assertEqual(self.run_program("install", LIBTORCH_ROOT=str(root))[:2], (0, str(root)))
        self.assertEqual(self.pip_calls(), 0)

    def write_python_torch(self, version):
        package = self.folder / "python/torch"
        package.mkdir()
        (package / "__init__.py").write_text("raise SystemExit('torch was imported')")
        (package / "version.py").write_text(f"__version__ = '{version}'\n")
        return package

    def test_the_active_pythons_torch_is_found_without_importing_it(self):
        package = self.write_python_torch("2.11.0+cu130")
        self.assertEqual(self.run_program("install")[:2], (0, str(package)))
        self.assertEqual(self.pip_calls(), 0)

    def test_an_old_torch_of_the_active_python_is_passed_over(self):
        self.write_python_torch("2.5.1")
        code, _, said = self.run_program("find")
        self.assertEqual(code, 1)
        self.assertIn("2.6 or later", said)
        self.assertIn("torch-2.11.0", self.run_program("install")[1])


if __name__ == "__main__":
    unittest.main()
