// stowage validate: how well the simulator predicts what others measured and published.
#include <CLI/CLI.hpp>

#include "cli/check_report.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/shipped_catalogue.h"
#include "cli/sweep_report.h"
#include "traces/error.h"
#include "traces/file.h"
#include "validation/backend_sweep.h"
#include "validation/block_swap.h"
#include "validation/swapped_weights.h"

namespace stowage {
namespace {

class ValidateCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"validate", "Check predictions against published measurements",
            "stowage validate --table sweep.csv --json"};
  }

  void declare(CLI::App& app) override {
    app.add_option("--table", table_,
                   "A sweep of your own: family, precision, mode, gpu, sec_per_step, peak_gib, status (all "
                   "published tables)")
        ->type_name("FILE");
    app.add_option("--families", families_, "Shapes of the table's families (the catalogue that is shipped)")
        ->type_name("FILE");
    app.add_flag("--from-catalogue", from_catalogue_, "Predict every row from the shape alone");
  }

  Answer run(Output& output) override {
    if (from_catalogue_)
      throw InputError("--from-catalogue", "",
                       "predictions from the shape alone are not there yet; without the flag they are made "
                       "from the rows none and layer");
    const SweepReport sweep = predicted_sweep();
    const std::vector<PublishedCheck> checks =
        table_.empty() ? published_checks() : std::vector<PublishedCheck>{};
    say(output, sweep, checks);
    output.object(json_of(sweep, checks));
    return Answer::done;
  }

 private:
  SweepReport predicted_sweep() const {
    const std::vector<Family> families = read_families(families_.empty() ? shipped_families() : families_);
    const std::string table = table_.empty() ? published_table("segmented_checkpointing.csv") : table_;
    const auto rows = parse_file(table, [&](const std::string& text) { return parse_sweep(text, families); });
    return predict_sweep(rows, families);
  }

  static std::vector<PublishedCheck> published_checks() {
    const auto links = parse_file(published_table("links.csv"), parse_links);
    return {check_backends(parse_file(published_table("ffn_vs_layer_sweep.csv"), parse_backends), links),
            check_swaps(parse_file(published_table("block_swap.csv"), parse_swaps), links),
            check_weights(parse_file(published_table("swapped_weights.csv"), parse_weights))};
  }

  static void say(Output& output, const SweepReport& sweep, const std::vector<PublishedCheck>& checks) {
    output.answer(sentence(sweep));
    for (const std::string& part : {families_text(sweep), inert_text(sweep), worst_text(sweep, 8)})
      if (!part.empty()) output.say("\n" + part);
    for (const PublishedCheck& check : checks) output.say("\n" + text_of(check));
  }

  static std::string json_of(const SweepReport& sweep, const std::vector<PublishedCheck>& checks) {
    JsonWriter json;
    json.begin_object();
    write(json, sweep);
    if (!checks.empty()) {
      json.key("checks").begin_array();
      for (const PublishedCheck& check : checks) write(json, check);
      json.end_array();
    }
    return json.end_object().text();
  }

  std::string table_, families_;
  bool from_catalogue_ = false;
};

}  // namespace

std::unique_ptr<Command> validate_command() {
  return std::make_unique<ValidateCommand>();
}

}  // namespace stowage
