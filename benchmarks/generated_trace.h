// A Kineto trace of any size, as a profiler writes it.
#pragma once

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

namespace stowage::benchmarks {

inline constexpr std::size_t traced_blocks = 24;

// Writes events in the order and with the fields of the profiler's own, one step after another. Throws
// std::system_error where the file cannot be written.
class TraceWriter {
 public:
  explicit TraceWriter(const std::string& file) : out_(std::fopen(file.c_str(), "w")) {
    if (!out_) fail();
    print(
        "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"NVIDIA H100\", "
        "\"totalGlobalMem\": 85024112640}\n  ],\n  \"traceEvents\": [\n");
  }
  ~TraceWriter() {
    if (out_) std::fclose(out_);
  }
  TraceWriter(const TraceWriter&) = delete;

  void finish() {
    print("\n  ],\n  \"traceName\": \"generated.json\"\n}\n");
    if (std::fclose(std::exchange(out_, nullptr)) != 0) fail();
  }

  std::int64_t bytes() const { return bytes_; }
  std::int64_t events() const { return events_; }

  void step() {
    const double begin = clock_;
    ++steps_;
    for (std::size_t i = 0; i < traced_blocks; ++i) forward(i);
    for (std::size_t i = traced_blocks; i-- > 0;) backward(i);
    span("user_annotation", "ProfilerStep#" + std::to_string(steps_), 1, begin, clock_ - begin, "");
    sequence_ += 7 * static_cast<int>(traced_blocks);
  }

 private:
  static constexpr int operators = 7;  // of a block

  void forward(std::size_t block) {
    const double begin = clock_;
    for (int i = 0; i < operators; ++i) {
      const int sequence = sequence_ + static_cast<int>(block) * operators + i;
      const double at = clock_;
      span("cpu_op", i % 2 == 0 ? "aten::addmm" : "aten::mul", 1, at, 40.125,
           shaped("\"Sequence number\": " + std::to_string(sequence) + ", \"Fwd thread id\": 0, "));
      memory(at + 5.25, 1 << 20, sequence);
      launch(
          "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_"
          "off",
          1, at + 10.5, 50.75);
      clock_ = at + 60;
    }
    span("python_function", "nn.Module: DecoderLayer_" + std::to_string(block), 1, begin, clock_ - begin,
         "\"Python parent id\": 17, \"Python id\": " + std::to_string(events_) +
             ", \"Python module id\": " + std::to_string(block));
  }

  void backward(std::size_t block) {
    for (int i = operators; i-- > 0;) {
      const int sequence = sequence_ + static_cast<int>(block) * operators + i;
      const double at = clock_;
      span("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 2, at, 50.5,
           shaped("\"Sequence number\": " + std::to_string(sequence) + ", \"Fwd thread id\": 1, "));
      launch(
          "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
          "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)",
          2, at + 10.5, 90.25);
      memory(at + 30.25, -(1 << 20), sequence);
      clock_ = at + 60;
    }
  }

  std::string shaped(const std::string& more) const {
    return "\"External id\": " + std::to_string(events_) + ", \"Record function id\": 0, " + more +
           "\"Ev Idx\": " + std::to_string(events_) +
           ", \"Input Dims\": [[1024], [4096, 1024], [1024, 1024], [], []], \"Input type\": "
           "[\"c10::BFloat16\", "
           "\"c10::BFloat16\", \"c10::BFloat16\", \"Scalar\", \"Scalar\"], \"Input Strides\": [[1], [1024, "
           "1], [1, "
           "1024], [], []], \"Concrete Inputs\": [\"\", \"\", \"\", \"1\", \"1\"]";
  }

  void launch(const char* kernel, int thread, double at, double lasts) {
    const std::string id = std::to_string(++correlation_);
    span("cuda_runtime", "cudaLaunchKernel", thread, at, 6.125,
         "\"External id\": " + id + ", \"cbid\": 211, \"correlation\": " + id);
    device_ = device_ < at ? at : device_;
    span("kernel", kernel, -1, device_, lasts,
         "\"External id\": " + id +
             ", \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": " + id +
             ", \"registers per thread\": 90, \"shared memory\": 49152, \"blocks per SM\": 0.969697, \"warps "
             "per "
             "SM\": 7.757576, \"grid\": [8, 16, 1], \"block\": [256, 1, 1], \"est. achieved occupancy %\": "
             "12");
    device_ += lasts;
    flow('s', thread, at, id);
    flow('f', 7, device_, id);
  }

  void flow(char phase, int thread, double at, const std::string& id) {
    char text[256];
    std::snprintf(text, sizeof text,
                  "  {\n    \"ph\": \"%c\", \"id\": %s, \"pid\": %d, \"tid\": %d, \"ts\": %.3f,\n    "
                  "\"cat\": \"ac2g\", "
                  "\"name\": \"ac2g\"%s\n  }",
                  phase, id.c_str(), thread == 7 ? 0 : 25286, thread, at,
                  phase == 'f' ? ", \"bp\": \"e\"" : "");
    event(text);
  }

  void memory(double at, long bytes, int address) {
    allocated_ += bytes;
    char text[512];
    std::snprintf(
        text, sizeof text,
        "  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    "
        "\"pid\": 25286, \"tid\": 1,\n    \"ts\": %.3f,\n    \"args\": {\n      \"Total Reserved\": "
        "85024112640, \"Total Allocated\": %lld, \"Bytes\": %ld, \"Addr\": %lld, \"Device Id\": 0, \"Device "
        "Type\": 1, \"Ev Idx\": 4\n    }\n  }",
        at, allocated_, bytes, 139738481000448LL + 512LL * (address % 1008));
    event(text);
  }

  void span(const char* category, const std::string& name, int thread, double begin, double lasts,
            const std::string& args) {
    char text[2048];
    std::snprintf(
        text, sizeof text,
        "  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d,\n    \"ts\": "
        "%.3f, \"dur\": %.3f,\n    \"args\": {\n      %s\n    }\n  }",
        category, name.c_str(), thread < 0 ? 0 : 25286, thread < 0 ? 7 : thread, begin, lasts, args.c_str());
    event(text);
  }

  void event(const char* text) {
    if (events_++ > 0) print(",\n");
    print(text);
  }

  void print(const char* text) {
    if (std::fputs(text, out_) < 0) fail();
    bytes_ += static_cast<std::int64_t>(std::char_traits<char>::length(text));
  }

  [[noreturn]] static void fail() {
    throw std::system_error(errno, std::generic_category(), "writing the trace");
  }

  std::FILE* out_;
  double clock_ = 1'752'839'461'000'000.0 / 1000, device_ = 0;
  std::int64_t bytes_ = 0, events_ = 0, correlation_ = 0;
  long long allocated_ = 984'742'400;
  int sequence_ = 0, steps_ = 0;
};

// Whole steps until the file has at least `bytes`; returns how many events it holds.
inline std::int64_t write_trace(const std::string& file, std::int64_t bytes) {
  TraceWriter writer(file);
  while (writer.bytes() < bytes) writer.step();
  writer.finish();
  return writer.events();
}

}  // namespace stowage::benchmarks
