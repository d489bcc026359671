// A small sweep by hand, and the published one.
#include "validation/sweep.h"

#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/traces/refusal.h"
#include "tests/validation/small_family.h"
#include "traces/file.h"
#include "validation/published_figures.h"

using namespace stowage;
using namespace stowage::tests;

namespace sweep_test {
namespace {

const std::string headings = "family,precision,mode,gpu,sec_per_step,peak_gib,status\n";

// Four blocks whose input is a GiB each: 1024 tokens of width 1024, batch 256, four bytes a number.
Family gib_family() {
  Family family = small_family(Segmenting::every_nth);
  family.batch = 256;
  family.activation_bytes = 4;
  family.groups.front().shape.image_tokens = 1024;
  family.groups.front().shape.width = 1024;
  family.groups.front().shape.ffn_width = 4096;
  return family;
}

std::vector<Family> two_families() {
  Family whole;
  whole.name = "whole";
  return {gib_family(), whole};
}

SweepReport report_of(const std::string& rows) {
  return predict_sweep(parse_sweep(headings + rows, two_families()), two_families());
}

std::string refused(const std::string& text) {
  return refusal([](const std::string& table) { parse_sweep(table, two_families()); }, text);
}

SweepReport published(const std::vector<Family>& families) {
  return predict_sweep(
      parse_sweep(read_file(source_folder() + "/catalogue/published/segmented_checkpointing.csv"), families),
      families);
}

}  // namespace

TEST_CASE("modes by their names") {
  REQUIRE(mode_of("none") == SweepMode{});
  REQUIRE(mode_of("layer") == SweepMode{true, 1, std::nullopt});
  REQUIRE(mode_of("interval3") == SweepMode{true, 3, std::nullopt});
  REQUIRE(mode_of("seg2-stride4") == SweepMode{true, 2, 4});
  for (const char* other : {"", "interval", "interval0", "interval2x", "seg4-stride2", "seg2-stride4-offload",
                            "activation-offload", "layer/unsloth"})
    REQUIRE(!mode_of(other));
}

// 6 X + 4 S + R = 30 and 6 X + S + R = 18 GiB: S = 4, R = 8. Every second block: 6 + 8 + 8 = 22 GiB, half of
// the 4 s that checkpointing adds: 12 s. Measured 20 and 10: both off by a tenth of 20 and a fifth of 10.
TEST_CASE("a row is compared with its prediction") {
  const SweepReport report = report_of(
      "small,bf16,none,H100,10.0,30.00,ok\nsmall,bf16,layer,H100,14.0,18.00,ok\n"
      "small,bf16,interval2,H100,10.0,20.00,ok\nsmall,bf16,offload,H100,10.0,20.00,ok\n"
      "small,bf16,seg2-stride4,H100,,,OOM\n");
  REQUIRE(report.answers[0].use == RowUse::basis);
  REQUIRE(report.answers[1].use == RowUse::basis);
  REQUIRE(report.answers[2].use == RowUse::predicted);
  REQUIRE(report.answers[2].predicted == Reading{nanos_of(12), bytes_of(22)});
  REQUIRE(report.answers[3].reason == "does more than checkpoint");
  REQUIRE(report.answers[4].reason == "not measured: OOM");
  REQUIRE(report.memory.cells == 1);
  REQUIRE(report.memory.worst == Approx(0.1));
  REQUIRE(report.time.worst == Approx(0.2));
}

// 18.01 is 18.00 as far as it is printed, while 22 GiB were predicted. 18.02 is not.
TEST_CASE("an option that did nothing is named, not counted") {
  const auto use = [](const std::string& peak) {
    return report_of(
               "small,bf16,none,H100,10.0,30.00,ok\nsmall,bf16,layer,H100,14.0,18.00,ok\n"
               "small,bf16,interval2,H100,14.0," +
               peak + ",ok\n")
        .answers.back()
        .use;
  };
  REQUIRE(use("18.00") == RowUse::inert);
  REQUIRE(use("18.01") == RowUse::inert);
  REQUIRE(use("17.99") == RowUse::inert);
  REQUIRE(use("18.02") == RowUse::predicted);
  REQUIRE(use("30.00") == RowUse::inert);  // as if nothing were checkpointed
}

// By the shape a block keeps 4 GiB: checkpointing should free 12 of 30.
TEST_CASE("checkpointing that did nothing leaves no basis") {
  const SweepReport report = report_of(
      "small,bf16,none,H100,10.0,30.00,ok\nsmall,bf16,layer,H100,10.0,30.00,ok\n"
      "small,bf16,interval2,H100,10.0,30.00,ok\nsmall,bf16,seg2-stride4,H100,10.0,29.00,ok\n");
  REQUIRE(report.answers[0].reason == "layer frees nothing that none holds");
  REQUIRE(report.answers[1].use == RowUse::inert);
  REQUIRE(report.answers[2].use == RowUse::inert);
  REQUIRE(report.answers[3].use == RowUse::left_out);
  REQUIRE(report.memory.cells == 0);
}

// Where none ran out of memory the shape still says that half the blocks should keep 8 GiB more.
TEST_CASE("an inert row without a row none") {
  const SweepReport report = report_of(
      "small,bf16,none,H100,,,OOM\nsmall,bf16,layer,H100,14.0,18.00,ok\n"
      "small,bf16,interval2,H100,14.0,18.00,ok\nsmall,bf16,seg2-stride4,H100,12.0,22.00,ok\n");
  REQUIRE(report.answers[1].reason == "no row none to predict from");
  REQUIRE(report.answers[2].use == RowUse::inert);
  REQUIRE(report.answers[3].reason == "no row none to predict from");
}

TEST_CASE("a family without the option") {
  const SweepReport report = report_of(
      "whole,bf16,none,H100,10.0,30.00,ok\nwhole,bf16,layer,H100,14.0,18.00,ok\n"
      "whole,bf16,interval2,H100,14.0,18.00,ok\nwhole,bf16,seg2-stride4,H100,14.0,17.00,ok\n");
  REQUIRE(report.answers[1].use == RowUse::left_out);
  REQUIRE(report.answers[2].use == RowUse::inert);
  REQUIRE(report.answers[2].reason == "the family has no such option");
  REQUIRE(report.answers[3].use == RowUse::left_out);
}

TEST_CASE("wrong tables are refused with line and column") {
  const std::string good = headings + "small,bf16,none,H100,1.5,30.00,ok\n";
  REQUIRE(refused(good) == "accepted");
  REQUIRE(refused(changed(good, "sec_per_step", "seconds")) == "line 1: expected a column \"sec_per_step\"");
  REQUIRE(refused(changed(good, "1.5", "fast")) ==
          "line 2, column sec_per_step: expected a number, got \"fast\"");
  REQUIRE(refused(changed(good, "30.00", "")) == "line 2, column peak_gib: expected a number, got \"\"");
  REQUIRE(refused(changed(good, "1.5,30.00", ",")) ==
          "line 2, column sec_per_step: expected a number, got \"\"");
  REQUIRE(refused(changed(good, "1.5", "0")) ==
          "line 2, column sec_per_step: expected a number from 1e-09 to 1e+09, got \"0\"");
  REQUIRE(refused(changed(good, "small", "large")) ==
          "line 2, column family: expected a family of the catalogue (small, whole), got \"large\"");
  REQUIRE(refused(good + "small,bf16,none,H100,1.5,30.00,ok\n") ==
          "line 3, column mode: expected one not yet given on line 2, got \"none\"");
}

// The median of four is the mean of the middle two, nine of ten of four are all four.
TEST_CASE("figures of errors") {
  REQUIRE(figures_of({}) == ErrorFigures{});
  REQUIRE(figures_of({-4, 1, 2, 3}) == ErrorFigures{4, 2.5, 4, 4});
  REQUIRE(figures_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) == ErrorFigures{10, 5.5, 9, 10});
}

