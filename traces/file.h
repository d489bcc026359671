// Whole files, read and written safely.
#pragma once

#include <string>

#include "traces/error.h"

namespace stowage {

// Throws SystemError naming the file and the reason ("no such file", "is a directory", ...).
std::string read_file(const std::string& file);

// What `parse` makes of the file's content; an InputError it throws comes out naming the file.
template <class Parse>
auto parse_file(const std::string& file, Parse parse) {
  try {
    return parse(read_file(file));
  } catch (const InputError& error) {
    throw error.in(file);
  }
}

// Writes beside `file` and renames, so that `file` is the old content or the new one, never half of it; a
// failure (no such folder, a full disk) leaves nothing behind. A symbolic link is written through, an
// existing file keeps its mode and is refused if it is read-only. What cannot be replaced (a device, a pipe,
// /dev/stdout) is appended to. Throws SystemError.
void write_file(const std::string& file, const std::string& content);

}  // namespace stowage
