// What the scripts of a report's page read.
#pragma once

#include <string>

#include "tests/catch.h"
#include "traces/json.h"

namespace stowage::tests {

// Fails the test where the page has no data.
inline JsonNode data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const std::size_t from = begin + open.size();
  return JsonNode::parse(page.substr(from, page.find("</script>", from) - from));
}

}  // namespace stowage::tests
