// `stowage completion` and `stowage man`: from the options as they are declared.
#include <string>

#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// What bash offers for the last of these words.
std::string offered(const Workplace& workplace, const std::string& words) {
  workplace.write(
      "ask.sh",
      "source ./stowage.bash\nCOMP_WORDS=(" + words +
          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_stowage\necho \"${COMPREPLY[*]}\" > answer\n");
  workplace.stowage("--version", "bash ./ask.sh;");
  const std::string answer = workplace.read("answer");
  return answer.substr(0, answer.find('\n'));
}

}  // namespace

TEST_CASE("bash completes commands, options, choices and files") {
  const Workplace workplace;
  const Ended ended = workplace.stowage("completion bash");
  REQUIRE(ended.code == 0);
  workplace.write("stowage.bash", ended.out);
  REQUIRE(offered(workplace, "stowage sim") == "simulate");
  REQUIRE(offered(workplace, "stowage simulate --interv") == "--interval");
  REQUIRE(offered(workplace, "stowage simulate --policy re") == "recompute recompute+offload");
  REQUIRE(offered(workplace, "stowage tune --plans f") == "free");
  REQUIRE(offered(workplace, "stowage simulate prof") == "profile.json");
  REQUIRE(offered(workplace, "stowage simulate --plan mach") == "machine.json");
}

TEST_CASE("zsh and fish get the same options") {
  const Workplace workplace;
  const std::string zsh = workplace.stowage("completion zsh").out,
                    fish = workplace.stowage("completion fish").out;
  REQUIRE(zsh.starts_with("#compdef stowage\n"));
  REQUIRE(zsh.find("'*--segmenting[Segments, or every n-th block by itself]:contiguous|every-nth:(contiguous "
                   "every-nth)'") != std::string::npos);
  REQUIRE(
      fish.find("-n '__fish_seen_subcommand_from simulate' -l segmenting -x -a 'contiguous every-nth' -d") !=
      std::string::npos);
  REQUIRE(workplace.stowage("completion tcsh").code == 2);
}

TEST_CASE("the manual has every command with an example, and so has its help") {
  const Workplace workplace;
  const std::string manual = workplace.stowage("man").out;
  REQUIRE(manual.starts_with(".TH STOWAGE 1"));
  for (const char* command : {"demo", "profile", "train", "import", "replay", "simulate", "tune", "compare",
                              "export", "report", "validate", "explain", "doctor", "completion", "man"}) {
    CAPTURE(command);
    REQUIRE(manual.find(std::string(".SS stowage ") + command + "\n") != std::string::npos);
    const Ended help = workplace.stowage(std::string(command) + " --help");
    REQUIRE(help.code == 0);
    REQUIRE(help.out.find("Example:\n  ") != std::string::npos);
  }
  REQUIRE(manual.find("\\fB\\-\\-segmenting\\fR \\fIcontiguous|every\\-nth\\fR") != std::string::npos);
}
