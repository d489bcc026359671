// What Python asks of the core: texts in the formats of the files go in, one JSON object comes out.
//
// All throw InputError as the readers of these files do; what the texts are is said in the error's source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stowage {

// As the file would be written, with all defaults: {"profile": ..., "digest": "..."}.
std::string profile_answer(const std::string& profile);
std::string machine_answer(const std::string& machine);
// {"plan": ..., "summary": "..."}: a plan's file, checked against its profile.
std::string plan_answer(const std::string& plan, const std::string& profile);
// {"plan": ..., "summary": "...", "warnings": [...]}: settings are an object as in a plan's file.
std::string expand_answer(const std::string& settings, const std::string& profile);

// As `stowage simulate --json`, with "sentence" and "timeline".
std::string simulate_answer(const std::string& profile, const std::string& plan, const std::string& machine);

struct TuneQuestion {
  std::optional<std::int64_t> device_bytes, host_bytes;  // instead of the machine's
  std::int64_t margin = 0;
  bool free = true;  // go on to plans without settings
  std::int64_t threads = 1;
};
// As `stowage tune --json`, with "sentence" and "certainty".
std::string tune_answer(const std::string& profile, const std::string& machine, const TuneQuestion& question);

// The compiled program: {"steps": [{"kind", "lane", "block", "storage", "bytes", "issue": [step, edge],
// "waits": [...]}]}. Of a compute step, "uses_end" says which blocks' weights go as it ends.
std::string program_answer(const std::string& plan, const std::string& profile);

std::string chrome_answer(const std::vector<std::string>& timelines);
std::string csv_answer(const std::vector<std::string>& timelines);

}  // namespace stowage
