"""Checks the documentation against the program: commands run, links resolve, options and schemas are as the program has them.

    scripts/test-docs [--write] [TEST...]

--write makes docs/options.md anew.
"""

import copy
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PROGRAM = ROOT / "build/core/stowage"
DEMO = ROOT / "tests/report/demo"
CORPUS = ROOT / "tests/fuzz/corpus"
RECORDING = ROOT.parent / "shared/traces/kineto_v100_resnet50_2021.json.gz"  # without it such commands are left out
PAGES = sorted([ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("formats/*.md")])
# Train for real: run by the tests of the torch preset, not here.
WITH_TORCH = {"demo", "profile", "train"}


def stowage(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def place():
    """A folder with what a reader of the documentation has: the files of a demo."""
    folder = tempfile.TemporaryDirectory()
    for file in DEMO.glob("*.json"):
        shutil.copy(file, folder.name)
    shutil.copytree(DEMO, Path(folder.name) / "stowage-demo")
    config = {"model_type": "lora", "model_family": "flux", "gradient_checkpointing": True}
    (Path(folder.name) / "config.json").write_text(json.dumps(config))
    if RECORDING.exists():
        shutil.copy(RECORDING, Path(folder.name) / "trace.json.gz")
    return folder


def commands(page):
    """The lines of its blocks of code that call the program: all but those that a shell has to read."""
    for block in re.findall(r"^```(?:sh)?\n(.*?)^```", page.read_text(), re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("stowage "):
                yield line.split("  #")[0].strip()


class Commands(unittest.TestCase):
    def test_each_runs(self):
        """In the order of its page: later ones use what earlier ones wrote."""
        for page in [each for each in PAGES if each.name in ("first-ten-minutes.md", "recipes.md", "report.md")]:
            with place() as folder:
                for line in commands(page):
                    words = shlex.split(line)[1:]
                    if words[0] in WITH_TORCH or "trace.json.gz" in words and not RECORDING.exists():
                        continue
                    with self.subTest(page=page.name, command=line):
                        ended = stowage(*words, cwd=folder)
                        self.assertIn(ended.returncode, (0, 1), ended.stderr)

    def test_each_is_known(self):
        names = set(re.findall(r"^  (\w+) ", stowage("--help").stdout.split("Subcommands:")[1], re.M))
        for page in PAGES:
            for line in commands(page):
                words = shlex.split(line)
                with self.subTest(page=page.name, command=line):
                    self.assertIn(words[1], names)
                    if words[1] in WITH_TORCH:
                        continue
                    flags = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", stowage(words[1], "--help").stdout))
                    for word in words[2:]:
                        if re.match(r"--?[a-z]", word):
                            self.assertIn(word.split("=")[0], flags)


class Links(unittest.TestCase):
    def test_each_resolves(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
                if "://" in target:
                    continue
                file, _, heading = target.partition("#")
                found = (page.parent / file).resolve() if file else page
                with self.subTest(page=page.name, link=target):
                    self.assertTrue(found.exists())
                    if heading:
                        titles = re.findall(r"^#+ (.*)$", found.read_text(), re.M)
                        slugs = {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}
                        self.assertIn(heading, slugs)


def options_page():
    """Every option once: settings, which several commands take, by themselves."""
    listed = re.findall(r"^  (\w+) ", stowage("--help").stdout.split("Subcommands:")[1], re.M)
    text = "# Options\n\nMade by `scripts/test-docs --write` from what the program says of itself.\n"
    settings = ""
    for name in listed:
        if name in WITH_TORCH:
            continue
        help_text = stowage(name, "--help").stdout
        head, found, rest = help_text.partition("\nSettings:\n")
        if found:
            settings, _, example = rest.partition("\n\n")
            head = head.rstrip() + "\n  and the settings below\n\n" + example
        text += f"\n## stowage {name}\n\n```text\n{head.strip()}\n```\n"
    return text + f"\n## Settings\n\n```text\n{settings.rstrip()}\n```\n"


class Options(unittest.TestCase):
    def test_the_page_is_of_today(self):
        self.assertEqual((DOCS / "options.md").read_text(), options_page(), "run scripts/test-docs --write")


def objects(value, path=()):
    """The paths of all objects of a document."""
    if isinstance(value, dict):
        yield path
        for key, inner in value.items():
            yield from objects(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value[:2]):  # of a list of alike the first two will do
            yield from objects(inner, (*path, index))


def changes(document):
    """Documents that differ from this one by a key that is not there, is wrong, or is too many."""
    for path in objects(document):
        keys = document
        for step in path:
            keys = keys[step]
        for key in [*keys, None]:
            for wrong in ([Ellipsis, "text", -1, [], {}, 1.5, None] if key is not None else [1]):
                changed = copy.deepcopy(document)
                inner = changed
                for step in path:
                    inner = inner[step]
                if wrong is Ellipsis:
                    del inner[key]
                else:
                    inner["unknown" if key is None else key] = wrong
                yield f"{'.'.join(map(str, path))} {key or 'unknown'} {'absent' if wrong is Ellipsis else wrong!r}", changed


class Schemas(unittest.TestCase):
    def agree(self, kind, document, refused):
        """Wherever the schema refuses, the reader does, and the other way round but for what no schema can say."""
        validator = jsonschema.Draft202012Validator(json.loads((DOCS / f"formats/{kind}.schema.json").read_text()))
        self.assertEqual([error.message for error in validator.iter_errors(document)], [])
        self.assertEqual(refused(document), "")
        for name, changed in changes(document):
            with self.subTest(kind=kind, change=name):
                reason = refused(changed)
                if not validator.is_valid(changed):
                    self.assertNotEqual(reason, "", "the schema refuses what the reader takes")
                else:
                    known = ("digest", "a plan for", "at most the block's", "deeper than", "as many strides", "adds up", "blocks as in", "unknown kind",
                             "pinned_counts_on_device", "segment", "swap", "stride", "a saved tensor of block", "offload", "scope", "expected nothing")  # fmt: skip
                    self.assertTrue(reason == "" or any(word in reason for word in known), f"the reader refuses what the schema takes: {reason}")

    def reader(self, name, *arguments):
        folder = place()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / name

        def refused(document):
            file.write_text(json.dumps(document))
            ended = stowage(*arguments, cwd=folder.name)
            return ended.stderr if ended.returncode == 2 else ""

        return refused

    def test_profile(self):
        document = json.loads((CORPUS / "profile/full.json").read_text())
        document["phases"] = {"checkpoint_bytes": 5, "validation_bytes": 5}
        document["blocks"][0]["layers"] = [{"name": "a", "scope": "ffn", "weight_bytes": 1, "forward_ns": 1, "backward_ns": 1}]
        self.agree("profile", document, self.reader("p.json", "simulate", "p.json", "--machine", "machine.json"))

    def test_machine(self):
        document = json.loads((CORPUS / "machine/full.json").read_text())
        document["device"]["memory_bytes"] = document["host"]["memory_bytes"] = document["host"]["pinned_limit_bytes"] = 10**12
        document["links"]["h2d"]["curve"] = [{"bytes": 5, "bytes_per_second": 5}]
        document["ranks"] = {"count": 2, "host_bytes_per_second": 50}
        document["disk"] = {"capacity_bytes": 100, "read": {"bytes_per_second": 5}, "write": {"bytes_per_second": 5}}
        self.agree("machine", document, self.reader("m.json", "simulate", "profile.json", "--machine", "m.json"))

    def test_timeline(self):
        document = json.loads((CORPUS / "timeline/full.json").read_text())
        self.agree("timeline", document, self.reader("t.json", "export", "t.json", "-o", "t.csv"))

    def test_plan(self):
        document = json.loads((DEMO / "plan.json").read_text())
        self.agree("plan", document, self.reader("q.json", "simulate", "profile.json", "--machine", "machine.json", "--plan", "q.json"))


if __name__ == "__main__":
    if "--write" in sys.argv:
        (DOCS / "options.md").write_text(options_page())
    unittest.main(argv=[argument for argument in sys.argv if argument != "--write"])
