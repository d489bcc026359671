// The CUDA device, where there is one.
#include "runtime/cuda_device.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/pinned_limit.h"
#include "tests/catch.h"
#include "tests/runtime/device_conformance.h"
#include "tests/runtime/small_transformer.h"

using namespace stowage;

namespace {

// Says so, where ctest looks for it.
bool absent() {
  const std::optional<std::string> why = why_no_cuda();
  if (why) std::printf("skipped: %s\n", why->c_str());
  return why.has_value();
}

// Kernels that give the same bits each time.
void be_deterministic() {
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  at::globalContext().setDeterministicAlgorithms(true, false);
}

void require_conformance_on_cuda(bool lora, const std::vector<SwapMode>& modes) {
  be_deterministic();
  const Machine machine = cuda_machine();
  CudaDevice device(machine);
  require_conformance({device, device.place(), machine}, lora, settings_of_every_kind(modes));
}

}  // namespace

TEST_CASE("full training on CUDA under every kind of plan equals a plain loop bit for bit") {
  if (!absent()) require_conformance_on_cuda(false, {SwapMode::two_way});
}

TEST_CASE("training of adapters on CUDA under every kind of plan equals a plain loop bit for bit") {
  if (!absent()) require_conformance_on_cuda(true, {SwapMode::h2d, SwapMode::two_way, SwapMode::stream});
}

TEST_CASE("CUDA memory is counted to the byte, and refused beyond the budget") {
  if (absent()) return;
  CudaDevice device(cuda_machine());
  CudaMemory& memory = device.memory();
  const Bytes before = memory.live();
  memory.take_peak();
  {
    const c10::DataPtr odd = memory.allocate({1'000'001});
    REQUIRE(memory.live() == before + Bytes{1'000'001});
    const at::Tensor tensor = at::empty({250}, at::TensorOptions(device.place()));
    REQUIRE(memory.live() == before + Bytes{1'001'001});
  }
  REQUIRE(memory.live() == before);
  REQUIRE(memory.take_peak() == before + Bytes{1'001'001});
  memory.set_budget(before + Bytes{64 << 20});
  REQUIRE_THROWS_AS(memory.allocate({65 << 20}), MemoryRefused);
  int asked = 0;
  memory.on_shortage([&] { return ++asked < 3; });
  REQUIRE_THROWS_AS(memory.allocate({65 << 20}), MemoryRefused);
  REQUIRE(asked == 3);
  memory.on_shortage({});
  // What LibTorch asks for itself is refused as LibTorch's own error, and told as ours.
  REQUIRE_THROWS_AS(
      device.compute({}, [&](Instant) { at::empty({1 << 28}, at::TensorOptions(device.place())); }),
      MemoryRefused);
  REQUIRE(memory.live() == before);
}

TEST_CASE("P34: copies see what compute has done before them, and compute what they have brought") {
  if (absent()) return;
  CudaDevice device(cuda_machine());
  constexpr std::int64_t count = 1 << 22;
  const Bytes bytes{count * 4};
  const at::Tensor there = at::zeros({count}, at::TensorOptions(device.place()));
  const at::Tensor back = at::zeros({count}, there.options());
  const HostBuffer host = device.host_memory().pin(bytes);
  for (int i = 0; i < 50; ++i) there.add_(1);
  const auto out = device.submit({Lane::d2h, {{host.data(), there.data_ptr(), bytes}}, {}});
  out->finish();
  const auto in = device.submit({Lane::h2d, {{back.data_ptr(), host.data(), bytes}}, {out}});
  in->wait();
  const at::Tensor sum = back.sum();
  in->finish();
  REQUIRE(in->ended());
  REQUIRE(in->span().begin >= out->span().end);
  float first = 0;
  std::memcpy(&first, host.data(), sizeof first);
  REQUIRE(first == 50);
  REQUIRE(back.cpu().equal(at::from_blob(host.data(), {count})));
  REQUIRE(sum.item<float>() == back.sum().item<float>());
}

TEST_CASE("random states cover the device's generator") {
  if (absent()) return;
  CudaDevice device(cuda_machine());
  const RandomState state = RandomState::now();
  const at::Tensor first = at::rand({8}, at::TensorOptions(device.place()));
  state.put_back();
  REQUIRE(first.equal(at::rand({8}, first.options())));
}

TEST_CASE("a refused pin leaves no error behind") {
  if (absent()) return;
  CudaDevice device(cuda_machine());
  const HostMemorySource source = cuda_pinned_memory();
  REQUIRE(source.take(std::size_t{1} << 60) == nullptr);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(probe_pinned_limit(source, {1LL << 30}) > Bytes{});
  REQUIRE(at::ones({4}, at::TensorOptions(device.place())).sum().item<float>() == 4);
}
