#include "tuner/free/pattern_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/free/walk.h"

namespace stowage {
namespace {

constexpr std::int64_t most_segment = 8, furthest_prefetch = 8;
constexpr int most_prices_of_excess = 10;
constexpr double dearer = 1.5;
constexpr Role roles[] = {Role::keep, Role::away, Role::recompute, Role::recompute_attention,
                          Role::recompute_ffn};

bool of_scope(Role role) {
  return role == Role::recompute_attention || role == Role::recompute_ffn;
}

class PatternSearch {
 public:
  PatternSearch(const BlockTable& table, Improvement& pricing, double excess_price, const Draft& base)
      : table_(table), pricing_(pricing), first_price_(excess_price), base_(base), parts_(parts_of(table)) {
    for (const Range& part : parts_) longest_ = std::max<std::int64_t>(longest_, part.size());
  }

  // Of all parts alike: half of each is of `half`, the rest of `other`.
  void begin(Role half, Role other, bool away_first) {
    pattern_ = {};
    pattern_.away_first = away_first;
    pattern_.transfer = base_.transfer;
    for (const Range& part : parts_) {
      PartPattern one;
      one.of(half) = part.size() / 2;
      one.of(other) += part.size() - part.size() / 2;
      pattern_.parts.push_back(one);
    }
    merit_ = price(pattern_);
  }

  // Until the pattern fits, or no price of excess makes it.
  void descend() {
    excess_price_ = first_price_;
    for (int price = 0; price < most_prices_of_excess; ++price) {
      do {
        better_ = false;
        for (std::int64_t step = std::max<std::int64_t>(1, longest_ / 2); step > 0; step /= 2)
          for (std::size_t part = 0; part < parts_.size(); ++part) change_part(part, step);
        change_whole();
      } while (better_);
      if (merit_.excess == Bytes{} || pricing_.cancelled()) return;
      excess_price_ *= dearer;
    }
  }

  Merit merit() const { return merit_; }
  Draft draft() const { return draft_of(table_, parts_, pattern_, base_); }

 private:
  Merit price(const Pattern& pattern) {
    Draft draft = draft_of(table_, parts_, pattern, base_);
    return pricing_.price(draft);
  }

  bool allowed(const Pattern& pattern) const {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const PartPattern& part = pattern.parts[p];
      if (part.swapped < 0 || part.swapped > parts_[p].size()) return false;
      if (std::any_of(part.blocks.begin(), part.blocks.end(), [](std::int64_t n) { return n < 0; }))
        return false;
    }
    return pattern.segment >= 1 && pattern.segment <= most_segment && pattern.transfer.prefetch >= 0 &&
           pattern.transfer.prefetch <= furthest_prefetch;
  }

  template <class Change>
  void attempt(const Change& change) {
    if (pricing_.cancelled()) return;
    Pattern changed = pattern_;
    change(changed);
    if (changed == pattern_ || !allowed(changed)) return;
    const Merit merit = price(changed);
    const double cost = cost_of(merit, excess_price_), before = cost_of(merit_, excess_price_);
    if (cost > before || (cost == before && merit >= merit_)) return;
    merit_ = merit;
    pattern_ = std::move(changed);
    better_ = true;
  }

  bool has(std::size_t part, Role role) const {
    const auto& times = table_.rows[parts_[part].begin].scope_forward;
    if (role == Role::recompute_attention)
      return times[static_cast<std::size_t>(Scope::attention)].has_value();
    if (role == Role::recompute_ffn) return times[static_cast<std::size_t>(Scope::ffn)].has_value();
    return true;
  }

  void change_part(std::size_t part, std::int64_t step) {
    for (const std::int64_t by : {step, -step}) attempt([&](Pattern& p) { p.parts[part].swapped += by; });
    for (Role from : roles)
      for (Role to : roles) {
        if (from == to || !has(part, from) || !has(part, to)) continue;
        const auto move = [&](Pattern& p) {
          p.parts[part].of(from) -= step;
          p.parts[part].of(to) += step;
        };
        attempt(move);
        if (of_scope(from) || of_scope(to)) continue;
        for (const std::int64_t by : {step, -step}) {
          attempt([&](Pattern& p) {
            move(p);
            p.parts[part].swapped += by;
          });
        }
        for (std::size_t other = 0; other < parts_.size(); ++other) {
          if (other == part || !has(other, from) || !has(other, to)) continue;
          attempt([&](Pattern& p) {
            move(p);
            p.parts[other].of(from) += step;
            p.parts[other].of(to) -= step;
          });
        }
      }
    for (std::size_t other = 0; other < parts_.size(); ++other)
      attempt([&](Pattern& p) {
        p.parts[part].swapped += step;
        p.parts[other].swapped -= step;
      });
  }

  void change_whole() {
    for (const std::int64_t by : {1, -1}) {
      attempt([&](Pattern& p) { p.segment += by; });
      attempt([&](Pattern& p) { p.transfer.prefetch += by; });
    }
    attempt([](Pattern& p) { p.inputs_travel = !p.inputs_travel; });
    attempt([](Pattern& p) { p.transfer.h2d_streams = 3 - p.transfer.h2d_streams; });
    attempt([](Pattern& p) { p.transfer.d2h_streams = 3 - p.transfer.d2h_streams; });
  }

  const BlockTable& table_;
  Improvement& pricing_;
  const double first_price_;
  double excess_price_ = first_price_;
  const Draft& base_;
  const std::vector<Range> parts_;
  std::int64_t longest_ = 1;
  Pattern pattern_;
  Merit merit_{};
  bool better_ = false;
};

}  // namespace

void search_patterns(const BlockTable& table, Improvement& pricing, double excess_price, const Draft& base,
                     const std::function<void(const Merit&, Draft)>& found) {
  struct Begin {
    Role half, other;
    bool away_first;
  };
  PatternSearch search(table, pricing, excess_price, base);
  for (const Begin& begin :
       {Begin{Role::keep, Role::keep, false}, Begin{Role::away, Role::keep, false},
        Begin{Role::recompute, Role::recompute, false}, Begin{Role::away, Role::keep, true}}) {
    search.begin(begin.half, begin.other, begin.away_first);
    search.descend();
    found(search.merit(), search.draft());
  }
}

}  // namespace stowage