// The bounds that the project sets itself: memory 0.5 % in the median and 3 % at nine of ten, time 8 % at
// nine of ten; in each half of the families as well.
TEST_CASE("the published sweep is predicted within the bounds") {
  const std::vector<Family> families = read_families(source_folder() + "/catalogue/families.json");
  const SweepReport report = published(families);
  REQUIRE(report.memory.cells >= 70);
  REQUIRE(report.memory.median <= 0.005);
  REQUIRE(report.memory.p90 <= 0.03);
  REQUIRE(report.time.p90 <= 0.08);
  for (std::size_t half : {0, 1}) {
    std::vector<SweepAnswer> own;
    for (const SweepAnswer& answer : report.answers)
      if (static_cast<std::size_t>(find_family(families, answer.row.family) - families.data()) % 2 == half)
        own.push_back(answer);
    const SweepReport part = SweepReport::of(own);
    INFO("half " << half << ": " << part.memory.cells << " cells, memory " << part.memory.median << " "
                 << part.memory.p90 << " " << part.memory.worst << ", time " << part.time.median << " "
                 << part.time.p90 << " " << part.time.worst);
    REQUIRE(part.memory.cells >= 20);
    REQUIRE(part.memory.median <= 0.005);
    REQUIRE(part.memory.p90 <= 0.03);
    REQUIRE(part.time.p90 <= 0.08);
  }
}

// Families whose published rows show no effect, by the tables' own account, and one that shows it.
TEST_CASE("the published rows without effect are named") {
  const SweepReport report = published(read_families(source_folder() + "/catalogue/families.json"));
  const auto inert = [&](const std::string& family) {
    std::size_t rows = 0;
    for (const SweepAnswer& answer : report.answers)
      if (answer.row.family == family && answer.use == RowUse::inert) ++rows;
    return rows;
  };
  REQUIRE(inert("AnyFlow Distillation on Anima") == 12);
  REQUIRE(inert("Cosmos 2 Image") == 12);
  REQUIRE(inert("Krea 2") == 15);
  REQUIRE(inert("Qwen Image") == 12);
  REQUIRE(inert("Krea 2 (no-compile)") == 0);
  REQUIRE(inert("PixArt") == 0);
}

}  // namespace sweep_test
