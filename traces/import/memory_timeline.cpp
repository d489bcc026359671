#include "traces/import/memory_timeline.h"

#include <algorithm>
#include <array>

#include "traces/import/json_stream.h"
#include "traces/import/sum_guard.h"

namespace stowage {
namespace {

// PyTorch's categories, by its numbers.
constexpr std::array categories = {"parameter",  "optimizer_state", "input",           "temporary",
                                   "activation", "gradient",        "autograd_detail", "none"};
using Levels = std::array<Bytes, categories.size()>;

std::size_t category_at(std::int64_t index) {
  const auto last = static_cast<std::int64_t>(categories.size()) - 1;
  return static_cast<std::size_t>(index < 0 || index > last ? last : index);
}

// Follows the levels to their peak.
class TimelineAccount {
 public:
  void change(Nanos at, std::size_t category, Bytes by) {
    levels_[category] += by;
    settle(at);
  }
  void set(Nanos at, const Levels& levels) {
    levels_ = levels;
    settle(at);
  }

  MemoryReport take() {
    MemoryReport report;
    report.account = std::move(account_);
    for (std::size_t i = 0; i < categories.size(); ++i) {
      if (at_peak_[i].value != 0) report.at_peak.push_back({categories[i], at_peak_[i]});
    }
    std::stable_sort(report.at_peak.begin(), report.at_peak.end(),
                     [](const MemoryShare& a, const MemoryShare& b) { return a.bytes > b.bytes; });
    return report;
  }

 private:
  void settle(Nanos at) {
    Bytes level;
    for (const Bytes bytes : levels_) level += bytes;
    account_.end = level;
    if (at.value < 0) account_.start = level;
    if (at.value >= 0) account_.curve.push_back({at, level});
    if (level <= account_.peak) return;
    account_.peak = level;
    account_.peak_at = std::max(at, Nanos{});
    at_peak_ = levels_;
  }

  Levels levels_{}, at_peak_{};
  MemoryAccount account_;
};

class TimelineReader {
 public:
  TimelineReader(ByteWindow& window, Repairs& repairs)
      : repairs_(&repairs),
        stream_(window, repairs,
                {.array = "",
                 .first_keys = {},
                 .element = [this](JsonScan& scan) { return read_element(scan); },
                 .member = {}}) {}

  ImportReport read() {
    ImportReport report;
    report.format = RecordingFormat::memory_timeline;
    while (stream_.next()) {
      if (const auto repair = stream_.repair()) repairs_->add(*repair, stream_.offset());
      take_element();
    }
    take_pending();
    report.events = changes_;
    report.memory = account_.take();
    const std::vector<MemorySample>& curve = report.memory->account.curve;
    if (!curve.empty()) {
      const auto [first, last] =
          std::minmax_element(curve.begin(), curve.end(),
                              [](const MemorySample& a, const MemorySample& b) { return a.at < b.at; });
      report.steps.push_back({first->at, last->at, report.memory->account.peak});
    }
    return report;
  }

 private:
  // One element: numbers, or rows of numbers.
  bool read_element(JsonScan& scan) {
    numbers_.clear();
    rows_.clear();
    if (!scan.take('[')) return false;
    for (bool first = true; scan.another(']', first); first = false) {
      if (scan.peek() == '[') {
        rows_.emplace_back();
        if (!scan.take('[') || !read_numbers(scan, rows_.back())) return false;
      } else if (!read_number(scan, numbers_)) {
        return false;
      }
    }
    return scan.failure() == JsonScan::Failure::none;
  }

  static bool read_numbers(JsonScan& scan, std::vector<std::int64_t>& into) {
    for (bool first = true; scan.another(']', first); first = false) {
      if (!read_number(scan, into)) return false;
    }
    return scan.failure() == JsonScan::Failure::none;
  }

  static bool read_number(JsonScan& scan, std::vector<std::int64_t>& into) {
    JsonText value;
    if (!scan.value(value, JsonScan::Place::item)) return false;
    into.push_back(integer_of(value.text).value_or(0));
    return true;
  }

  // The first element alone does not tell the forms apart.
  void take_element() {
    if (!rows_.empty()) {
      if (!numbers_.empty()) drop();  // numbers between rows
      take_rows();
    } else if (numbers_.empty()) {
      drop();
    } else {
      take_pending();
      pending_ = numbers_;
    }
  }

  void take_pending() {
    if (!pending_.empty() && pending_.size() != 4) drop();
    if (pending_.size() == 4) {
      ++changes_;
      const Bytes change{sizes_.admit(pending_[2]) ? pending_[2] : 0};
      account_.change({std::clamp<std::int64_t>(pending_[0], -1, latest)}, category_at(pending_[3]), change);
    }
    pending_.clear();
  }

  void take_rows() {
    const std::size_t paired = std::min(rows_.size(), pending_.size());
    for (std::size_t i = paired; i < std::max(rows_.size(), pending_.size()); ++i) drop();
    for (std::size_t i = 0; i < paired; ++i) {
      if (rows_[i].size() < 2 || rows_[i].size() > categories.size() + 1) {  // a leading 0, then a level each
        drop();
        continue;
      }
      Levels levels{};
      for (std::size_t k = 1; k < rows_[i].size(); ++k)
        levels[category_at(static_cast<std::int64_t>(k) - 1)] += level(rows_[i][k]);
      ++changes_;
      account_.set({std::clamp<std::int64_t>(pending_[i], 0, latest / 1000) * 1000}, levels);
    }
    pending_.clear();
  }

  // A row of the wrong shape.
  void drop() { repairs_->add(Repair::dropped_event, stream_.offset()); }

  static Bytes level(std::int64_t bytes) { return {SumGuard().admit(bytes) ? bytes : 0}; }

  static constexpr std::int64_t latest = 4'000'000'000'000'000'000;  // the year 2096

  Repairs* repairs_;
  SumGuard sizes_;
  std::vector<std::int64_t> numbers_, pending_;
  std::vector<std::vector<std::int64_t>> rows_;
  std::int64_t changes_ = 0;
  TimelineAccount account_;
  JsonStream stream_;
};

}  // namespace

ImportReport import_memory_timeline(ByteWindow& window) {
  Repairs repairs;
  ImportReport report = TimelineReader(window, repairs).read();
  report.repairs = repairs;
  return report;
}

}  // namespace stowage
