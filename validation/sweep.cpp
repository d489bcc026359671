#include "validation/sweep.h"

#include <cmath>
#include <map>
#include <tuple>

#include "validation/published_figures.h"

namespace stowage {
namespace {

// What a prediction of a peak is good for: a smaller effect cannot be told from none.
constexpr double least_effect = 0.01;

// The rows of one family, precision and GPU, and what they give.
class Bench {
 public:
  Bench(const Family& family, const SweepRow* none, const SweepRow* layer)
      : family_(family), none_(measured(none)), layer_(measured(layer)) {
    if (!family.segmenting) return;
    if (none_ && layer_ && !same_peak(*none_, *layer_)) {
      calibration_ = calibrate(family_, *none_->measured, *layer_->measured);
      if (const auto* step = std::get_if<FamilyStep>(&calibration_)) step_ = *step;
    }
    if (!step_ && none_) estimate_ = step_from_shape(family_, none_->measured->peak, std::nullopt);
    if (!step_ && !none_ && layer_)
      estimate_ = step_from_shape(family_, layer_->measured->peak, settings_of(*mode_of("layer"), family_));
  }

  Bench(const Family& family, const SweepRow* none, const SweepRow* layer, const SweepBasis& basis)
      : family_(family), none_(measured(none)), layer_(measured(layer)), forecast_(basis) {
    if (!family.segmenting || basis.none.peak <= basis.layer.peak) return;
    calibration_ = calibrate(family_, basis.none, basis.layer);
    if (const auto* step = std::get_if<FamilyStep>(&calibration_)) step_ = *step;
  }

  SweepAnswer answer(const SweepRow& row) const {
    if (forecast_) return forecast_answer(row);
    SweepAnswer answer{row, RowUse::left_out, std::nullopt, ""};
    const auto mode = mode_of(row.mode);
    if (!row.measured) return because(answer, RowUse::left_out, "not measured: " + row.status);
    if (!mode) return because(answer, RowUse::left_out, "does more than checkpoint");
    if (!family_.segmenting) return without_option(answer);
    if (step_) answer.predicted = predict(*step_, family_, settings_of(*mode, family_));
    if (step_ && is_basis(row)) {
      answer.use = RowUse::basis;
      return answer;
    }
    if (const SweepRow* null = null_of(row); null != nullptr && should_differ(answer, *mode, *null))
      return because(answer, RowUse::inert, "peak as of " + null->mode + ", though it should differ");
    if (!step_) return because(answer, RowUse::left_out, no_basis());
    answer.use = RowUse::predicted;
    return answer;
  }

 private:
  SweepAnswer forecast_answer(const SweepRow& row) const {
    SweepAnswer answer{row, RowUse::left_out, std::nullopt, ""};
    const auto mode = mode_of(row.mode);
    if (!mode) return because(answer, RowUse::left_out, "does more than checkpoint");
    answer.predicted = forecast(*mode);
    if (!row.measured) return because(answer, RowUse::left_out, "not measured: " + row.status);
    if (!family_.segmenting && !is_basis(row)) return without_option(answer);
    if (const SweepRow* null = null_of(row)) {
      const Reading other = forecast(*mode_of(null->mode));
      if (std::abs(error_of(gib_of(answer.predicted->peak), gib_of(other.peak))) > least_effect)
        return because(answer, RowUse::inert, "peak as of " + null->mode + ", though it should differ");
    }
    answer.use = RowUse::predicted;
    return answer;
  }

  Reading forecast(const SweepMode& mode) const {
    if (step_) return predict(*step_, family_, settings_of(mode, family_));
    return mode.checkpoints ? forecast_->layer : forecast_->none;
  }

  static const SweepRow* measured(const SweepRow* row) { return row && row->measured ? row : nullptr; }

  static SweepAnswer because(SweepAnswer answer, RowUse use, std::string reason) {
    answer.use = use;
    answer.reason = std::move(reason);
    return answer;
  }

  static bool is_basis(const SweepRow& row) { return row.mode == "none" || row.mode == "layer"; }

  // As far as they are printed: at most one unit of the last place apart.
  static bool same_peak(const SweepRow& a, const SweepRow& b) {
    const double apart = gib_of(a.measured->peak - b.measured->peak);
    return std::abs(apart) < 1.5 * gib_of(std::max(a.resolution, b.resolution));
  }

