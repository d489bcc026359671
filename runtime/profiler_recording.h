// A recording by LibTorch's own profiler, Kineto: what torch.profiler writes in Python.
#pragma once

#include <string>

namespace stowage {

// From now on operators on this thread are recorded, with their shapes and with the memory that they take and
// free. One at a time in a process. Cost: some microseconds an operator.
class ProfilerRecording {
 public:
  ProfilerRecording();
  ~ProfilerRecording();  // forgets what was not written
  ProfilerRecording(const ProfilerRecording&) = delete;

  // Ends the recording and writes it, as a Chrome trace. Throws SystemError as write_file() does.
  void write(const std::string& file);

 private:
  bool recording_ = true;
};

}  // namespace stowage
