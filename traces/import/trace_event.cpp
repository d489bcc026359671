#include "traces/import/trace_event.h"

#include <limits>

namespace stowage {
namespace {

struct Spelling {
  std::string_view key;
  Field field;
};

constexpr Spelling of_event[] = {
    {"ph", Field::phase},     {"cat", Field::category}, {"name", Field::name},
    {"pid", Field::process},  {"tid", Field::thread},   {"ts", Field::begin},
    {"dur", Field::duration}, {"id", Field::id},        {"totalGlobalMem", Field::total_memory},
};

constexpr Spelling of_args[] = {
    {"correlation", Field::correlation},
    {"External id", Field::external_id},
    {"external id", Field::external_id},
    {"Sequence number", Field::sequence},
    {"sequence number", Field::sequence},
    {"Fwd thread id", Field::forward_thread},
    {"Input Dims", Field::shapes},
    {"bytes", Field::bytes},
    {"size", Field::bytes},
    {"memory bandwidth (GB/s)", Field::bandwidth},
    {"Collective name", Field::collective},
    {"Addr", Field::address},
    {"Bytes", Field::memory_bytes},
    {"Total Allocated", Field::total_allocated},
    {"Total Reserved", Field::total_reserved},
    {"Device Type", Field::device_type},
    {"Device Id", Field::device_id},
    {"cuda_sync_kind", Field::sync_kind},
    {"wait_on_stream", Field::awaited_stream},
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

  std::optional<Field> find(std::string_view key) const {
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

std::optional<Field> field_of(std::string_view key, bool inside_args) {
  return (inside_args ? args_keys : event_keys).find(key);
}

std::string_view TraceEvent::text(Field field) const {
  const std::string_view raw_text = raw(field);
  const auto index = static_cast<std::size_t>(field);
  if (!has(field) || !texts_[index].escaped) return raw_text;
  return unescaped_[index] = unescaped(raw_text);
}

std::optional<std::int64_t> TraceEvent::integer(Field field) const {
  return integer_of(raw(field));
}

std::optional<std::uint64_t> TraceEvent::identifier(Field field) const {
  return identifier_of(raw(field));
}

std::optional<double> TraceEvent::number(Field field) const {
  return number_of(raw(field));
}

std::optional<Nanos> TraceEvent::micros(Field field) const {
  return micros_of(raw(field));
}

std::int64_t TraceEvent::track(Field field) const {
  constexpr std::string_view stream = "stream ";
  std::string_view name = raw(field);
  if (name.starts_with(stream)) name.remove_prefix(stream.size());
  while (name.ends_with(' ')) name.remove_suffix(1);
  return integer_of(name).value_or(stand_in(raw(field)));
}

}  // namespace stowage
