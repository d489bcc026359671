// What holds for every trainer in the table, whatever its options are.
#include <random>
#include <set>
#include <string>

#include "tests/catch.h"
#include "tests/simulator/hand_made.h"
#include "tests/tuner/two_lists.h"
#include "traces/error.h"
#include "tuner/choose.h"
#include "tuner/dialects/trainer.h"

using namespace stowage;
using namespace stowage::tests;

namespace {

// Small chains of one group or two, of frozen weights or trained, all figures at random.
BlockTable random_chain(std::mt19937& random) {
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Profile profile = two_lists(draw(3, 5), draw(3, 6));
  const bool trained = draw(0, 3) == 0;
  for (BlockProfile& block : profile.blocks) {
    block.times.forward = {draw(5, 30)};
    block.times.backward = {draw(5, 60)};
    block.times.scope_forward = {Nanos{2}, Nanos{3}, {}};
    block.sizes.input = {draw(1, 6)};
    block.sizes.weight = {draw(5, 80)};
    block.sizes.gradient = trained ? block.sizes.weight : Bytes{1};
    for (SavedTensor& saved : block.saved) saved.bytes = {draw(1, 20)};
  }
  return BlockTable(profile);
}

// Some twelve of them; that each is what it should be is for the trainer's own tests.
std::vector<std::string> families_of(const Trainer& trainer) {
  if (!trainer.families) return {""};
  const std::vector<std::string> all = trainer.families();
  std::vector<std::string> some;
  for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / 12) some.push_back(all[i]);
  return some;
}

// Every shape, with every count of swapped blocks.
template <class Visit>
void for_all(const Dialect& dialect, const BlockTable& table, const Visit& visit) {
  for (const Options& shape : dialect.shapes(table)) {
    visit(shape);
    for (std::int64_t blocks = 1; blocks <= dialect.most_swapped(shape, table); ++blocks) {
      Options options = shape;
      dialect.swap(options, blocks);
      visit(options);
    }
  }
}

}  // namespace

// By brute force over all that it can be told, each priced by itself.
TEST_CASE("of every trainer the choice is the fastest of all that fits") {
  const Machine machine = plain_machine();
  std::mt19937 random(7);
  for (const Trainer& trainer : trainers()) {
    for (const std::string& family : families_of(trainer)) {
      const std::unique_ptr<Dialect> dialect = trainer.dialect(family);
      const BlockTable table = random_chain(random);
      const Run kept = price(table, machine, *dialect, dialect->shapes(table).front()).run;
      for (int percent : {40, 70, 90, 100}) {
        INFO(trainer.name << " " << family << " " << percent);
        const Budget budget{{kept.peaks.device.value * percent / 100}, {1'000'000}, {1'000'000}};
        std::optional<Nanos> fastest;
        for_all(*dialect, table, [&](const Options& options) {
          const Run run = price(table, machine, *dialect, options).run;
          if (fits(run.peaks, budget) && (!fastest || run.step < *fastest)) fastest = run.step;
        });
        const Choice choice = choose(table, machine, budget, *dialect);
        REQUIRE(choice.best.has_value() == fastest.has_value());
        if (!fastest) continue;
        REQUIRE(choice.best->run.step == *fastest);
        REQUIRE(fits(choice.best->run.peaks, budget));
      }
    }
  }
}

TEST_CASE("what is printed for a trainer reads back as what was chosen") {
  std::mt19937 random(11);
  for (const Trainer& trainer : trainers()) {
    for (const std::string& family : families_of(trainer)) {
      const std::unique_ptr<Dialect> dialect = trainer.dialect(family);
      const BlockTable table = random_chain(random);
      for (ConfigFormat format : trainer.file.formats) {
        const std::string form(config_format_names[static_cast<std::size_t>(format)]);
        for_all(*dialect, table, [&](const Options& options) {
          const std::string text = emitted(trainer, form, options);
          const Options read = options_in(trainer, *config_text(format, text), format);
          const Meaning meant = dialect->meaning(options, table), said = dialect->meaning(read, table);
          if (!(said.plan == meant.plan && said.overhead == meant.overhead))
            FAIL(trainer.name << " " << family << "\n" << text);
        });
      }
    }
  }
}

TEST_CASE("no trainer offers options that it warns of") {
  std::mt19937 random(13);
  for (const Trainer& trainer : trainers()) {
    if (trainer.name == "simpletuner") continue;  // whose intervals fall back when blocks swap
    for (const std::string& family : families_of(trainer)) {
      const std::unique_ptr<Dialect> dialect = trainer.dialect(family);
      const BlockTable table = random_chain(random);
      for_all(*dialect, table,
              [&](const Options& options) { REQUIRE(dialect->meaning(options, table).warnings.empty()); });
    }
  }
}

TEST_CASE("trainers have names of their own, and unknown families are refused with those there are") {
  std::set<std::string_view> names{"native"};
  for (const Trainer& trainer : trainers()) {
    REQUIRE(names.insert(trainer.name).second);
    REQUIRE(&trainer_named(trainer.name) == &trainer);
    REQUIRE_FALSE(forms_of(trainer).empty());
    if (trainer.families)
      REQUIRE_THROWS_WITH(trainer.dialect("none of them"), Catch::Matchers::Contains("expected one of"));
  }
}

TEST_CASE("the nearest of the names is found") {
  const std::vector<std::string> names{"musubi", "simpletuner", "sd-scripts"};
  REQUIRE(nearest("mushubi", names) == "musubi");
  REQUIRE(nearest("simple", names) == "simpletuner");
  REQUIRE(nearest("sdscripts", names) == "sd-scripts");
  REQUIRE(nearest("rust", names) == "");
}
