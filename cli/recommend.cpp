// stowage recommend: what to set before anything was measured.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/prediction.h"
#include "cli/quantity.h"
#include "cli/recommendation.h"
#include "cli/table.h"
#include "traces/error.h"
#include "traces/json.h"

namespace stowage {
namespace {

constexpr std::size_t rows_shown = 8;

std::string gib_text(double bytes) {
  return readable(Bytes{std::llround(bytes)});
}

std::string seconds_text(double seconds) {
  return readable(Nanos{std::llround(seconds * 1e9)});
}

std::string with_interval(const std::string& middle, const std::string& low, const std::string& high) {
  return middle + " (" + low + " to " + high + ")";
}

const char* room_name(Room room) {
  return room == Room::fits ? "fits" : room == Room::may_fit ? "may fit" : "too large";
}

// A change to what was asked that could make it fit, mildest first.
struct Change {
  std::string words;
  SampleSize size;
  std::string precision;
  std::int64_t rank;
};

std::vector<Change> changes_of(const ForecastFlags& flags) {
  std::vector<Change> changes;
  const SampleSize size = flags.size();
  const auto add = [&](const std::string& words, const SampleSize& other, const std::string& precision,
                       std::int64_t rank) {
    changes.push_back({words, other, precision, rank});
  };
  if (flags.rank() > 16) add("--lora-rank 16", size, flags.precision(), 16);
  if (size.batch.value_or(1) > 1) {
    SampleSize one = size;
    one.batch = 1;
    add("--batch 1", one, flags.precision(), flags.rank());
  }
  for (const char* precision : {"int8", "nf4"})
    if (flags.precision() != precision && flags.precision() != "nf4")
      add(std::string("--precision ") + precision, size, precision, flags.rank());
  const Family& family = flags.family();
  if (family.sampling) {
    const std::int64_t frames = size.frames.value_or(family.sampling->frames);
    const std::int64_t side = size.resolution.value_or(family.sampling->resolution);
    for (const std::int64_t part : {2, 4}) {
      SampleSize fewer = size;
      fewer.frames = (frames - 1) / part + 1;
      if (frames > 1)
        add("--frames " + std::to_string(*fewer.frames), fewer, flags.precision(), flags.rank());
    }
    for (const std::int64_t percent : {75, 50}) {
      SampleSize smaller = size;
      smaller.resolution = side * percent / 100;
      if (*smaller.resolution >= family.sampling->pixels_per_token)
        add("--resolution " + std::to_string(*smaller.resolution), smaller, flags.precision(), flags.rank());
    }
    SampleSize smallest = size;
    smallest.resolution = std::max(family.sampling->pixels_per_token, side / 2);
    smallest.batch = 1;
    add("--precision nf4 --batch 1 --resolution " + std::to_string(*smallest.resolution), smallest, "nf4",
        flags.rank());
  } else {
    SampleSize shorter = size;
    for (std::int64_t tokens = size.tokens.value_or(4096) / 2; tokens >= 256; tokens /= 2) {
      shorter.tokens = tokens;
      add("--tokens " + std::to_string(tokens), shorter, flags.precision(), flags.rank());
      add("--precision nf4 --tokens " + std::to_string(tokens), shorter, "nf4", flags.rank());
    }
  }
  return changes;
}

class RecommendCommand final : public Command {
 public:
  CommandTitle title() const override {
    return {"recommend", "What to set before a run, from the catalogue of models and GPUs",
            "stowage recommend --family flux1-dev --gpu rtx4090 --resolution 1024 --lora-rank 16"};
  }

  void declare(CLI::App& app) override {
    flags_.declare(app);
    app.add_option("--trainer", trainer_,
                   "In whose words (simpletuner where it trains the family, or native)")
        ->type_name("NAME");
    app.add_option("--trainer-family", trainer_family_, "The trainer's name for the model (the catalogue's)")
        ->type_name("NAME");
    app.add_option("--with", with_, "An option of the trainer's that you have: it is priced as it stands")
        ->type_name("KEY=VALUE");
  }

  Answer run(Output& output) override {
    flags_.load();
    choose_trainer();
    const ForecastSubject subject = flags_.subject();
    const std::optional<RecommendedRow> standing = priced_standing(subject);
    const Recommendation answer = priced(subject);
    std::optional<std::string> change;
    if (!answer.any()) change = nearest_change();
    output.answer(sentence(subject, answer, change));
    if (standing) say_standing(output, *standing);
    output.say("\n" + table_of(subject, answer));
    if (answer.any()) output.say(words_of(answer.rows.front()) + advice(answer));
    output.say("\n" + ground(subject, answer));
    output.object(json_of(subject, answer, standing, change));
    return answer.any() ? Answer::done : Answer::no;
  }

