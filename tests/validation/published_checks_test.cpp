// Published tables other than the sweep: small ones by hand, and the shipped ones.
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/traces/refusal.h"
#include "traces/file.h"
#include "validation/backend_sweep.h"
#include "validation/block_swap.h"
#include "validation/published_figures.h"
#include "validation/swapped_weights.h"

using namespace stowage;
using namespace stowage::tests;

namespace published_checks_test {
namespace {

// A GiB a second each way.
const std::vector<LinkRow> links = parse_links("gpu,h2d_gib_per_second,d2h_gib_per_second\nslow,1.0,1.0\n");

const std::string backends =
    "gpu,layers,width,tokens,mode,seconds,peak_gib\n"
    "slow,3,1024,524288,none,9,40.00\n"
    "slow,3,1024,524288,torch-ffn,9,33.00\n"
    "slow,3,1024,524288,unsloth-ffn,9,31.00\n"
    "slow,3,1024,524288,torch-layer,12,22.00\n"
    "slow,3,1024,524288,unsloth-layer,15,21.00\n";

const std::string swaps =
    "gpu,label,pass,blocks,block_mib,forward_ms,resident_ms,swapped_ms,resident_gib,swapped_gib\n"
    "slow,one,training,2,1024,1000,8000,9200.5,,\n"
    "slow,two,forward,2,1024,1000,2000,3200,,\n"
    "slow,three,training,2,1024,1000,8000,9200,5.00,5.00\n";

const std::string weights =
    "label,blocks,swapped,tensors_mib,device_gib,host_gib,locked_gib\n"
    "one,3,1,3;5,1,0.0078125,0.01171875\n"
    "one,3,2,3;5,0.9921875,0.015625,0.0234375\n";

std::string shipped(const std::string& name) {
  return read_file(source_folder() + "/catalogue/published/" + name);
}

}  // namespace

// An activation is 524288 * 1024 * 2 bytes = 1 GiB; a block keeps 9 besides its input. In GiB:
//   none           3 blocks' inputs, output, its gradient or that of an input, 3 * 9:  5 + 27     = 32, so R
//   = 8 torch-layer    the same with one block's 9:                                       5 + 9      = 14
//   unsloth-layer  input 1 is away, inputs 0 (no result of autograd) and 2 are there: 14 - 1     = 13
//   torch-ffn      inputs and output, 4 and what the ffn starts from thrice, 5 and the output again: 25
//   unsloth-ffn    two of the three tensors from which the ffn starts are away:       25 - 2     = 23
// A forward takes 1 s, a backward 2 s. unsloth-layer: input 2 leaves from 3 to 4 s and is back at 5 s; blocks
// 2 to 8 s; input 1 is back at 9 s, block 1 to 12 s, block 0 to 15 s.
TEST_CASE("checkpoint backends by hand") {
  const PublishedCheck check = check_backends(parse_backends(backends), links);
  REQUIRE(check.rows.size() == 4);
  for (const CheckRow& row : check.rows) {
    INFO(row.label << " " << gib_of(row.memory->predicted));
    REQUIRE(row.memory->predicted == row.memory->measured);
  }
  REQUIRE(!check.rows[2].time);
  REQUIRE(check.rows[3].time->predicted == nanos_of(15));
  // Done again, of 1 s: the hidden layer's 4 * 1024^2 of 8 * 1024^2 + 2 * 524288 * 1024 multiplications.
  REQUIRE(seconds_of(check.rows[0].time->predicted) == Approx(9 + 3 * 4.0 / (8 + 1024)));
}

// Links of 1 GiB/s: a block's load takes 1 s. Loads 0-1, 1-2 beside F0, 2-3 beside F1 (for block 0 again);
// then R1 B1 R0 B0 take 6 s: 9 s. Measured 9.2 s, so a copy slows compute by a tenth, twice for a second. A
// forward pass ends after the first load and two slowed forwards: 3.2 s. Peak: both blocks' weights of 5 GiB.
TEST_CASE("block swap by hand") {
  const std::vector<SwapRow> rows = parse_swaps(swaps);
  REQUIRE(contended(machine_with_links(links, "slow"), rows[0]).links.compute_slowdown == 0.1);
  const PublishedCheck check = check_swaps(rows, links);
  REQUIRE(!check.rows[0].time);
  REQUIRE(seconds_of(check.rows[1].time->predicted) == Approx(3.2));
  REQUIRE(seconds_of(check.rows[2].time->predicted) == Approx(9.2));
  REQUIRE(check.rows[2].memory->predicted == bytes_of(5));
}

// 3 and 5 MiB of a block are locked as 4 and 8. A second block swapped takes 8 MiB more off the device.
TEST_CASE("swapped weights by hand") {
  const PublishedCheck check = check_weights(parse_weights(weights));
  REQUIRE(check.rows.size() == 5);
  for (const CheckRow& row : check.rows) {
    INFO(row.label);
    REQUIRE(row.memory->predicted == row.memory->measured);
  }
}

TEST_CASE("wrong tables of checks are refused with line and column") {
  const auto backend = [](const std::string& from, const std::string& to) {
    return refusal(parse_backends, changed(backends, from, to));
  };
  REQUIRE(backend("torch-ffn", "torch-mlp").starts_with("line 3, column mode: expected none, torch-ffn, "));
  REQUIRE(backend("3,1024", ",1024") == "line 2, column layers: expected a whole number, got \"\"");
  REQUIRE(backend("40.00", "0") ==
          "line 2, column peak_gib: expected a number from 1e-09 to 1e+06, got \"0\"");
  const auto swap = [](const std::string& from, const std::string& to) {
    return refusal(parse_swaps, changed(swaps, from, to));
  };
  REQUIRE(swap("training", "both") == "line 2, column pass: expected training or forward, got \"both\"");
  REQUIRE(swap("5.00,5.00", "5.00,") ==
          "line 4, column swapped_gib: expected both peaks or neither, got \"\"");
  const auto weight = [](const std::string& from, const std::string& to) {
    return refusal(parse_weights, changed(weights, from, to));
  };
  REQUIRE(weight("3;5", "3;") ==
          "line 2, column tensors_mib: expected whole numbers with ; between them, got \"3;\"");
  REQUIRE(weight("3,1,", "3,4,") == "line 2, column swapped: expected a whole number from 1 to 3, got \"4\"");
  REQUIRE(refusal([](const std::string& text) { check_backends(parse_backends(text), links); },
                  changed(backends, "none", "torch-ffn"))
              .find("no row none of slow, 3 layers") != std::string::npos);
  REQUIRE(refusal([](const std::string& text) { check_backends(parse_backends(text), {}); }, backends) ==
          ": no links are known of the GPU \"slow\"");
}

TEST_CASE("the shipped tables are predicted within the bounds") {
  const std::vector<LinkRow> shipped_links = parse_links(shipped("links.csv"));
  const PublishedCheck backend =
      check_backends(parse_backends(shipped("ffn_vs_layer_sweep.csv")), shipped_links);
  REQUIRE(backend.memory().cells == 32);
  REQUIRE(backend.memory().median <= 0.005);
  REQUIRE(backend.memory().worst <= 0.03);
  REQUIRE(backend.time().cells == 24);
  REQUIRE(backend.time().worst <= 0.08);
  const PublishedCheck swap = check_swaps(parse_swaps(shipped("block_swap.csv")), shipped_links);
  REQUIRE(swap.time().cells == 9);
  REQUIRE(swap.time().median <= 0.02);
  REQUIRE(swap.time().worst <= 0.09);
  REQUIRE(swap.memory().worst <= 0.01);
  const PublishedCheck weight = check_weights(parse_weights(shipped("swapped_weights.csv")));
  REQUIRE(weight.memory().cells == 5);
  REQUIRE(weight.memory().worst <= 0.001);
}

}  // namespace published_checks_test
