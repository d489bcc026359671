// What is asked about before a run: a family, its size, how it is trained, and where. From flags to a profile
// and a machine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "forecast/calibration.h"
#include "forecast/forecast_profile.h"
#include "forecast/size.h"
#include "forecast/sweep_forecast.h"

namespace CLI {
class App;
}

namespace stowage {

// Everything that a forecast refers to.
struct ShippedKnowledge {
  std::vector<Family> families;
  std::vector<Gpu> gpus;
  std::vector<SweepRow> published;
};

struct ForecastSubject {
  Family family;  // at the size asked for
  TrainedShape training;
  const Gpu* gpu = nullptr;
  Machine machine;
  FamilyForecast ends;
  std::string known;  // "measured", "interpolated" or "guessed"
  ForecastProfile step;
};

// "none=0.243s/21.25GiB", or without a name. Throws InputError naming --measured.
struct MeasuredText {
  std::string name;
  Reading reading;
};
MeasuredText parse_measured(const std::string& text);

class ForecastFlags {
 public:
  void declare(CLI::App& app);
  // Once: reads the catalogues and fits. Throws InputError naming the flag, with the nearest names.
  void load();
  // With the flags as given, or some of them changed.
  ForecastSubject subject() const { return subject(size_, precision_, rank_); }
  ForecastSubject subject(const SampleSize& size, const std::string& precision, std::int64_t rank) const;

  const Family& family() const { return *family_found_; }
  const SampleSize& size() const { return size_; }
  const std::string& precision() const { return precision_; }
  std::int64_t rank() const { return rank_; }
  // A measurement of the user's by its name ("none", "layer", "").
  std::optional<Reading> measured(const std::string& name) const;
  std::size_t rows() const { return calibration_->rows(); }

 private:
  TrainedShape training(const std::string& precision, std::int64_t rank) const;
  FamilyForecast with_measured(FamilyForecast ends, std::string& known) const;

  std::string family_, gpu_, precision_ = "bf16", adapter_ = "lora", optimizer_ = "adamw",
                             platform_ = "linux";
  std::string families_file_, gpus_file_;
  std::int64_t rank_ = 16;
  SampleSize size_;
  std::optional<Bytes> host_ram_, vram_;
  std::map<std::string, Reading> measured_;
  ShippedKnowledge knowledge_;
  std::unique_ptr<Calibration> calibration_;
  const Family* family_found_ = nullptr;
  const Gpu* gpu_found_ = nullptr;
};

}  // namespace stowage
