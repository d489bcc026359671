// What becomes of tensors that autograd saves, with the figures of reports from the field.
#include <ATen/ATen.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "runtime/saved_tensors.h"
#include "runtime/saving.h"
#include "runtime/scope.h"
#include "tests/catch.h"
#include "tests/runtime/prompt_device.h"
#include "tests/runtime/trainer.h"
#include "traces/error.h"

using namespace stowage;

namespace {

// One pass through code that saves tensors, with the storages of `parameters` known as such.
struct RulesPass {
  explicit RulesPass(const State& parameters = {}, State input = {}) : held(std::move(input)) {
    for (const at::Tensor& parameter : parameters) known.insert(parameter.storage().unsafeGetStorageImpl());
    saved = std::make_shared<SavedTensors>(3, known, held, nullptr);
  }
  at::Tensor run(const std::function<at::Tensor()>& code) const {
    const SaveGuard guard(*saved);
    return code();
  }
  // All storages leave and come back as others, as copies to the host and back would leave them.
  void travel() const {
    for (std::uint32_t i = 0; i < saved->size(); ++i) {
      const c10::Storage away = saved->take(i);
      at::Tensor again = at::empty({static_cast<std::int64_t>(away.nbytes())}, at::kByte);
      std::memcpy(again.data_ptr(), away.data(), away.nbytes());
      saved->put(i, again.storage());
    }
  }

  std::unordered_set<StorageKey> known;
  HeldState held;
  std::shared_ptr<SavedTensors> saved;
};

at::Tensor trained(at::IntArrayRef sizes) {
  return at::ones(sizes).set_requires_grad(true);
}

}  // namespace

// axolotl's label: base[1:], int64, at offset 1.
TEST_CASE("P36: a slice at an offset comes back with its own values") {
  const at::Tensor base = at::arange(5), label = base.narrow(0, 1, 4);
  REQUIRE(label.storage_offset() == 1);
  const at::Tensor table = trained({6, 2});
  RulesPass pass({table});
  const at::Tensor rows = pass.run([&] { return at::embedding(table, label); });
  pass.travel();
  rows.sum().backward();
  // Rows 1 to 4 were used once each.
  REQUIRE(at::equal(table.grad().select(1, 0), at::tensor({0.f, 1.f, 1.f, 1.f, 1.f, 0.f})));
}

// A = [[1, 2], [3, 4]] saved as it is, transposed and sliced: one storage of 16 B.
TEST_CASE("P37: a tensor, its transpose and its slice are one copy, each with its own strides") {
  const at::Tensor a = at::tensor({1.f, 2.f, 3.f, 4.f}).view({2, 2});
  const at::Tensor x = trained({2, 2}), y = trained({2, 2}), z = trained({2});
  RulesPass pass;
  const at::Tensor sum =
      pass.run([&] { return (x * a).sum() + (y * a.t()).sum() + (z * a.select(1, 1)).sum(); });
  REQUIRE(pass.saved->size() == 1);
  REQUIRE(pass.saved->bytes(0) == Bytes{16});
  pass.travel();
  sum.backward();
  REQUIRE(at::equal(x.grad(), a));
  REQUIRE(at::equal(y.grad(), at::tensor({1.f, 3.f, 2.f, 4.f}).view({2, 2})));
  REQUIRE(at::equal(z.grad(), at::tensor({2.f, 4.f})));
}

// Linear 4096 x 4096 in bfloat16 on 512 rows: the weight of 32 MiB stays, the input of 4 MiB counts.
TEST_CASE("parameters never count, whatever views of them are saved") {
  const at::Tensor weight = at::zeros({4096, 4096}, at::kBFloat16).set_requires_grad(true);
  const at::Tensor x = at::zeros({512, 4096}, at::kBFloat16).set_requires_grad(true);
  RulesPass pass({weight});
  pass.run([&] { return at::linear(x * 1, weight); });
  REQUIRE(pass.saved->size() == 1);
  REQUIRE(pass.saved->bytes(0) == Bytes{4 << 20});
}

TEST_CASE("the block's input is found where it is, and does not count") {
  const at::Tensor x = at::full({4}, 3.f);
  RulesPass pass({}, {x});
  const at::Tensor w = trained({4});
  const at::Tensor y = pass.run([&] { return w * x; });
  REQUIRE(pass.saved->size() == 0);
  y.sum().backward();
  REQUIRE(at::equal(w.grad(), x));
}

