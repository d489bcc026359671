// stowage validate: how well the simulator predicts what others measured and published.
#include <CLI/CLI.hpp>

#include "cli/check_report.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/shipped_catalogue.h"
#include "cli/sweep_report.h"
#include "forecast/sweep_forecast.h"
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
    app.add_flag("--from-catalogue", from_catalogue_,
                 "Predict every row, none and layer too, from the catalogue and other published rows");
  }

  Answer run(Output& output) override {
    if (from_catalogue_) return forecast(output);
    const SweepReport sweep = predicted_sweep();
    const std::vector<PublishedCheck> checks =
        table_.empty() ? published_checks() : std::vector<PublishedCheck>{};
    say(output, sweep, checks);
    output.object(json_of(sweep, checks));
    return Answer::done;
  }

 private:
  std::vector<Family> families() const {
    return read_families(families_.empty() ? shipped_families() : families_);
  }

  static std::vector<SweepRow> published_rows(const std::vector<Family>& families) {
    return rows_of(published_table("segmented_checkpointing.csv"), families);
  }

  static std::vector<SweepRow> rows_of(const std::string& table, const std::vector<Family>& families) {
    return parse_file(table, [&](const std::string& text) { return parse_sweep(text, families); });
  }

  SweepReport predicted_sweep() const {
    const std::vector<Family> known = families();
    return predict_sweep(table_.empty() ? published_rows(known) : rows_of(table_, known), known);
  }

  // Of a table without any of its own rows; of the published one by cross-validation.
  Answer forecast(Output& output) const {
    const std::vector<Family> known = families();
    const std::vector<Gpu> gpus = read_gpus(shipped_gpus());
    const std::vector<SweepRow> published = published_rows(known);
    JsonWriter json;
    json.begin_object();
    if (table_.empty()) {
      const SweepForecast by_family = forecast_by_family(published, known, gpus);
      const SweepForecast by_gpu = forecast_by_gpu(published, known, gpus);
      output.answer("Each family from the others: " + sentence(by_family));
      output.answer("Each family's GPU from the other one too: " + sentence(by_gpu));
      say_rows(output, by_family.report);
      write(json, by_family);
      write_shares(json.key("by_gpu"), by_gpu);
    } else {
      const SweepForecast forecast = forecast_sweep(rows_of(table_, known), published, known, gpus);
      output.answer(sentence(forecast));
      say_rows(output, forecast.report);
      write(json, forecast);
    }
    output.object(json.end_object().text());
    return Answer::done;
  }

  static void say_rows(Output& output, const SweepReport& report) {
    for (const std::string& part : {families_text(report), inert_text(report), worst_text(report, 8)})
      if (!part.empty()) output.say("\n" + part);
  }

  static std::vector<PublishedCheck> published_checks() {
    const auto links = parse_file(published_table("links.csv"), parse_links);
    return {check_backends(parse_file(published_table("ffn_vs_layer_sweep.csv"), parse_backends), links),
            check_swaps(parse_file(published_table("block_swap.csv"), parse_swaps), links),
            check_weights(parse_file(published_table("swapped_weights.csv"), parse_weights))};
  }

  static void say(Output& output, const SweepReport& sweep, const std::vector<PublishedCheck>& checks) {
    output.answer(sentence(sweep));
    say_rows(output, sweep);
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
