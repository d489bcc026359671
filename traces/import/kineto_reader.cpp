#include "traces/import/kineto_reader.h"

#include <limits>
#include <map>

#include "traces/import/event_reader.h"
#include "traces/import/sum_guard.h"
#include "traces/import/text_hash.h"

namespace stowage {
namespace {

enum class Category : std::uint8_t { operation, annotation, python, kernel, copy, set, runtime, sync, none };

Category category_of(std::string_view name) {
  static constexpr std::pair<std::string_view, Category> categories[] = {
      {"cpu_op", Category::operation},
      {"kernel", Category::kernel},
      {"cuda_runtime", Category::runtime},
      {"python_function", Category::python},
      {"user_annotation", Category::annotation},
      {"gpu_memcpy", Category::copy},
      {"gpu_memset", Category::set},
      {"cuda_driver", Category::runtime},
      {"cuda_sync", Category::sync},
      {"xpu_runtime", Category::runtime},
      {"xpu_driver", Category::runtime},
      {"privateuse1_runtime", Category::runtime},
      {"privateuse1_driver", Category::runtime},
      {"Operator", Category::operation},
      {"Kernel", Category::kernel},
      {"Memcpy", Category::copy},
      {"Memset", Category::set},
      {"Runtime", Category::runtime},
  };
  for (const auto& [text, category] : categories) {
    if (text == name) return category;
  }
  return Category::none;
}

bool is_collective(const TraceEvent& event) {
  const std::string_view name = event.raw(EventField::name);
  return event.has(EventField::collective) || name.starts_with("nccl") || name.starts_with("rccl") ||
         name.find("ncclDevKernel") != std::string_view::npos ||
         name.find("ncclKernel") != std::string_view::npos;
}

// Gives tracks, or whatever else there are few of, dense ids in the order of first appearance.
template <class Id, class Value>
class DenseIds {
 public:
  explicit DenseIds(std::vector<Value>& values) : values_(&values) {}

  // Absent where there is no id left for a new one.
  std::optional<Id> id_of(const Value& value) {
    if (!values_->empty() && (*values_)[latest_] == value) return latest_;
    if (const auto found = ids_.find(value); found != ids_.end()) return latest_ = found->second;
    if (values_->size() == std::numeric_limits<Id>::max()) return std::nullopt;
    latest_ = static_cast<Id>(values_->size());
    values_->push_back(value);
    ids_.emplace(value, latest_);
    return latest_;
  }

 private:
  std::vector<Value>* values_;  // by id
  std::map<Value, Id> ids_;
  Id latest_ = 0;
};

class KinetoBuilder {
 public:
  KinetoBuilder(ByteWindow& window, Repairs& repairs) : reader_(window, repairs), repairs_(&repairs) {}

  KinetoTrace build() {
    while (reader_.next(event_)) {
      ++trace_.events;
      take();
      if (event_.repair) repairs_->add(*event_.repair, event_.offset);
    }
    trace_.header = reader_.header();
    return std::move(trace_);
  }

 private:
  void take() {
    if (event_.phase() == 'X') {
      const Category category = category_of(event_.raw(EventField::category));
      if (category != Category::none) take_span(category);
    } else if (event_.phase() == 'i' && event_.raw(EventField::name) == "[memory]") {
      take_memory();
    }
  }

  void take_span(Category category) {
    const std::optional<Nanos> begin = time();
    if (!begin || (category == Category::python && !event_.raw(EventField::name).starts_with(module_prefix)))
      return;
    if (category == Category::runtime) return take_launch(*begin);
    if (category == Category::sync) return take_synchronisation(*begin);
    const std::optional<Nanos> lasted = duration(*begin);
    if (!lasted) return;
    const Nanos end = *begin + *lasted;
    if (category == Category::operation || category == Category::annotation || category == Category::python) {
      return take_host(category, *begin, end);
    }
    take_device(category, *begin, end);
  }

  // When the event began; a repair where that is not known.
  std::optional<Nanos> time() {
    const std::optional<Nanos> begin = event_.micros(EventField::begin);
    if (!begin) event_.repair = Repair::clock_out_of_range;
    const std::string_view text = event_.raw(EventField::begin);
    trace_.whole_micros = trace_.whole_micros && text.find('.') == std::string_view::npos;
    return begin;
  }

  std::optional<Nanos> duration(Nanos begin) {
    const std::optional<Nanos> lasted = event_.micros(EventField::duration);
    if (!lasted || (lasted->value == 0 && begin.value == 0)) {
      event_.repair = Repair::missing_duration;  // zeros: the profiler never learned when it ran
      return std::nullopt;
    }
    if (lasted->value < 0) {
      event_.repair = Repair::negative_duration;
      return std::nullopt;
    }
    if (!durations_.admit(lasted->value)) {
      event_.repair = Repair::clock_out_of_range;
      return std::nullopt;
    }
    return lasted;
  }

  std::optional<ThreadId> thread() { return counted(threads_.id_of(track())); }

  std::optional<StreamId> stream() { return counted(streams_.id_of(track())); }

  Track track() const { return {event_.track(EventField::process), event_.track(EventField::thread)}; }

  // What has no id is dropped.
  template <class Id>
  std::optional<Id> counted(std::optional<Id> id) {
    if (!id) event_.repair = Repair::dropped_event;
    return id;
  }