  // A family whose trainer has no interval: the option changes nothing, or the row is about something else.
  SweepAnswer without_option(const SweepAnswer& answer) const {
    if (!is_basis(answer.row) && null_of(answer.row) != nullptr)
      return because(answer, RowUse::inert, "the family has no such option");
    return because(answer, RowUse::left_out, "the family checkpoints all blocks or none");
  }

  // The row whose peak this row has, of those it would equal if its option did nothing; null where none.
  const SweepRow* null_of(const SweepRow& row) const {
    if (!is_basis(row) && layer_ && same_peak(row, *layer_)) return layer_;
    return row.mode != "none" && none_ && same_peak(row, *none_) ? none_ : nullptr;
  }

  bool should_differ(const SweepAnswer& answer, const SweepMode& mode, const SweepRow& null) const {
    const Bytes expected = answer.predicted ? answer.predicted->peak
                                            : predict(*estimate_, family_, settings_of(mode, family_)).peak;
    return std::abs(error_of(gib_of(expected), gib_of(null.measured->peak))) > least_effect;
  }

  std::string no_basis() const {
    if (!none_) return "no row none to predict from";
    if (!layer_) return "no row layer to predict from";
    return std::get<NoBasis>(calibration_) == NoBasis::frees_nothing
               ? "layer frees nothing that none holds"
               : "the shape alone is larger than what none holds";
  }

  const Family& family_;
  const SweepRow *none_, *layer_;
  std::variant<FamilyStep, NoBasis> calibration_ = NoBasis::frees_nothing;
  std::optional<FamilyStep> step_, estimate_;  // one of them where there is a row to hold on to
  std::optional<SweepBasis> forecast_;
};

using BenchKey = std::tuple<std::string, std::string, std::string>;

BenchKey key_of(const SweepRow& row) {
  return {row.family, row.precision, row.gpu};
}

// The rows `none` and `layer` of each; null where there is none.
std::map<BenchKey, std::pair<const SweepRow*, const SweepRow*>> ends_of(const std::vector<SweepRow>& rows) {
  std::map<BenchKey, std::pair<const SweepRow*, const SweepRow*>> ends;
  for (const SweepRow& row : rows) {
    auto& [none, layer] = ends[key_of(row)];
    if (row.mode == "none") none = &row;
    if (row.mode == "layer") layer = &row;
  }
  return ends;
}

}  // namespace

double SweepAnswer::time_error() const {
  return error_of(seconds_of(predicted.value().step), seconds_of(row.measured.value().step));
}

double SweepAnswer::memory_error() const {
  return error_of(gib_of(predicted.value().peak), gib_of(row.measured.value().peak));
}

SweepReport SweepReport::of(std::vector<SweepAnswer> answers) {
  std::vector<double> memory, time;
  for (const SweepAnswer& answer : answers) {
    if (answer.use != RowUse::predicted) continue;
    memory.push_back(answer.memory_error());
    time.push_back(answer.time_error());
  }
  return {std::move(answers), figures_of(memory), figures_of(time)};
}

SweepReport predict_sweep(const std::vector<SweepRow>& rows, const std::vector<Family>& families) {
  std::map<BenchKey, Bench> benches;
  for (const auto& [key, end] : ends_of(rows))
    benches.try_emplace(key, *find_family(families, std::get<0>(key)), end.first, end.second);
  std::vector<SweepAnswer> answers;
  for (const SweepRow& row : rows) answers.push_back(benches.at(key_of(row)).answer(row));
  return SweepReport::of(std::move(answers));
}

SweepReport predict_sweep(const std::vector<SweepRow>& rows, const std::vector<Family>& families,
                          const BasisOf& basis_of) {
  const auto ends = ends_of(rows);
  std::map<BenchKey, Bench> benches;
  std::vector<SweepAnswer> answers;
  for (const SweepRow& row : rows) {
    const auto basis = basis_of(row);
    if (!basis) {
      answers.push_back(
          {row, RowUse::left_out, std::nullopt, "nothing is known of its family, GPU or precision"});
      continue;
    }
    const auto& [none, layer] = ends.at(key_of(row));
    const auto [bench, added] =
        benches.try_emplace(key_of(row), *find_family(families, row.family), none, layer, *basis);
    answers.push_back(bench->second.answer(row));
  }
  return SweepReport::of(std::move(answers));
}

}  // namespace stowage