 private:
  void choose_trainer() {
    const std::string& own = flags_.family().facts.trainer_family;
    const std::string wanted = !trainer_.empty() ? trainer_ : own.empty() ? "native" : "simpletuner";
    if (wanted == "native") return;
    try {
      chosen_ = &trainer_named(wanted);
    } catch (const InputError& error) {
      throw InputError("--trainer", "", error.reason());
    }
    if (trainer_family_.empty() && !chosen_->family_is.empty()) {
      if (wanted == "simpletuner" && own.empty())
        throw InputError("--trainer", "",
                         "SimpleTuner does not train " + flags_.family().name +
                             "; leave the flag out for settings of this program's own");
      trainer_family_ = wanted == "simpletuner" ? own : flags_.family().facts.id;
    }
  }

  Recommendation priced(const ForecastSubject& subject) const {
    return blaming(trainer_family_.empty() ? "--trainer" : "--trainer-family",
                   [&] { return recommend(subject, chosen_, trainer_family_); });
  }

  // Throws InputError naming --with, in the trainer's sense, where it would refuse to start.
  std::optional<RecommendedRow> priced_standing(const ForecastSubject& subject) const {
    if (with_.empty()) return std::nullopt;
    if (chosen_ == nullptr)
      throw InputError("--with", "", "expected with a --trainer whose options they are");
    Options options;
    for (const std::string& pair : with_) {
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos)
        throw InputError("--with", "", "expected KEY=VALUE, not \"" + pair + "\"");
      const std::string key = pair.substr(0, equals);
      const std::vector<std::string> keys(chosen_->file.keys.begin(), chosen_->file.keys.end());
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        const std::string near = nearest(key, keys);
        throw InputError("--with", "",
                         "no option of " + std::string(chosen_->title) + "'s about memory: \"" + key + "\"" +
                             (near.empty() ? "" : "; did you mean " + near + "?"));
      }
      options.insert_or_assign(key, value_of(pair.substr(equals + 1)));
    }
    return blaming("--with", [&] { return as_it_stands(subject, *chosen_, trainer_family_, options); });
  }

