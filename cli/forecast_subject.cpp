#include "cli/forecast_subject.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "cli/inputs.h"
#include "cli/quantity.h"
#include "cli/shipped_catalogue.h"
#include "traces/error.h"
#include "traces/file.h"
#include "tuner/dialects/trainer.h"
#include "validation/published_figures.h"

namespace stowage {
namespace {

// Of a model that was measured in two steps, how far the simulator is off at nine of ten other steps.
constexpr double memory_after_measuring = 0.02, time_after_measuring = 0.08;

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

[[noreturn]] void refuse_name(const std::string& flag, const std::string& given,
                              const std::vector<std::string>& names) {
  std::string near = nearest(given, names);
  // Cards are known by their number.
  const std::size_t number = given.find_first_of("0123456789");
  if (near.empty() && number != std::string::npos) {
    const std::string digits = given.substr(number, given.find_first_not_of("0123456789", number) - number);
    for (const std::string& name : names)
      if (digits.size() > 1 && name.find(digits) != std::string::npos)
        near += (near.empty() ? "" : " or ") + name;
  }
  throw InputError(flag, "",
                   "no such name: \"" + given + "\"" +
                       (near.empty() ? "; there are " + names_text(names) : "; did you mean " + near + "?"));
}

void add_size_count(CLI::App& app, const std::string& flag, std::optional<std::int64_t>& into,
                    std::int64_t most, const std::string& help) {
  const auto take = [=, &into](const std::string& text) { into = parse_count(flag, text, 1, most); };
  app.add_option_function<std::string>(flag, take, help)->type_name("COUNT");
}

Platform platform_of(const std::string& name) {
  return name == "windows" ? Platform::windows : name == "wsl2" ? Platform::wsl2 : Platform::linux;
}

OptimizerKind optimizer_of(const std::string& name) {
  const std::vector<std::string> names{"adamw", "adamw-fp32", "adamw-8bit", "lion", "adafactor", "sgd"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<OptimizerKind>(i);
  refuse_name("--optimizer-name", name, names);
}

Estimate around(double value, double share) {
  return {value * (1 - share), value, value * (1 + share)};
}

StepForecast as_measured(const Reading& reading) {
  return {around(seconds_of(reading.step), time_after_measuring),
          around(static_cast<double>(reading.peak.value), memory_after_measuring), true};
}

void scale(Estimate& estimate, double by) {
  estimate = {estimate.low * by, estimate.middle * by, estimate.high * by};
}

// How far a way of training is from the published one, in the unit of sizes: what differs adds to what the
// rows leave open.
double unlikeness(const Recipe& a, const Recipe& b) {
  constexpr double other_kind = 1, other_figures = 0.3;
  if (a.adapter != b.adapter || a.streamed_weights != b.streamed_weights) return other_kind;
  return a.rank == b.rank && a.optimizer == b.optimizer ? 0 : other_figures;
}

}  // namespace

MeasuredText parse_measured(const std::string& text) {
  const std::string expected = "expected seconds and peak, as in none=0.243s/21.25GiB, not \"" + text + "\"";
  MeasuredText measured;
  std::string rest = text;
  if (const std::size_t equals = rest.find('='); equals != std::string::npos) {
    measured.name = rest.substr(0, equals);
    rest = rest.substr(equals + 1);
  }
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos) throw InputError("--measured", "", expected);
  std::string seconds = rest.substr(0, slash);
  if (seconds.ends_with("s/it")) seconds.resize(seconds.size() - 4);
  if (seconds.ends_with('s')) seconds.pop_back();
  double value = 0;
  const auto [end, error] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
  constexpr double most_seconds = 1e6;
  if (error != std::errc{} || end != seconds.data() + seconds.size() || !(value > 0) || value > most_seconds)
    throw InputError("--measured", "", expected);
  measured.reading = {nanos_of(value), parse_size("--measured", rest.substr(slash + 1))};
  if (measured.reading.peak <= Bytes{}) throw InputError("--measured", "", expected);
  return measured;
}

void ForecastFlags::declare(CLI::App& app) {
  app.add_option("--family", family_, "The model family, by its name in the catalogue")
      ->required()
      ->type_name("NAME");
  app.add_option("--gpu", gpu_, "The GPU, by its name in the catalogue")->required()->type_name("NAME");
  constexpr std::int64_t most_side = 16384, most_frames = 4096, most_tokens = 1 << 20, most_batch = 256;
  add_size_count(app, "--resolution", size_.resolution, most_side,
                 "Side of a square of as many pixels (the catalogue's)");
  add_size_count(app, "--frames", size_.frames, most_frames, "Of a video (the catalogue's)");
  add_size_count(app, "--tokens", size_.tokens, most_tokens, "Length of a sequence, of language models");
  add_size_count(app, "--batch", size_.batch, most_batch, "Samples a step (1)");
  add_count(app, "--lora-rank", rank_, 1, 16384, "Rank of the adapters (16)");
  app.add_option("--train", adapter_, "What is trained: adapters, or all weights (lora)")
      ->type_name("KIND")
      ->check(CLI::IsMember({"lora", "full"}));
  app.add_option("--precision", precision_, "How frozen weights are held (bf16)")->type_name("NAME");
  app.add_option("--optimizer-name", optimizer_,
                 "adamw, adamw-fp32, adamw-8bit, lion, adafactor or sgd (adamw)")
      ->type_name("NAME");
  app.add_option("--platform", platform_, "What the machine runs (linux)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"linux", "wsl2", "windows"}));
  add_size(app, "--vram", vram_, "Device memory, instead of the GPU's");
  add_size(app, "--host-ram", host_ram_, "Host memory (what such a GPU is usually in)");
  app.add_option_function<std::vector<std::string>>(
         "--measured",
         [this](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const MeasuredText measured = parse_measured(text);
             if (!measured_.emplace(measured.name, measured.reading).second)
               throw InputError("--measured", "", "expected \"" + measured.name + "\" once");
           }
         },
         "A step that you measured: none=0.243s/21.25GiB with nothing checkpointed, layer=... with every "
         "block")
      ->type_name("[NAME=]SECONDS/SIZE");
  app.add_option("--families", families_file_, "A catalogue of families of your own")->type_name("FILE");
  app.add_option("--gpus", gpus_file_, "A catalogue of GPUs of your own")->type_name("FILE");
}

void ForecastFlags::load() {
  knowledge_.families = read_families(families_file_.empty() ? shipped_families() : families_file_);
  knowledge_.gpus = read_gpus(gpus_file_.empty() ? shipped_gpus() : gpus_file_);
  // Rows of families that a catalogue of the user's own lacks are nothing to it.
  const std::vector<Family> shipped = read_families(shipped_families());
  knowledge_.published = parse_file(published_table("segmented_checkpointing.csv"),
                                    [&](const std::string& text) { return parse_sweep(text, shipped); });
  family_found_ = find_family(knowledge_.families, family_);
  if (family_found_ == nullptr || family_found_->groups.empty()) {
    std::vector<std::string> names;
    for (const Family& family : knowledge_.families)
      if (!family.groups.empty()) names.push_back(family.facts.id.empty() ? family.name : family.facts.id);
    refuse_name("--family", family_, names);
  }
  gpu_found_ = find_gpu(knowledge_.gpus, gpu_);
  if (gpu_found_ == nullptr) {
    std::vector<std::string> names;
    for (const Gpu& gpu : knowledge_.gpus) names.push_back(gpu.id);
    refuse_name("--gpu", gpu_, names);
  }
  if (!size_.batch) size_.batch = 1;
  calibration_ = std::make_unique<Calibration>(knowledge_.published, knowledge_.families, knowledge_.gpus);
}

std::optional<Reading> ForecastFlags::measured(const std::string& name) const {
  const auto found = measured_.find(name);
  return found == measured_.end() ? std::nullopt : std::optional(found->second);
}

TrainedShape ForecastFlags::training(const std::string& precision, std::int64_t rank) const {
  TrainedShape training;
  const auto held = precision_of(precision);
  if (!held) refuse_name("--precision", precision, precision_names());
  training.precision = *held;
  training.recipe.adapter = adapter_ == "full" ? AdapterKind::full : AdapterKind::lora;
  training.recipe.rank = rank;
  training.recipe.optimizer = optimizer_of(optimizer_);
  if (training.recipe.adapter == AdapterKind::full && training.precision != Precision::bf16)
    throw InputError("--precision", "", "expected bf16 with --train full: what is trained is not quantised");
  return training;
}

FamilyForecast ForecastFlags::with_measured(FamilyForecast ends, std::string& known) const {
  const auto none = measured("none"), layer = measured("layer");
  if (none && layer) {
    known = "measured";
    return {as_measured(*none), as_measured(*layer)};
  }
  if (!none && !layer) return ends;
  // One of the two moves the other by as much.
  const StepForecast& forecast = none ? ends.none : ends.layer;
  const Reading& reading = none ? *none : *layer;
  const double seconds = seconds_of(reading.step) / forecast.seconds.middle;
  const double bytes = static_cast<double>(reading.peak.value) / forecast.bytes.middle;
  for (StepForecast* end : {&ends.none, &ends.layer}) {
    scale(end->seconds, seconds);
    scale(end->bytes, bytes);
  }
  (none ? ends.none : ends.layer) = as_measured(reading);
  return ends;
}

ForecastSubject ForecastFlags::subject(const SampleSize& size, const std::string& precision,
                                       std::int64_t rank) const {
  ForecastSubject subject;
  subject.family = sized(*family_found_, size);
  subject.training = training(precision, rank);
  subject.gpu = gpu_found_;
  subject.machine = machine_of(*gpu_found_, platform_of(platform_), host_ram_);
  if (vram_) {
    subject.machine.device.memory = *vram_;
    if (subject.machine.device.usable() <= Bytes{})
      throw InputError(
          "--vram", "",
          "less than the " + readable(subject.machine.device.reserved) + " that the driver takes");
  }
  // A run of the table that was not compiled, where the family's was.
  const std::string label = family_found_->name + (family_found_->recipe.compiled ? " (no-compile)" : "");
  subject.ends = calibration_->forecast(subject.family, label, subject.training, *gpu_found_,
                                        unlikeness(*family_found_, subject.family) +
                                            unlikeness(family_found_->recipe, subject.training.recipe));
  subject.known = subject.ends.none.interpolated ? "interpolated" : "guessed";
  subject.ends = with_measured(subject.ends, subject.known);
  subject.step = forecast_profile(subject.family, subject.training, *gpu_found_, subject.ends.basis(),
                                  calibration_->model());
  return subject;
}

}  // namespace stowage
