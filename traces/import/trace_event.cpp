#include "traces/import/trace_event.h"

#include <limits>

namespace stowage {
namespace {

struct Spelling {
  std::string_view key;
  EventField field;
};

constexpr Spelling of_event[] = {
    {"ph", EventField::phase},
    {"cat", EventField::category},
    {"name", EventField::name},
    {"pid", EventField::process},
    {"tid", EventField::thread},
    {"ts", EventField::begin},
    {"dur", EventField::duration},
    {"id", EventField::id},
    {"totalGlobalMem", EventField::total_memory},
};

constexpr Spelling of_args[] = {
    {"correlation", EventField::correlation},
    {"External id", EventField::external_id},
    {"external id", EventField::external_id},
    {"Sequence number", EventField::sequence},
    {"sequence number", EventField::sequence},
    {"Fwd thread id", EventField::forward_thread},
    {"Input Dims", EventField::shapes},
    {"bytes", EventField::bytes},
    {"size", EventField::bytes},
    {"memory bandwidth (GB/s)", EventField::bandwidth},
    {"Collective name", EventField::collective},
    {"Addr", EventField::address},
    {"Bytes", EventField::memory_bytes},
    {"Total Allocated", EventField::total_allocated},
    {"Total Reserved", EventField::total_reserved},
    {"Device Type", EventField::device_type},
    {"Device Id", EventField::device_id},
    {"cuda_sync_kind", EventField::sync_kind},
    {"wait_on_stream", EventField::awaited_stream},
};

// A table of keys by a hash that is chosen, when this is compiled, so that no two keys meet.
struct KeyTable {
  static constexpr std::size_t slots = 128;

  std::uint32_t factor = 0;
  std::array<Spelling, slots> entries{};

  static constexpr std::size_t slot_of(std::string_view key, std::uint32_t factor) {
    const auto first = static_cast<unsigned char>(key.front()), last = static_cast<unsigned char>(key.back());
    return ((key.size() * 29 + first) * factor + last * 5U) % slots;
  }

  template <std::size_t count>
  static constexpr KeyTable of(const Spelling (&spellings)[count]) {
    for (std::uint32_t factor = 1;; ++factor) {
      KeyTable table;
      table.factor = factor;
      bool free = true;
      for (const Spelling& spelling : spellings) {
        Spelling& entry = table.entries[slot_of(spelling.key, factor)];
        free = free && entry.key.empty();
        entry = spelling;
      }
      if (free) return table;
    }
  }

  std::optional<EventField> find(std::string_view key) const {
    if (key.empty()) return std::nullopt;
    const Spelling& entry = entries[slot_of(key, factor)];
    if (entry.key.size() != key.size()) return std::nullopt;
    for (std::size_t i = 0; i < key.size(); ++i) {  // short, and inline
      if (entry.key[i] != key[i]) return std::nullopt;
    }
    return entry.field;
  }
};

constexpr KeyTable event_keys = KeyTable::of(of_event), args_keys = KeyTable::of(of_args);

// FNV-1a, in the half of the integers below any process or thread id.
std::int64_t stand_in(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(hash >> 2);
}

}  // namespace

std::optional<EventField> field_of(std::string_view key, bool inside_args) {
  return (inside_args ? args_keys : event_keys).find(key);
}

std::string_view TraceEvent::text(EventField field) const {
  const std::string_view raw_text = raw(field);
  const auto index = static_cast<std::size_t>(field);
  if (!has(field) || !texts_[index].escaped) return raw_text;
  return unescaped_[index] = unescaped(raw_text);
}

std::optional<std::int64_t> TraceEvent::integer(EventField field) const {
  return integer_of(raw(field));
}

std::optional<std::uint64_t> TraceEvent::identifier(EventField field) const {
  return identifier_of(raw(field));
}

std::optional<double> TraceEvent::number(EventField field) const {
  return number_of(raw(field));
}

std::optional<Nanos> TraceEvent::micros(EventField field) const {
  return micros_of(raw(field));
}

std::int64_t TraceEvent::track(EventField field) const {
  constexpr std::string_view stream = "stream ";
  std::string_view name = raw(field);
  if (name.starts_with(stream)) name.remove_prefix(stream.size());
  while (name.ends_with(' ')) name.remove_suffix(1);
  return integer_of(name).value_or(stand_in(raw(field)));
}

}  // namespace stowage
