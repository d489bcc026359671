#include "traces/import/call_tree.h"

#include <algorithm>

#include "traces/import/characters.h"

namespace stowage {
namespace {

bool separator(char c) {
  return c == ' ' || c == '_' || c == '.' || c == '-' || c == '#' || c == ':';
}

}  // namespace

std::string kind_name(std::string_view name) {
  std::string kind;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool inside_word = i > 0 && !digit(name[i - 1]) && !separator(name[i - 1]);
    if (!digit(name[i]) ||
        (inside_word && i + 1 < name.size() && !separator(name[i + 1]) && !digit(name[i + 1]))) {
      kind += name[i];  // the 2 of Conv2d and the like is part of the word
    }
  }
  if (kind.size() == name.size()) return kind;
  while (!kind.empty() && separator(kind.back())) kind.pop_back();
  return kind;
}

namespace {

// When something else begins on the span's thread.
Nanos next_begin(const HostOrder& order, HostIndex span) {
  const Nanos end = order[span].end;
  const HostIndex last = order.of(order[span].thread).last;
  for (HostIndex next = span + 1; next < last; ++next) {
    if (order[next].begin >= end) return order[next].begin;
  }
  return end;
}

}  // namespace

CallTree::CallTree(const KinetoTrace& trace, const HostOrder& order,
                   const std::function<bool(const HostSpan&)>& accept)
    : trace_(&trace), order_(&order) {
  const std::vector<bool> backward = inside_backward(order);
  std::map<NameTable::Id, std::uint32_t> kind_of_name;
  std::map<std::string, std::uint32_t> kind_of_text;
  std::vector<std::optional<std::uint32_t>> nearest(order.size());  // the call that a span is, or lies in
  for (HostIndex index = 0; index < order.size(); ++index) {
    const HostSpan& span = order[index];
    if (const auto parent = order.parent(index)) nearest[index] = nearest[*parent];
    if (!accept(span)) continue;
    auto named = kind_of_name.find(span.name);
    if (named == kind_of_name.end()) {
      const std::string text = kind_name(trace.names.text(span.name));
      const auto kind = kind_of_text.try_emplace(text, static_cast<std::uint32_t>(kind_of_text.size())).first;
      if (kind->second == kinds_.size()) kinds_.push_back(text);
      named = kind_of_name.emplace(span.name, kind->second).first;
    }
    places_.push_back({index, named->second, backward[index]});
    if (backward[index]) continue;
    const auto holder = nearest[index];
    nearest[index] = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back({named->second, span.name, holder, span.end - span.begin});
  }
}

Blocks CallTree::all() const {
  return make(std::vector<bool>(kinds_.size(), true));
}

Blocks CallTree::blocks_of(const std::vector<std::uint32_t>& kinds) const {
  std::vector<bool> chosen(kinds_.size());
  for (const std::uint32_t kind : kinds) chosen[kind] = true;
  return make(chosen);
}

Blocks CallTree::make(const std::vector<bool>& chosen) const {
  Blocks blocks;
  blocks.marks.resize(order_->size());
  std::vector<const Place*> outermost;
  std::vector<bool> inside(order_->size());
  for (const Place& place : places_) {
    if (chosen[place.kind]) inside[place.span] = true;
  }
  std::vector<bool> covered(order_->size());  // by a block around the span
  for (HostIndex index = 0; index < order_->size(); ++index) {
    const auto parent = order_->parent(index);
    covered[index] = parent && (covered[*parent] || inside[*parent]);
  }
  for (const Place& place : places_) {
    if (inside[place.span] && !covered[place.span]) outermost.push_back(&place);
  }
  std::sort(outermost.begin(), outermost.end(), [this](const Place* a, const Place* b) {
    const HostSpan &x = (*order_)[a->span], &y = (*order_)[b->span];
    return x.begin != y.begin ? x.begin < y.begin : a->span < b->span;
  });
  std::map<NameTable::Id, BlockId> ids;
  for (const Place* place : outermost) {
    const HostSpan& span = (*order_)[place->span];
    if (place->backward && !ids.contains(span.name)) continue;
    const auto id = ids.try_emplace(span.name, static_cast<BlockId>(ids.size())).first->second;
    if (id == blocks.names.size())
      blocks.names.push_back({trace_->names.text(span.name), kinds_[place->kind]});
    blocks.marks[place->span] = id;
    if (place->backward) {
      blocks.recomputed.push_back({.block = id,
                                   .thread = span.thread,
                                   .begin = span.begin,
                                   .end = span.end,
                                   .settled = next_begin(*order_, place->span)});
    } else {
      blocks.forward.push_back({id, span.thread, span.begin, span.end});
    }
  }
  return blocks;
}

}  // namespace stowage