  static OptionValue value_of(const std::string& text) {
    if (text == "true" || text == "false") return text == "true";
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) return number;
    return text;
  }

  static void say_standing(Output& output, const RecommendedRow& row) {
    output.say("\nAs you have it: " + row.settings + ", " + interval_of(row.forecast.seconds) + " a step, " +
               peak_of(row) + ": " + room_name(row.room) + ".");
    for (const std::string& warning : row.warnings) output.say("  " + warning);
  }

  // The mildest change with which something fits.
  std::optional<std::string> nearest_change() const {
    for (const Change& change : changes_of(flags_)) {
      try {
        if (priced(flags_.subject(change.size, change.precision, change.rank)).any()) return change.words;
      } catch (const InputError&) {
        continue;  // of what the family, or training in full, does not allow
      }
    }
    return std::nullopt;
  }

  std::string sentence(const ForecastSubject& subject, const Recommendation& answer,
                       const std::optional<std::string>& change) const {
    const std::string what = subject.family.name + " on " + subject.gpu->name;
    if (!answer.any())
      return what + ": nothing fits " + readable(subject.machine.device.usable()) + "; the least would be " +
             gib_text(static_cast<double>(answer.rows.front().run.peaks.on_device().value)) + ". " +
             (change ? "The nearest change with which something fits: " + *change + "."
                     : "No change that was tried makes it fit.");
    const RecommendedRow& best = answer.rows.front();
    return what + ": " + best.settings + ", " + interval_of(best.forecast.seconds) + " a step, " +
           peak_of(best) + " of " + readable(subject.machine.device.usable()) +
           (best.room == Room::fits ? "." : "; it may not fit.");
  }

  static std::string interval_of(const Estimate& seconds) {
    return with_interval(seconds_text(seconds.middle), seconds_text(seconds.low), seconds_text(seconds.high));
  }

  static std::string peak_of(const RecommendedRow& row) {
    const Estimate& bytes = row.forecast.bytes;
    return with_interval(gib_text(bytes.middle), gib_text(bytes.low), gib_text(bytes.high));
  }

  static std::string table_of(const ForecastSubject& subject, const Recommendation& answer) {
    Table table;
    table.row({"", "a step", "nine of ten", "device peak", "nine of ten", "host", "pinned", "to spare", ""});
    const double usable = static_cast<double>(subject.machine.device.usable().value);
    for (std::size_t i = 0; i < std::min(rows_shown, answer.rows.size()); ++i) {
      const RecommendedRow& row = answer.rows[i];
      const Estimate &seconds = row.forecast.seconds, &bytes = row.forecast.bytes;
      const double spare = usable - bytes.middle;
      table.row({row.settings, seconds_text(seconds.middle),
                 seconds_text(seconds.low) + " to " + seconds_text(seconds.high), gib_text(bytes.middle),
                 gib_text(bytes.low) + " to " + gib_text(bytes.high), readable(row.run.peaks.host),
                 readable(row.run.peaks.host_pinned), spare > 0 ? gib_text(spare) : "none",
                 room_name(row.room)});
    }
    return table.text();
  }

  std::string words_of(const RecommendedRow& best) const {
    std::string text = "\n";
    if (chosen_ != nullptr) {
      text += "For " + std::string(chosen_->title) + ":\n" +
              emitted(*chosen_, forms_of(*chosen_).front(), best.options) + "\n";
    } else if (best.native) {
      text += "As flags: " + flags_of(*best.native) + "\n";
    }
    for (const std::string& warning : best.warnings) text += "  " + warning + "\n";
    return text;
  }

  // What saves more, if the first runs out of memory all the same.
  static std::string advice(const Recommendation& answer) {
    const RecommendedRow& best = answer.rows.front();
    const RecommendedRow* smaller = nullptr;
    for (const RecommendedRow& row : answer.rows)
      if (row.run.peaks.on_device() < best.run.peaks.on_device() &&
          (smaller == nullptr || row.forecast.seconds.middle < smaller->forecast.seconds.middle))
        smaller = &row;
    if (smaller == nullptr) return "If it runs out of memory: nothing that was considered takes less.\n";
    return "If it runs out of memory: " + smaller->settings + ", " +
           gib_text(
               static_cast<double>((best.run.peaks.on_device() - smaller->run.peaks.on_device()).value)) +
           " less.\n";
  }

  std::string ground(const ForecastSubject& subject, const Recommendation& answer) const {
    std::string text = "  " + std::to_string(answer.considered) + " configurations; forecast from " +
                       std::to_string(flags_.rows()) + " published rows, " + subject.known +
                       (subject.known == "guessed" ? ": no row is of this family" : "") + ".\n";
    if (subject.known != "measured")
      text +=
          "  Two steps of your own make it sharper: --measured none=SECONDS/SIZE --measured "
          "layer=SECONDS/SIZE\n";
    return text;
  }

  static void write_estimate(JsonWriter& json, const char* key, const Estimate& estimate) {
    json.key(key).begin_array();
    for (const double value : {estimate.low, estimate.middle, estimate.high}) json.value(value);
    json.end_array();
  }

  static void write_recommended(JsonWriter& json, const RecommendedRow& row) {
    json.field("settings", row.settings).field("room", room_name(row.room));
    write_run(json, row.run);
    write_estimate(json, "seconds", row.forecast.seconds);
    write_estimate(json, "device_bytes", row.forecast.bytes);
    write_texts(json, "warnings", row.warnings);
    json.end_object();
  }

  std::string json_of(const ForecastSubject& subject, const Recommendation& answer,
                      const std::optional<RecommendedRow>& standing,
                      const std::optional<std::string>& change) const {
    JsonWriter json;
    json.begin_object().field("outcome", answer.any() ? "ran" : "out_of_memory");
    json.field("basis", subject.known).field("considered", answer.considered);
    json.field("usable_bytes", subject.machine.device.usable());
    if (change) json.field("nearest_change", *change);
    if (answer.any() && chosen_ != nullptr)
      json.field("emitted", emitted(*chosen_, forms_of(*chosen_).front(), answer.rows.front().options));
    if (standing) write_recommended(json.key("configured").begin_object(), *standing);
    json.key("rows").begin_array();
    for (const RecommendedRow& row : answer.rows) write_recommended(json.begin_row(), row);
    json.end_array();
    return json.end_object().text();
  }

  ForecastFlags flags_;
  std::string trainer_, trainer_family_;
  std::vector<std::string> with_;
  const Trainer* chosen_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> recommend_command() {
  return std::make_unique<RecommendCommand>();
}

}  // namespace stowage