TEST_CASE("a tensor that is changed in place while it is away is refused") {
  const at::Tensor w = trained({4});
  RulesPass pass;
  at::Tensor a = at::ones({4});
  const at::Tensor y = pass.run([&] { return w * a; });
  pass.travel();
  a.mul_(2);
  REQUIRE_THROWS_WITH(y.sum().backward(),
                      "model: block 3: changes a tensor in place that its backward needs");
}

TEST_CASE("P41: a tensor that is still away is not waited for by chance") {
  const at::Tensor w = trained({4});
  RulesPass pass;
  const at::Tensor y = pass.run([&] { return w * at::ones({4}); });
  const c10::Storage away = pass.saved->take(0);
  REQUIRE_THROWS_AS(y.sum().backward(), DefectError);
}

namespace {

// {x} -> {x * w}, and in its second run of a step something else.
class FickleBlock final : public ChainBlock {
 public:
  enum class Change { shape, type, count, none, throws };
  FickleBlock(Change change, bool by_scope) : change_(change), by_scope_(by_scope) {}

  State forward(const State& input) override {
    if (by_scope_) return in_scope(Scope::ffn, input, [this](const State& in) { return run(in); });
    return run(input);
  }
  BlockParameters parameters() const override { return {{weight_}, {}}; }

 private:
  State run(const State& input) {
    const bool again = runs_++ % 2 == 1;
    at::Tensor x = input[0];
    if (again && change_ == Change::throws) throw std::runtime_error("a block fails");
    if (again && change_ == Change::shape) x = x.narrow(0, 0, 2);
    if (again && change_ == Change::type) x = x.to(at::kDouble);
    if (again && change_ == Change::count) return {x + weight_};
    return {at::sigmoid(x * weight_) * weight_};
  }

  const Change change_;
  const bool by_scope_;
  int runs_ = 0;
  at::Tensor weight_ = trained({8});
};

class FickleChain final : public Chain {
 public:
  FickleChain(FickleBlock::Change change, bool by_scope) : block_(change, by_scope) {}
  std::vector<ChainBlock*> blocks() override { return {&block_}; }
  State prologue(const State& batch) override { return {batch[0] * outer_}; }
  at::Tensor epilogue(const State& output, const State&) override { return output[0].to(at::kFloat).sum(); }
  std::vector<at::Tensor> outer_parameters() const override { return {outer_}; }

 private:
  FickleBlock block_;
  at::Tensor outer_ = trained({8});
};

Program fickle_program(bool by_scope) {
  Profile profile = bare_profile(1);
  profile.blocks[0].times.scope_forward = {Nanos{1}, Nanos{1}, Nanos{1}};
  Settings settings;
  settings.policy = Policy::recompute;
  if (by_scope) settings.scope = Scope::ffn;
  return program_of(profile, settings);
}

std::string complaint(FickleBlock::Change change, bool by_scope) {
  PromptDevice device;
  FickleChain chain(change, by_scope);
  Executor executor(chain, device);
  AdamW optimizer(executor.trained(), AdamWOptions{});
  try {
    executor.run(fickle_program(by_scope), {at::ones({4, 8})}, optimizer);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("P44: a recomputation that saves other tensors than the forward is told with block and index") {
  using Change = FickleBlock::Change;
  for (bool by_scope : {false, true}) {
    INFO((by_scope ? "scope" : "block"));
    REQUIRE(complaint(Change::none, by_scope) == "");
    REQUIRE(
        complaint(Change::shape, by_scope) ==
        "model: block 0: saves tensor 1 as float [2, 8] when it is run again, but its forward saved float "
        "[4, 8]");
    REQUIRE(
        complaint(Change::type, by_scope) ==
        "model: block 0: saves tensor 1 as double [4, 8] when it is run again, but its forward saved float "
        "[4, 8]");
    REQUIRE(complaint(Change::throws, by_scope) == "a block fails");
  }
  REQUIRE(complaint(Change::count, false) ==
          "model: block 0: saves 0 tensors when it is run again, but its forward saved 5");
}

TEST_CASE("a scope that the block cannot run again is refused") {
  PromptDevice device;
  FickleChain chain(FickleBlock::Change::none, false);
  Executor executor(chain, device);
  AdamW optimizer(executor.trained(), AdamWOptions{});
  REQUIRE_THROWS_WITH(executor.run(fickle_program(true), {at::ones({4, 8})}, optimizer),
                      "program: scope: block 0 runs nothing in_scope() that could be run again");
}
