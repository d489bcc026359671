#include "runtime/profiler_recording.h"

#include <stdlib.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <filesystem>
#include <set>

#include "traces/file.h"

namespace stowage {
namespace {

namespace kineto = torch::autograd::profiler;

// A folder of its own, gone with this object.
class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "stowage-XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw SystemError(path_, "cannot be made");
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace

ProfilerRecording::ProfilerRecording() {
  setenv("KINETO_LOG_LEVEL", "5", /*overwrite=*/0);  // it complains on machines without a GPU
  using torch::profiler::impl::ActivityType;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO,
                                                     /*report_input_shapes=*/true, /*profile_memory=*/true);
  const std::set<ActivityType> activities{ActivityType::CPU};
  kineto::prepareProfiler(config, activities);
  kineto::enableProfiler(config, activities);
}

ProfilerRecording::~ProfilerRecording() {
  if (recording_) kineto::disableProfiler();
}

void ProfilerRecording::write(const std::string& file) {
  recording_ = false;
  const auto result = kineto::disableProfiler();
  const ScratchFolder scratch;
  const std::string raw = scratch.file("recording.json");
  result->save(raw);
  write_file(file, read_file(raw));
}

}  // namespace stowage
