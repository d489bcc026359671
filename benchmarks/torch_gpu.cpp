// Throughput and peak of training one transformer on a CUDA device: Stowage's plans, and what PyTorch offers
// beside them, a step of each in turn.
//
//   plain             one graph, everything kept
//   save_on_cpu       every saved tensor, parameters too, is copied to pinned memory while compute waits
//   checkpoint        each block is one autograd function that recomputes
//   streamed offload  saved tensors of 1 MiB and more travel on streams of their own, two stores at a time
//   keep, ...         plans, carried out by the executor
//
//   torch_gpu [ROUNDS] [MODEL]
//
// Run from the root of the source tree, where data/ is. Exit 0: it ran; 2: it did not, or there is no CUDA
// device.
#include <cstdio>

#ifdef STOWAGE_WITH_CUDA

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/block_probe.h"
#include "profiler/sample.h"
#include "runtime/cuda_device.h"
#include "runtime/executor.h"
#include "runtime/models/corpus.h"
#include "runtime/models/transformer.h"
#include "runtime/plain_step.h"
#include "runtime/saving.h"
#include "runtime/tensor_recipe.h"
#include "traces/error.h"

using namespace stowage;

namespace {

namespace ag = torch::autograd;

// Copies saved tensors to pinned memory as they are saved, and back as they are asked for.
class Offloading final : public SaveHandler {
 public:
  Offloading(CudaDevice& device, bool streams) : device_(device), streams_(streams) {}

  void keep(const std::vector<at::Tensor>& parameters) {
    for (const at::Tensor& parameter : parameters) kept_.insert(parameter.storage().unsafeGetStorageImpl());
  }
  std::unique_ptr<ag::SavedVariableHooks> next_hooks() override { return std::make_unique<Hooks>(*this); }
  // The step is over.
  void clear() {
    for (const std::shared_ptr<Copy>& copy : restores_) copy->finish();
    restores_.clear();
    stores_.clear();
  }

 private:
  static constexpr std::size_t least_bytes = 1 << 20, most_stores = 2;

  class Hooks final : public ag::SavedVariableHooks {
   public:
    explicit Hooks(Offloading& owner) : owner_(owner) {}
    void call_pack_hook(const at::Tensor& tensor) override {
      const c10::Storage storage = tensor.storage();
      if (owner_.streams_ &&
          (storage.nbytes() < least_bytes || owner_.kept_.contains(storage.unsafeGetStorageImpl()))) {
        held_ = tensor.detach();
        return;
      }
      recipe_.emplace(tensor);
      bytes_ = {static_cast<std::int64_t>(storage.nbytes())};
      host_ = owner_.device_.host_memory().check_out(bytes_);
      store_ = owner_.device_.submit({Lane::d2h, {{host_.data(), storage.data(), bytes_}}, {}});
      owner_.leave(store_, storage);
    }
    at::Tensor call_unpack_hook() override {
      if (!recipe_) return held_;
      c10::Storage back(c10::Storage::use_byte_size_t(), static_cast<std::size_t>(bytes_.value),
                        owner_.device_.memory().allocate(bytes_));
      host_.mark_pending();
      const auto restore =
          owner_.device_.submit({Lane::h2d, {{back.mutable_data(), host_.data(), bytes_}}, {store_}});
      owner_.streams_ ? restore->wait() : restore->finish();
      owner_.restores_.push_back(restore);
      return recipe_->on(back);
    }

   private:
    Offloading& owner_;
    at::Tensor held_;
    std::optional<TensorRecipe> recipe_;
    Bytes bytes_;
    HostBuffer host_;
    std::shared_ptr<Copy> store_;
  };

  void leave(const std::shared_ptr<Copy>& store, const c10::Storage& storage) {
    stores_.emplace_back(store, storage);
    while (stores_.size() > (streams_ ? most_stores : 0)) {
      streams_ ? stores_.front().first->wait() : stores_.front().first->finish();
      stores_.pop_front();
    }
  }

