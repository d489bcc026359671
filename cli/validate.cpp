// stowage validate: how well the simulator predicts what others measured and published.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/shipped_catalogue.h"
#include "cli/sweep_report.h"
#include "traces/error.h"
#include "traces/file.h"

namespace stowage {
namespace {

class ValidateCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"validate", "Check predictions against published measurements",
            "stowage validate --table sweep.csv --json"};
  }

  void declare(CLI::App& app) override {
    app.add_option(
           "--table", table_,
           "A sweep: family, precision, mode, gpu, sec_per_step, peak_gib, status (the published one)")
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
    const std::vector<Family> families = read_families(families_.empty() ? shipped_families() : families_);
    const std::string table = table_.empty() ? published_table("segmented_checkpointing.csv") : table_;
    const auto rows = parse_file(table, [&](const std::string& text) { return parse_sweep(text, families); });
    const SweepReport report = predict_sweep(rows, families);
    say(output, report);
    JsonWriter json;
    json.begin_object();
    write(json, report);
    output.object(json.end_object().text());
    return Answer::done;
  }

 private:
  static void say(Output& output, const SweepReport& report) {
    output.answer(sentence(report));
    for (const std::string& part : {families_text(report), inert_text(report), worst_text(report, 8)})
      if (!part.empty()) output.say("\n" + part);
  }

  std::string table_, families_;
  bool from_catalogue_ = false;
};

}  // namespace

std::unique_ptr<Command> validate_command() {
  return std::make_unique<ValidateCommand>();
}

}  // namespace stowage
