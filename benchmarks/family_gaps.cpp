// How far answers may be from the best of all plans, for the families of the catalogue: adapters trained on
// an RTX 4090's rates with device memory of 8 to 80 GiB, profiles forecast from published rows.
//
//   build/core/benchmarks/family_gaps [CATALOGUE_FOLDER]
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/machine_name.h"
#include "forecast/calibration.h"
#include "forecast/forecast_profile.h"
#include "traces/error.h"
#include "traces/file.h"
#include "tuner/free/free_search.h"
#include "tuner/tuner.h"
#include "validation/sweep_table.h"

using namespace stowage;

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;
constexpr std::int64_t budgets[] = {8, 12, 16, 24, 48, 80};

struct Answer {
  double gap;
  bool kept;  // everything: it fits
  double seconds;
};

// Absent: nothing fits.
std::optional<Answer> answer(const BlockTable& table, const Machine& machine) {
  const std::clock_t begin = std::clock();
  TuneRequest request;
  request.budget = budget_of(machine);
  const TuneResult settings = tune(table, machine, request);
  FreeRequest free;
  free.budget = request.budget;
  const FreeResult found =
      search_free(table, machine, free, {settings.best ? settings.best->plan : settings.least.plan});
  if (!found.best || !found.bound) return {};
  return Answer{gap_over(*found.bound, found.best->run.step), settings.null_fits,
                static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC};
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void summarize(const char* what, const std::vector<double>& gaps) {
  if (gaps.empty()) return;
  std::printf("%-34s %4zu cells: gap %5.2f %% in the median, %5.2f %% for nine of ten, %5.2f %% at most\n",
              what, gaps.size(), 100 * quantile(gaps, 0.5), 100 * quantile(gaps, 0.9),
              100 * quantile(gaps, 1));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "catalogue";
  const std::vector<Family> families = read_families(folder + "/families.json");
  const std::vector<Gpu> gpus = read_gpus(folder + "/gpus.json");
  const std::vector<SweepRow> rows =
      parse_sweep(read_file(folder + "/published/segmented_checkpointing.csv"), families);
  const Calibration calibration(rows, families, gpus);
  const Gpu& gpu = *find_gpu(gpus, "rtx4090");
  std::printf("on %s\n\n%-28s %6s", benchmarks::machine_name().c_str(), "gap to the bound", "blocks");
  for (const std::int64_t budget : budgets) std::printf(" %5lld GiB", static_cast<long long>(budget));
  std::printf("   s each\n");
  std::vector<double> all, squeezed;
  for (const Family& family : families) {
    TrainedShape training;
    training.recipe = family.recipe;
    const SweepBasis basis = calibration.forecast(family, "", training, gpu).basis();
    std::optional<BlockTable> table;
    try {
      table.emplace(forecast_profile(family, training, gpu, basis, calibration.model()).profile);
    } catch (const InputError& error) {
      std::printf("%-28s %s\n", family.name.c_str(), error.what());
      continue;
    }
    std::printf("%-28s %6u", family.name.c_str(), table->size());
    double seconds = 0;
    int answers = 0;
    for (const std::int64_t budget : budgets) {
      Machine machine = machine_of(gpu, Platform::linux, Bytes{256 * gib});
      machine.device.memory = {budget * gib};
      const std::optional<Answer> found = answer(*table, machine);
      if (!found) {
        std::printf(" %9s", "-");
        continue;
      }
      all.push_back(found->gap);
      if (!found->kept) squeezed.push_back(found->gap);
      std::printf(found->kept ? "      kept" : " %7.2f %%", 100 * found->gap);
      seconds += found->seconds;
      ++answers;
    }
    std::printf(" %8.2f\n", answers > 0 ? seconds / answers : 0);
    std::fflush(stdout);
  }
  std::printf("\n");
  summarize("all that fit", all);
  summarize("of these, where not all is kept", squeezed);
  return 0;
}