  CudaDevice& device_;
  const bool streams_;
  std::unordered_set<const c10::StorageImpl*> kept_;
  std::deque<std::pair<std::shared_ptr<Copy>, c10::Storage>> stores_;
  std::vector<std::shared_ptr<Copy>> restores_;
};

// A block as one function that keeps its input alone.
struct Checkpoint : ag::Function<Checkpoint> {
  struct Pass : torch::CustomClassHolder {
    explicit Pass(ChainBlock& block) : block(block), random(RandomState::now()) {}
    ChainBlock& block;
    RandomState random;
  };

  static at::Tensor forward(ag::AutogradContext* context, const at::Tensor& input, const at::Tensor&,
                            ChainBlock* block) {
    context->saved_data["pass"] = c10::IValue::make_capsule(c10::make_intrusive<Pass>(*block));
    context->save_for_backward({input});
    const at::NoGradGuard no_grad;
    return block->forward({input}).front();
  }
  static ag::variable_list backward(ag::AutogradContext* context, ag::variable_list gradients) {
    const auto pass = c10::static_intrusive_pointer_cast<Pass>(context->saved_data["pass"].toCapsule());
    at::Tensor input = context->get_saved_variables().front().detach();
    input.set_requires_grad(true);
    const RandomState later = RandomState::now();
    pass->random.put_back();
    at::Tensor output;
    {
      const at::AutoGradMode on(true);
      output = pass->block.forward({input}).front();
    }
    later.put_back();
    ag::backward({output}, {gradients.front()});
    return {input.grad(), at::Tensor(), at::Tensor()};
  }
};

void checkpointed_step(Chain& chain, const State& batch) {
  const at::Tensor wants = at::zeros({1}, batch.front().options().dtype(at::kFloat)).set_requires_grad(true);
  State state = chain.prologue(batch);
  for (ChainBlock* block : chain.blocks()) state = {Checkpoint::apply(state.front(), wants, block)};
  chain.epilogue(state, batch).backward();
}

// One way to train, and what it took.
struct Way {
  std::string name;
  // The most that was live meanwhile, where the step has looked itself.
  std::function<std::optional<Bytes>(const State&)> step;
  std::vector<Nanos> times;
  Bytes peak;
};

class Comparison {
 public:
  Comparison(TransformerConfig config, int rounds)
      : config_(std::move(config)), rounds_(rounds), machine_(cuda_machine()), device_(machine_) {}

  void run() {
    add_plain_ways();
    add_plans();
    const Corpus corpus("data/alice.txt", {config_.batch, config_.context});
    for (int round = -2; round < rounds_; ++round) {
      State batch = corpus.batch(1, static_cast<std::uint64_t>(round + 2));
      for (at::Tensor& tensor : batch) tensor = tensor.to(device_.place());
      for (Way& way : ways_) take(way, batch, round >= 0);
    }
    std::printf("%s, %s, %d rounds\n  %-18s %12s %10s %14s %12s\n", machine_.name.c_str(),
                name_of(config_).c_str(), rounds_, "", "step", "+-", "tokens/s", "peak");
    for (const Way& way : ways_) tell(way);
  }

 private:
  void add_plain_ways() {
    model_.emplace(config_, 1, device_.place());
    parameters_ = trained_parameters(*model_);
    adamw_.emplace(parameters_, AdamWOptions{});
    on_cpu_.emplace(device_, false);
    streamed_.emplace(device_, true);
    streamed_->keep(parameters_);
    add("plain", [this](const State& batch) { plain_step(*model_, batch); });
    add("save_on_cpu", [this](const State& batch) { offloaded_step(*on_cpu_, batch); });
    add("streamed offload", [this](const State& batch) { offloaded_step(*streamed_, batch); });
    add("checkpoint", [this](const State& batch) { checkpointed_step(*model_, batch); });
  }

