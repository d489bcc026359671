"""Opens reports in headless Chromium: what they say, do and look like.

    scripts/test-report [--approve] [TEST...]

Screenshots are compared with those in approved/, at a quarter of their size and with some tolerance, so that letters may
be drawn a little otherwise. --approve replaces them: look at them before they are committed.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "build/core/stowage"
DEMO = HERE / "demo"  # what `stowage demo` left on a machine with two cores
HOSTILE = "</script><img src=x onerror='window.harmed=1'><b>&amp;"
FIRST_VIEW_S = 1
approve = False


def stowage(*arguments):
    subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def chain(name, blocks):
    """A profile of equal blocks and a machine that they nearly fill."""
    profile = {
        "format": "stowage.profile", "version": 1, "name": name,
        "fixed": {"resident_bytes": 10**8, "output_bytes": 2 * 10**6, "epilogue_ns": 6 * 10**6, "optimizer_ns": 4 * 10**6},
        "blocks": [{
            "name": "block", "count": blocks, "forward_ns": 10**7, "backward_ns": 2 * 10**7, "input_bytes": 2 * 10**6,
            "weight_bytes": 2 * 10**7, "gradient_bytes": 10**5, "forward_workspace_bytes": 3 * 10**6,
            "backward_workspace_bytes": 4 * 10**6,
            "saved": [{"name": "qkv", "bytes": 22 * 10**6, "scope": "attention"}, {"name": "hidden", "bytes": 28 * 10**6, "scope": "ffn"}],
        }],
    }  # fmt: skip
    link = {"bytes_per_second": 4 * 10**9, "latency_ns": 10**4}
    machine = {
        "format": "stowage.machine", "version": 1, "name": "machine", "device": {"memory_bytes": blocks * 60 * 10**6},
        "host": {"memory_bytes": 10**12}, "links": {"h2d": link, "d2h": link},
    }  # fmt: skip
    return profile, machine


class Reports:
    """The pages that are opened, made by the program."""

    def __init__(self, folder):
        self.folder = Path(folder)
        files = ["--profile", DEMO / "profile.json", "--machine", DEMO / "machine.json", "--plan", DEMO / "plan.json"]
        self.demo = self.make("demo", DEMO / "predicted.json", DEMO / "measured.json", *files)
        self.long = self.chain("long", "1,000 blocks", 1000)
        self.hostile = self.chain("hostile", HOSTILE, 3)
        empty = {
            "format": "stowage.timeline", "version": 1, "source": "measured", "name": HOSTILE, "step_ns": 0, "compute_ns": 0,
            "spans": [], "memory": {"device": [], "host": []}, "stalls": [], "counters": {},
        }  # fmt: skip
        self.empty = self.make("empty", self.write("empty.json", empty))
        huge = dict(empty, step_ns=2**63 - 1, memory={"device": [{"at_ns": 2**63 - 1, "bytes": 2**63 - 1}], "host": []})
        huge["spans"] = [{"lane": "compute", "step": "forward", "block": 2**32 - 1, "begin_ns": 0, "end_ns": 2**63 - 1}]
        self.huge = self.make("huge", self.write("huge.json", huge))
        self.strange = self.make("strange", self.folder / "huge.json", *files)  # of another model

    def write(self, name, content):
        path = self.folder / name
        path.write_text(json.dumps(content))
        return path

    def make(self, name, *arguments):
        path = self.folder / f"{name}.html"
        stowage("report", *arguments, "-o", path)
        return path

    def chain(self, name, title, blocks):
        profile, machine = chain(title, blocks)
        slower = json.loads(json.dumps(machine))
        slower["links"]["h2d"]["bytes_per_second"] //= 2
        profile = self.write(f"{name}-profile.json", profile)
        machine, slower = self.write(f"{name}-machine.json", machine), self.write(f"{name}-slower.json", slower)
        runs = [self.folder / f"{name}-{run}.json" for run in (1, 2)]
        for run, on in zip(runs, (machine, slower)):
            stowage("simulate", profile, "--machine", on, "--vram", "1TB", "--policy", "offload", "-o", run)
        return self.make(name, *runs, "--profile", profile, "--machine", machine, "--policy", "offload")


def setUpModule():
    global playwright, browser, reports, place
    place = tempfile.TemporaryDirectory()
    reports = Reports(place.name)
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])


def tearDownModule():
    browser.close()
    playwright.stop()
    place.cleanup()


class BrowserTest(unittest.TestCase):
    def open(self, report, **options):
        """A page that fails the test at its end if it wrote to the console, threw, or asked for another file."""
        context = browser.new_context(viewport={"width": 1240, "height": 900}, **options)
        self.addCleanup(context.close)
        page, faults = context.new_page(), []
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: request.url != report.as_uri() and faults.append(request.url))
        page.goto(report.as_uri())
        if report.name != "empty.html":
            page.wait_for_selector("#block-table td")
        self.addCleanup(lambda: self.assertEqual(faults, []))
        return page

    def lane(self, page, index=0):
        """Where a row of the timeline is drawn: its left end, its middle and its width."""
        row = page.evaluate(f"(({{ top, height }}) => top + height / 2)(laneChart.rows[{index}])")
        page.locator("#lanes").scroll_into_view_if_needed()
        box = page.locator("#lanes").bounding_box()
        return box["x"] + 104, box["y"] + row, box["width"] - 118

    def length(self, page):
        return page.evaluate("axis.to - axis.from")


class Opens(BrowserTest):
    def test_every_report(self):
        for report in (reports.demo, reports.long, reports.hostile, reports.empty, reports.huge, reports.strange):
            with self.subTest(report.name):
                self.open(report)

    def test_first_view_within_a_second(self):
        """Of the processor's time, since others may be using this machine."""
        for report in (reports.demo, reports.long):
            with self.subTest(report.name):
                page = browser.new_page(viewport={"width": 1240, "height": 900})
                self.addCleanup(page.close)
                session = page.context.new_cdp_session(page)
                session.send("Performance.enable", {"timeDomain": "threadTicks"})
                page.goto(report.as_uri())
                page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
                metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
                self.assertLess(metrics["TaskDuration"], FIRST_VIEW_S)

    def test_a_page_of_a_hundred_blocks_is_below_2_mb(self):
        self.assertLess(reports.chain("hundred", "100 blocks", 100).stat().st_size, 2 * 10**6)

    def test_names_are_text(self):
        for report in (reports.hostile, reports.empty):
            page = self.open(report)
            self.assertEqual(page.locator("h1").text_content(), HOSTILE)
            self.assertIsNone(page.evaluate("window.harmed || null"))
            self.assertEqual(page.locator("img, #answer b").count(), 0)

    def test_the_answer_is_there_without_scripts(self):
        context = browser.new_context(java_script_enabled=False)
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(reports.demo.as_uri())
        self.assertIn("a step takes", page.locator(".answer").text_content())


