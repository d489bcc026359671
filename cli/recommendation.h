// The settings that a trainer can be told, priced for a subject and ranked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/forecast_subject.h"
#include "simulator/outcome.h"
#include "tuner/choose.h"
#include "tuner/dialects/trainer.h"
#include "tuner/tuner.h"

namespace stowage {

// How a forecast peak lies to what there is: all of its interval below, its middle, or not even that.
enum class Room : std::uint8_t { fits, may_fit, too_large };

struct RecommendedRow {
  std::string settings;  // in words
  Options options;       // of the trainer; none for native settings
  std::optional<Settings> native;
  Run run;
  RowForecast forecast;
  Room room = Room::too_large;
  std::vector<std::string> warnings;
};

struct Recommendation {
  std::vector<RecommendedRow>
      rows;  // that fit or may, surest first and then fastest; where none does the least
  std::int64_t considered = 0;

  bool any() const { return !rows.empty() && rows.front().room != Room::too_large; }
};

// `trainer` absent: settings of this program's own. Throws as the trainer's dialect does.
Recommendation recommend(const ForecastSubject& subject, const Trainer* trainer,
                         const std::string& trainer_family);

// One set of the trainer's options, as it stands.
RecommendedRow as_it_stands(const ForecastSubject& subject, const Trainer& trainer,
                            const std::string& trainer_family, const Options& options);

}  // namespace stowage