  // Gradients by `pass`, then the optimizer.
  void add(const char* name, const std::function<void(const State&)>& pass) {
    const auto step = [this, pass](const State& batch) -> std::optional<Bytes> {
      pass(batch);
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        adamw_->update(i, parameters_[i].detach(), parameters_[i].grad());
        parameters_[i].mutable_grad().reset();
      }
      return {};
    };
    ways_.push_back({name, step, {}, {}});
  }

  void offloaded_step(Offloading& handler, const State& batch) {
    device_.host_memory().begin_step({});
    {
      const SaveGuard guard(handler);
      plain_step(*model_, batch);
    }
    handler.clear();
  }

  void add_plans() {
    planned_model_.emplace(config_, 1, device_.place());
    State batch = Corpus("data/alice.txt", {config_.batch, config_.context}).batch(1, 0);
    for (at::Tensor& tensor : batch) tensor = tensor.to(device_.place());
    const BlockTable table(probe_blocks({name_of(config_), *planned_model_, batch}, device_, {}).profile);
    executor_.emplace(*planned_model_, device_);
    planned_adamw_.emplace(executor_->trained(), AdamWOptions{});
    for (Policy policy : {Policy::keep, Policy::recompute, Policy::offload, Policy::recompute_offload}) {
      Settings settings;
      settings.policy = policy;
      settings.transfer.prefetch = 2;
      ways_.push_back({describe(settings),
                       [this, program = compile(table, expand(table, settings).plan)](
                           const State& batch) -> std::optional<Bytes> {
                         const StepResult result = executor_->run(program, batch, *planned_adamw_);
                         if (const auto* shortage = std::get_if<Shortage>(&result))
                           throw SystemError("torch_gpu", shortage->refusal.text());
                         return peak(std::get<StepReport>(result).timeline.memory.device);
                       },
                       {},
                       {}});
    }
  }

  // The other ways' models are live meanwhile: peaks are told beyond what is live before a step.
  void take(Way& way, const State& batch, bool counts) {
    const Bytes before = device_.memory().live();
    device_.memory().take_peak();
    std::optional<Bytes> most;
    const auto work = device_.compute({}, [&](Instant) { most = way.step(batch); });
    work->finish();
    const Bytes rise = most.value_or(device_.memory().take_peak()) - before;
    if (!counts) return;
    way.times.push_back({std::chrono::nanoseconds(work->span().end - work->span().begin).count()});
    way.peak = std::max(way.peak, rise);
  }

  void tell(const Way& way) const {
    const Spread spread = spread_of(way.times);
    const double seconds = static_cast<double>(spread.median.value) / 1e9;
    std::printf("  %-18s %9.3f ms %7.3f ms %14.0f %8.1f MiB\n", way.name.c_str(), 1e3 * seconds,
                static_cast<double>(spread.half_range.value) / 1e6,
                static_cast<double>(config_.batch * config_.context) / seconds,
                static_cast<double>(way.peak.value) / (1 << 20));
  }

  const TransformerConfig config_;
  const int rounds_;
  const Machine machine_;
  CudaDevice device_;
  std::optional<Transformer> model_, planned_model_;
  std::vector<at::Tensor> parameters_;
  std::optional<AdamW> adamw_, planned_adamw_;
  std::optional<Offloading> on_cpu_, streamed_;
  std::optional<Executor> executor_;
  std::vector<Way> ways_;
};

// Large enough that kernels, not launches, take the time.
TransformerConfig large_model() {
  TransformerConfig config;
  config.layers = 16;
  config.width = 1024;
  config.heads = 16;
  config.context = 1024;
  config.batch = 8;
  return config;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto why = why_no_cuda()) {
      std::printf("%s\n", why->c_str());
      return 2;
    }
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
    Comparison(argc > 2 ? read_transformer(argv[2]) : large_model(), rounds).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_gpu: %s\n", error.what());
    return 2;
  }
}

#else

int main() {
  std::printf("no CUDA device: this build is without CUDA\n");
  return 2;
}

#endif
