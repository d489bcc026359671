// Kineto traces made by hand, event by event. Times are whole microseconds.
#pragma once

#include <span>
#include <string>

#include "traces/import/import.h"

namespace stowage::tests {

class MadeTrace {
 public:
  MadeTrace& op(const std::string& name, int thread, long begin, long duration,
                const std::string& args = "") {
    return event("cpu_op", name, 1, thread, begin, duration, args);
  }
  MadeTrace& annotation(const std::string& name, int thread, long begin, long duration) {
    return event("user_annotation", name, 1, thread, begin, duration, "");
  }
  MadeTrace& module(const std::string& name, int thread, long begin, long duration) {
    return event("python_function", "nn.Module: " + name, 1, thread, begin, duration, "");
  }
  // A launch at `at` and the kernel that it starts.
  MadeTrace& kernel(const std::string& name, int thread, long at, long begin, long duration) {
    launch(thread, at, ++correlation_);
    return orphan("kernel", name, begin, duration, "");
  }
  MadeTrace& copy(const std::string& kind, int thread, long at, long begin, long duration, long bytes) {
    launch(thread, at, ++correlation_);
    return orphan("gpu_memcpy", "Memcpy " + kind, begin, duration, R"(, "bytes": )" + std::to_string(bytes));
  }
  // Device work with the current correlation, whether something launched it or not.
  MadeTrace& orphan(const std::string& category, const std::string& name, long begin, long duration,
                    const std::string& args) {
    return event(category, name, 0, 7, begin, duration,
                 R"("correlation": )" + std::to_string(correlation_) + args);
  }
  MadeTrace& memory(int thread, long at, long address, long bytes, const std::string& args = "") {
    return raw(R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": )" +
               std::to_string(thread) + R"(, "ts": )" + std::to_string(at) +
               R"(, "args": {"Device Type": 1, "Device Id": 0, "Addr": )" + std::to_string(address) +
               R"(, "Bytes": )" + std::to_string(bytes) + args + "}}");
  }
  MadeTrace& raw(const std::string& text) {
    events_ += events_.empty() ? text : ",\n" + text;
    return *this;
  }
  MadeTrace& next_correlation() {
    ++correlation_;
    return *this;
  }

  std::string text() const { return R"({"schemaVersion": 1, "traceEvents": [)" + events_ + "]}"; }

  ImportReport import(const ImportOptions& options = {}) const {
    const std::string whole = text();
    return import_recording(*open_bytes(std::span(whole)), "made", options);
  }

 private:
  MadeTrace& launch(int thread, long at, long correlation) {
    return event("cuda_runtime", "cudaLaunchKernel", 1, thread, at, 1,
                 R"("correlation": )" + std::to_string(correlation));
  }
  MadeTrace& event(const std::string& category, const std::string& name, int process, int thread, long begin,
                   long duration, const std::string& args) {
    return raw(R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "pid": )" +
               std::to_string(process) + R"(, "tid": )" + std::to_string(thread) + R"(, "ts": )" +
               std::to_string(begin) + R"(, "dur": )" + std::to_string(duration) + R"(, "args": {)" + args +
               "}}");
  }

  std::string events_;
  long correlation_ = 0;
};

}  // namespace stowage::tests