class Works(BrowserTest):
    def test_zoom(self):
        page = self.open(reports.demo)
        whole = self.length(page)
        page.click("#zoom-in")
        self.assertAlmostEqual(self.length(page), whole / 2, delta=1)
        page.click("#zoom-out")
        self.assertAlmostEqual(self.length(page), whole, delta=1)
        left, middle, width = self.lane(page)
        page.mouse.move(left + width * 0.25, middle)
        page.mouse.down()
        page.mouse.move(left + width * 0.35, middle, steps=4)
        page.mouse.up()
        self.assertAlmostEqual(self.length(page), whole / 10, delta=whole / 100)
        page.dblclick("#lanes", position={"x": 300, "y": 60})
        self.assertAlmostEqual(self.length(page), whole, delta=1)
        page.focus("#lanes")
        page.keyboard.press("+")
        self.assertAlmostEqual(self.length(page), whole / 2, delta=1)
        page.keyboard.press("0")
        self.assertAlmostEqual(self.length(page), whole, delta=1)

    def test_hover(self):
        page = self.open(reports.demo)
        left, middle, width = self.lane(page)
        page.mouse.move(left + width * 0.2, middle)
        self.assertIn("Forward of block", page.locator("#tip").text_content())
        page.locator("#memory .chart").first.hover(position={"x": 400, "y": 100})
        self.assertRegex(page.locator("#tip").text_content(), r"MiB at .*ms, predicted.*saved for the backward")

    def test_selection(self):
        page = self.open(reports.demo)
        left, middle, width = self.lane(page)
        page.mouse.click(left + width * 0.2, middle)
        first = page.locator("#span-detail").text_content()
        self.assertRegex(first, "Forward of block .*predicted: .*ms, from")
        self.assertEqual(page.locator("tr.marked").count(), 1)
        page.keyboard.press("ArrowRight")
        self.assertNotEqual(page.locator("#span-detail").text_content(), first)
        page.keyboard.press("ArrowDown")
        self.assertRegex(page.locator("#span-detail").text_content(), "^(Restore|Load|Store)")
        page.locator("#block-table tbody button").nth(3).click()
        self.assertIn("of block 3", page.locator("#span-detail").text_content())

    def test_what_if(self):
        page = self.open(reports.demo)
        answers = set()
        for value in ("budgets_least", "half", "most"):
            page.evaluate("""(value) => {
                const slider = document.getElementById('budget'), least = Number(slider.min), most = Number(slider.max);
                slider.value = { budgets_least: least, half: (least + most) / 2, most }[value];
                slider.dispatchEvent(new Event('input'));
            }""", value)
            answers.add(page.locator("#budget-answer").text_content())
        self.assertEqual(len(answers), 3)
        self.assertIn("Nothing in this file fits so little.", answers)
        page.locator(".dot[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        self.assertEqual(page.locator(".dot[aria-checked='true']").count(), 1)

    def test_copy(self):
        page = self.open(reports.demo, permissions=["clipboard-read", "clipboard-write"])
        page.locator("#copy button").first.click()
        shown = page.locator("#copy pre").first.text_content()
        self.assertTrue(shown.startswith("--policy"))
        self.assertEqual(page.evaluate("navigator.clipboard.readText()"), shown)
        self.assertIn("Copied.", page.locator("#copy [role=status]").first.text_content())

    def test_sorting_blocks(self):
        page = self.open(reports.long)
        page.locator("#block-table thead button").first.click()
        self.assertTrue(page.locator("#block-table tbody th").first.text_content().startswith("999"))


class Looks(BrowserTest):
    def assert_as_approved(self, name, picture):
        path, small = HERE / "approved" / f"{name}.png", Path(place.name) / f"{name}.png"
        with Image.open(picture) as full:
            full.convert("RGB").reduce(4).quantize(64).save(small, optimize=True)
        if approve:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(small.read_bytes())
        with Image.open(path) as approved, Image.open(small) as seen:
            approved, seen = approved.convert("RGB"), seen.convert("RGB")
            self.assertEqual(approved.size[0], seen.size[0])
            self.assertAlmostEqual(approved.size[1], seen.size[1], delta=8, msg=f"{name}: the height")
            height = min(approved.size[1], seen.size[1])
            box = (0, 0, approved.size[0], height)
            difference = ImageStat.Stat(ImageChops.difference(approved.crop(box), seen.crop(box))).mean
        if max(difference) >= 3:
            kept = Path(tempfile.gettempdir()) / f"stowage-report-{name}.png"
            kept.write_bytes(Path(picture).read_bytes())
            self.fail(f"{name} differs by {max(difference):.1f} of 255 from {path}; see {kept}")

    def shoot(self, name, report, height=None, **options):
        page, picture = self.open(report, **options), Path(place.name) / f"{name}-full.png"
        if height:
            page.set_viewport_size({"width": 1240, "height": height})
        page.screenshot(path=picture, full_page=not height)
        self.assert_as_approved(name, picture)

    def test_light(self):
        self.shoot("demo-light", reports.demo, color_scheme="light")

    def test_dark(self):
        self.shoot("demo-dark", reports.demo, color_scheme="dark")

    def test_a_thousand_blocks(self):
        self.shoot("long", reports.long, height=1600)

    def test_on_paper(self):
        page = self.open(reports.demo, color_scheme="dark")
        self.assertGreater(len(page.pdf(format="A4")), 20000)
        page.emulate_media(media="print")
        self.assertFalse(page.locator(".bar").is_visible())

    def test_narrow(self):
        page = self.open(reports.demo)
        page.set_viewport_size({"width": 420, "height": 900})
        page.wait_for_timeout(100)
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 420)

    def test_accessibility(self):
        for scheme in ("light", "dark"):
            for report in (reports.demo, reports.hostile, reports.empty):
                with self.subTest(f"{report.name}, {scheme}"):
                    page = self.open(report, color_scheme=scheme)
                    for details in page.locator("summary").all():
                        details.click()
                    found = Axe().run(page).response["violations"]
                    self.assertEqual([(each["id"], [node["target"] for node in each["nodes"]]) for each in found], [])


if __name__ == "__main__":
    approve = "--approve" in sys.argv
    unittest.main(argv=[argument for argument in sys.argv if argument != "--approve"])
