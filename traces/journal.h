// What an allocator was asked for, in order: recorded once, it can be replayed into any arena.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/units.h"

namespace stowage {

// An allocation, or a free: at once where the buffer's own stream used it last, and where another one did,
// when that one has passed it.
struct JournalEntry {
  Nanos at;
  std::uint32_t buffer = 0;
  bool allocates = true;
  Bytes bytes;               // of an allocation, as requested
  std::uint32_t stream = 0;  // allocation: from whose memory; free: which used the buffer last

  bool operator==(const JournalEntry&) const = default;
};

struct Journal {
  std::string name;
  std::vector<std::string> streams;  // their names; an entry's `stream` is an index into them
  // Ascending in time. A buffer is allocated while it is not alive and freed while it is; its id is less than
  // the number of entries.
  std::vector<JournalEntry> entries;

  bool operator==(const Journal&) const = default;
};

// As for profiles: throws InputError with the path of the key, also where an entry breaks one of the rules
// above.
Journal read_journal(const std::string& file);
Journal parse_journal(const std::string& text);
std::string to_json(const Journal& journal);

}  // namespace stowage
