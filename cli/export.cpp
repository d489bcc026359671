// stowage export: timelines for other programs to look at.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/output.h"
#include "traces/error.h"
#include "traces/export/chrome.h"
#include "traces/export/csv.h"
#include "traces/file.h"
#include "traces/json.h"

namespace stowage {
namespace {

class ExportCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"export", "Write timelines as a Chrome trace, for Perfetto, or as a table",
            "stowage export predicted.json measured.json -o trace.json"};
  }

  void declare(CLI::App& app) override {
    app.add_option("TIMELINE", timelines_,
                   "Timelines, as `stowage simulate -o` and `stowage train -o` write them")
        ->required()
        ->type_name("FILE");
    app.add_option("-o,--output", output_,
                   "Where to write; a name that ends in .csv gets a table, one in .json a trace")
        ->required()
        ->type_name("FILE");
    app.add_option("--format", format_, "chrome or csv, whatever the name's end")->type_name("FORMAT");
  }

  Answer run(Output& output) override {
    const bool table = as_table();
    std::vector<Timeline> timelines;
    for (const std::string& file : timelines_) timelines.push_back(read_timeline(file));
    std::size_t spans = 0;
    for (const Timeline& timeline : timelines) spans += timeline.spans.size();
    write_file(output_, table ? to_csv(timelines) : to_chrome_trace(timelines));
    output.answer("Wrote " + std::to_string(spans) + " spans to " + output_ +
                  (table ? "." : "; open it in https://ui.perfetto.dev"));
    output.object(json_of(table ? "csv" : "chrome", spans));
    return Answer::done;
  }

 private:
  bool as_table() const {
    if (!format_.empty() && format_ != "chrome" && format_ != "csv")
      throw InputError("--format", "", "expected one of chrome, csv, not \"" + format_ + "\"");
    if (!format_.empty()) return format_ == "csv";
    if (output_.ends_with(".csv")) return true;
    if (output_.ends_with(".json")) return false;
    throw InputError(
        "--output", "",
        "expected a name that ends in .json or .csv, or --format beside it, not \"" + output_ + "\"");
  }

  std::string json_of(const char* format, std::size_t spans) const {
    JsonWriter json;
    json.begin_object().field("format", format).field("output", output_);
    json.field("timelines", timelines_.size()).field("spans", spans);
    return json.end_object().text();
  }

  std::vector<std::string> timelines_;
  std::string output_, format_;
};

}  // namespace

std::unique_ptr<Command> export_command() {
  return std::make_unique<ExportCommand>();
}

}  // namespace stowage
