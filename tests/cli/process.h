// Runs the program itself, as a user does, in a folder of its own.
#pragma once

#include <cstdint>
#include <string>

#include "traces/json.h"

namespace stowage::tests {

struct Ended {
  int code;
  std::string out, err;  // standard output and standard error

  // Standard output as one JSON object; fails the test where it is not.
  JsonNode json() const;
};

// A number of an answer; fails the test where it is not one.
inline std::int64_t figure(const JsonNode& answer, const char* key) {
  return answer.at(key).integer();
}

// An empty folder that goes with its object. It holds the worked example: profile.json and machine.json.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;

  // `arguments` as a shell reads them, after "stowage". `before` is put in front of the program: "ulimit -f
  // 0;".
  Ended stowage(const std::string& arguments, const std::string& before = "") const;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string read(const std::string& name) const;
  void write(const std::string& name, const std::string& content) const;
  bool holds(const std::string& name) const;
  // How many files and folders there are.
  std::size_t size() const;

 private:
  std::string folder_;
};

}  // namespace stowage::tests