  void take_host(Category category, Nanos begin, Nanos end) {
    const std::optional<ThreadId> on = thread();
    if (!on) return;
    std::string_view name = event_.text(EventField::name);
    HostSpan span{.begin = begin,
                  .end = end,
                  .name = 0,
                  .thread = *on,
                  .kind = HostKind::operation,
                  .forward_thread = 0,
                  .sequence = std::nullopt,
                  .shapes = hash_of(event_.raw(EventField::shapes)),
                  .external = event_.identifier(EventField::external_id).value_or(0)};
    if (category == Category::python) {
      span.kind = HostKind::module;
      name.remove_prefix(module_prefix.size());
    } else if (category == Category::annotation || name.starts_with("ProfilerStep#")) {
      span.kind = HostKind::annotation;
    } else {
      take_autograd(name, span);
    }
    span.name = trace_.names.id_of(name);
    trace_.host.push_back(span);
  }

  void take_autograd(std::string_view name, HostSpan& span) {
    const std::optional<std::int64_t> sequence = event_.integer(EventField::sequence);
    if (sequence && *sequence >= 0) span.sequence = static_cast<std::uint32_t>(*sequence);
    span.forward_thread = static_cast<std::uint16_t>(event_.integer(EventField::forward_thread).value_or(0));
    if (name.starts_with("autograd::engine::evaluate_function") || span.forward_thread > 0 ||
        name.starts_with("torch::autograd::AccumulateGrad")) {
      span.kind = HostKind::backward_node;
    }
  }

  void take_launch(Nanos at) {
    const std::optional<std::uint64_t> correlation = event_.identifier(EventField::correlation);
    const std::optional<ThreadId> on = thread();
    if (correlation && on) trace_.launches.push_back({at, *correlation, *on});
  }

  void take_device(Category category, Nanos begin, Nanos end) {
    const std::optional<StreamId> on = stream();
    if (!on) return;
    DeviceSpan span{.begin = begin,
                    .end = end,
                    .correlation = event_.identifier(EventField::correlation).value_or(0),
                    .external = event_.identifier(EventField::external_id).value_or(0),
                    .stream = *on,
                    .kind = DeviceKind::kernel};
    if (category == Category::copy) return take_copy(span);
    if (category == Category::set) span.kind = DeviceKind::set;
    if (category == Category::kernel && is_collective(event_)) span.kind = DeviceKind::collective;
    trace_.device.push_back(span);
  }

  void take_copy(DeviceSpan span) {
    // No link moves this much in a microsecond, the coarsest unit of time in use.
    constexpr std::int64_t most_in_no_time = std::int64_t{1} << 18;
    span.kind = DeviceKind::copy;
    DeviceCopy copy{.span = span,
                    .kind = copy_kind_of(event_.text(EventField::name)),
                    .bytes = {},
                    .claimed = {},
                    .timed = true};
    const std::optional<std::int64_t> bytes = size(EventField::bytes);
    if (bytes && *bytes >= 0) copy.bytes = Bytes{*bytes};
    copy.claimed = event_.number(EventField::bandwidth);
    if (span.duration().value == 0 && bytes.value_or(0) >= most_in_no_time) {
      event_.repair = Repair::zero_duration;
      copy.timed = false;
    }
    trace_.copies.push_back(copy);
  }

  void take_synchronisation(Nanos at) {
    const std::optional<StreamId> on = stream();
    if (!on) return;
    std::optional<std::int64_t> awaited = event_.integer(EventField::awaited_stream);
    if (awaited && *awaited < 0) awaited.reset();
    trace_.synchronisations.push_back({.at = at,
                                       .kind = trace_.names.id_of(event_.text(EventField::sync_kind)),
                                       .stream = *on,
                                       .awaited = awaited});
  }

  void take_memory() {
    const std::optional<Nanos> at = time();
    const std::optional<std::int64_t> bytes = size(EventField::memory_bytes);
    const std::optional<ThreadId> on = thread();
    if (!at || !bytes || !on) return;
    const MemoryDevice device{event_.integer(EventField::device_type).value_or(0),
                              event_.integer(EventField::device_id).value_or(0)};
    const std::optional<std::uint8_t> in = counted(memory_devices_.id_of(device));
    if (!in) return;
    trace_.memory.push_back({.at = *at,
                             .address = event_.identifier(EventField::address).value_or(0),
                             .bytes = {*bytes},
                             .allocated = total(EventField::total_allocated),
                             .reserved = total(EventField::total_reserved),
                             .thread = *on,
                             .device = *in});
  }

  // A number of bytes; a repair where no machine has that many.
  std::optional<std::int64_t> size(EventField field) {
    const std::optional<std::int64_t> value = event_.integer(field);
    if (!value || bytes_.admit(*value)) return value;
    event_.repair = Repair::size_out_of_range;
    return std::nullopt;
  }

  // A level, which is never summed up.
  std::optional<Bytes> total(EventField field) {
    const std::optional<std::int64_t> value = event_.integer(field);
    if (!value || !SumGuard().admit(*value)) return std::nullopt;
    return Bytes{*value};
  }

  static constexpr std::string_view module_prefix = "nn.Module: ";

  EventReader reader_;
  Repairs* repairs_;
  SumGuard durations_, bytes_;
  TraceEvent event_;
  KinetoTrace trace_;
  DenseIds<ThreadId, Track> threads_{trace_.threads};
  DenseIds<StreamId, Track> streams_{trace_.streams};
  DenseIds<std::uint8_t, MemoryDevice> memory_devices_{trace_.memory_devices};
};

}  // namespace

KinetoTrace read_kineto(ByteWindow& window, Repairs& repairs) {
  return KinetoBuilder(window, repairs).build();
}

}  // namespace stowage
