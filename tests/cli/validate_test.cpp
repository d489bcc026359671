// `stowage validate`, run as a process.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"
#include "tests/traces/refusal.h"

using namespace stowage;
using namespace stowage::tests;

namespace validate_test {
namespace {

// PixArt's published rows on one GPU.
const std::string table =
    "family,precision,mode,gpu,sec_per_step,peak_gib,status\n"
    "PixArt,bf16,none,H100,1.700,41.73,ok\n"
    "PixArt,bf16,layer,H100,2.433,5.63,ok\n"
    "PixArt,bf16,interval2,H100,2.440,6.01,ok\n"
    "PixArt,bf16,seg2-stride4,H100,2.433,5.63,ok\n"
    "PixArt,bf16,activation-offload,H100,,,unsupported\n";

std::string refused(const Ended& ended) {
  INFO("standard output: " << ended.out << "\nstandard error: " << ended.err);
  REQUIRE(ended.code == 2);
  REQUIRE(ended.out == "");
  REQUIRE(ended.err.starts_with("stowage: "));
  REQUIRE(ended.err.find('\n') == ended.err.size() - 1);
  return ended.err.substr(9, ended.err.size() - 10);
}

std::string refused_table(const std::string& from, const std::string& to) {
  const Workplace workplace;
  workplace.write("sweep.csv", changed(table, from, to));
  return refused(workplace.stowage("validate --table sweep.csv --json"));
}

}  // namespace

// The last measured row repeats `layer`, as if its option did nothing.
TEST_CASE("a table is predicted row by row") {
  const Workplace workplace;
  workplace.write("sweep.csv", table);
  const Ended ended = workplace.stowage("validate --table sweep.csv --json");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.err == "");
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("memory").at("cells").integer() == 1);
  REQUIRE(answer.at("memory").at("median_error").number(0, 1) < 0.01);
  REQUIRE(answer.at("time").at("p90_error").number(0, 1) < 0.01);
  REQUIRE(answer.at("time").at("worst").number(0, 1) < 0.01);
  REQUIRE(answer.at("inert").items().size() == 1);
  REQUIRE(answer.at("inert").items().front().at("mode").string() == "seg2-stride4");
  REQUIRE(answer.at("rows").items().size() == 5);
  const JsonNode row = answer.at("rows").items()[2];
  REQUIRE(row.at("use").string() == "predicted");
  REQUIRE(row.at("peak_gib").number(0, 10) == 6.01);
  REQUIRE(row.at("predicted_peak_gib").number(0, 10) == Approx(5.98).margin(0.01));
  REQUIRE(row.at("predicted_sec_per_step").number(0, 10) == Approx(2.433).margin(0.001));
  REQUIRE(answer.at("rows").items()[4].at("reason").string() == "not measured: unsupported");
}

// PixArt's rows are in the published table: they are left out of what the forecast is made from.
TEST_CASE("a table is forecast without its own rows") {
  const Workplace workplace;
  workplace.write("sweep.csv", table);
  const Ended ended = workplace.stowage("validate --table sweep.csv --from-catalogue --json");
  REQUIRE(ended.code == 0);
  const JsonNode answer = ended.json();
  REQUIRE(answer.at("memory").at("cells").integer() == 3);
  REQUIRE(answer.at("inert").items().size() == 1);
  const JsonNode row = answer.at("rows").items()[0];
  REQUIRE(row.at("use").string() == "predicted");
  REQUIRE(row.at("basis").string() == "interpolated");
  const double predicted = row.at("predicted_peak_gib").number(0, 100);
  REQUIRE(predicted == Approx(41.73).epsilon(0.1));
  REQUIRE(row.at("peak_gib_interval").items()[0].number(0, 100) < predicted);
  REQUIRE(row.at("peak_gib_interval").items()[1].number(0, 100) > predicted);
  REQUIRE(answer.at("within").at("memory_10_percent").number(0, 1) == 1);
}

TEST_CASE("without a table the published one is predicted") {
  const Workplace workplace;
  const Ended ended = workplace.stowage("validate");
  REQUIRE(ended.code == 0);
  REQUIRE(ended.out.find("cells predicted from the rows none and layer") != std::string::npos);
  REQUIRE(ended.out.find("had no effect, and not counted:") != std::string::npos);
}

TEST_CASE("a table without a measurement has no figures") {
  const Workplace workplace;
  workplace.write("sweep.csv", table.substr(0, table.find('\n') + 1));
  const JsonNode answer = workplace.stowage("validate --table sweep.csv --json").json();
  REQUIRE(answer.at("memory").at("cells").integer() == 0);
  REQUIRE(answer.at("memory").at("median_error").is_null());
}

TEST_CASE("wrong tables are refused with file, line and column") {
  REQUIRE(refused_table("peak_gib", "peak") == "sweep.csv: line 1: expected a column \"peak_gib\"");
  REQUIRE(refused_table("2.433", "2,433") == "sweep.csv: line 3: expected 7 cells, got 8");
  REQUIRE(refused_table("5.63", "much") ==
          "sweep.csv: line 3, column peak_gib: expected a number, got \"much\"");
  REQUIRE(refused_table("PixArt,bf16,layer", "Pixel,bf16,layer")
              .starts_with("sweep.csv: line 3, column family: expected a family of the catalogue (PixArt, "));
  const Workplace workplace;
  REQUIRE(refused(workplace.stowage("validate --table none.csv")) ==
          "none.csv: cannot read: No such file or directory");
  REQUIRE(
      refused(workplace.stowage("validate --families machine.json")).starts_with("machine.json: format: "));
}

}  // namespace validate_test
