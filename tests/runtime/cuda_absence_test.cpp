// What is said and done where there is no CUDA device. With one there is nothing to see here.
#include "runtime/cuda_device.h"
#include "tests/catch.h"
#include "tests/cli/process.h"
#include "traces/error.h"

using namespace stowage;

TEST_CASE("without a CUDA device none is made, and nothing is pinned") {
  if (!why_no_cuda()) return;
  REQUIRE(why_no_cuda()->starts_with("no CUDA device"));
  REQUIRE_THROWS_AS(cuda_machine(), SystemError);
  REQUIRE_THROWS_AS(CudaDevice({}), SystemError);
  REQUIRE(cuda_pinned_memory().take(4096) == nullptr);
}

TEST_CASE("without a CUDA device the commands that are asked for one end with 2 and say why") {
  if (!why_no_cuda()) return;
  const tests::Workplace workplace;
  workplace.write("text", std::string(4096, 'x'));
  for (const char* command :
       {"train --data text --device cuda", "profile --data text -o p.json --device cuda"}) {
    const tests::Ended ended = workplace.stowage(command);
    REQUIRE(ended.code == 2);
    REQUIRE(ended.err.find("there is no CUDA device") != std::string::npos);
    REQUIRE(ended.err.find("expected host") != std::string::npos);
  }
  REQUIRE(!workplace.holds("p.json"));
}
