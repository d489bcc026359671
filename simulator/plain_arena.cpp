#include "simulator/plain_arena.h"

#include <algorithm>
#include <map>
#include <optional>

namespace stowage {
namespace {

constexpr std::int64_t mib = 1048576;
constexpr std::int64_t endless_bytes = 100'000'000'000 * 20 * mib;

}  // namespace

bool PlainArena::follows(Place place) const {
  return place > 0 && pieces_[place - 1].segment == pieces_[place].segment;
}

void PlainArena::join_equals() {
  std::vector<Piece> joined;
  for (const Piece& piece : pieces_) {
    const bool idle = piece.use == Use::none || piece.use == Use::unmapped;
    if (idle && !joined.empty() && joined.back().segment == piece.segment && joined.back().use == piece.use)
      joined.back().bytes += piece.bytes;
    else
      joined.push_back(piece);
  }
  pieces_ = joined;
}

std::int64_t PlainArena::reserved() const {
  std::int64_t sum = 0;
  for (const Piece& piece : pieces_)
    if (piece.use != Use::unmapped) sum += piece.bytes;
  return sum;
}

ArenaLevels PlainArena::levels() const {
  ArenaLevels levels;
  levels.reserved = {reserved()};
  for (const Piece& piece : pieces_) {
    if (piece.use == Use::buffer) levels.live += piece.requested;
    if (piece.use == Use::buffer || piece.use == Use::awaited) levels.allocated += Bytes{piece.bytes};
  }
  return levels;
}

void PlainArena::return_awaited(Nanos at) {
  for (Piece& piece : pieces_)
    if (piece.use == Use::awaited && piece.from <= at) piece.use = Use::none;
  join_equals();
}

bool PlainArena::allocate(const ArenaRequest& request, Nanos at) {
  return_awaited(at);
  if (request.bytes.value == 0) return true;
  const std::int64_t bytes = (request.bytes.value + 511) / 512 * 512;
  if (find_cached(request, bytes) || take_new(request, bytes)) return true;
  ++retries_;
  give_back_cached();
  return take_new(request, bytes);
}

void PlainArena::free(std::uint32_t buffer, std::uint32_t stream, Nanos at) {
  for (Piece& piece : pieces_) {
    if (piece.use != Use::buffer || piece.buffer != buffer) continue;
    const bool waits = stream != piece.stream && options_.record_stream_lag.value > 0;
    piece.use = waits ? Use::awaited : Use::none;
    piece.from = at + options_.record_stream_lag;
    break;
  }
  join_equals();
}

// Puts the buffer at the front of a free piece and cuts off the rest, where that is worth it.
bool PlainArena::place(const ArenaRequest& request, std::int64_t bytes, Place where) {
  Piece rest = pieces_[where];
  rest.bytes -= bytes;
  const bool fine = options_.expandable_segments || rest.small;
  if (fine ? rest.bytes >= 512 : rest.bytes > mib) {
    pieces_[where].bytes = bytes;
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(where) + 1, rest);
  }
  pieces_[where].use = Use::buffer;
  pieces_[where].buffer = request.buffer;
  pieces_[where].requested = request.bytes;
  return true;
}

bool PlainArena::find_cached(const ArenaRequest& request, std::int64_t bytes) {
  std::vector<Place> fit;  // by size; the list itself is by address
  for (Place i = 0; i < pieces_.size(); ++i)
    if (pieces_[i].use == Use::none && pieces_[i].stream == request.stream &&
        pieces_[i].small == (bytes <= mib) && pieces_[i].bytes >= bytes)
      fit.push_back(i);
  if (fit.empty()) return false;
  std::stable_sort(fit.begin(), fit.end(),
                   [&](Place a, Place b) { return pieces_[a].bytes < pieces_[b].bytes; });
  const auto may_become = [&](Place i) {
    const bool grows = i + 1 < pieces_.size() && follows(i + 1) && pieces_[i + 1].use == Use::unmapped;
    return pieces_[i].bytes + (grows ? pieces_[i + 1].bytes : 0);
  };
  std::size_t chosen = 0;
  if (options_.expandable_segments)
    while (chosen + 1 < fit.size() && may_become(fit[chosen + 1]) < may_become(fit[chosen])) ++chosen;
  return place(request, bytes, fit[chosen]);
}

bool PlainArena::take_new(const ArenaRequest& request, std::int64_t bytes) {
  if (options_.expandable_segments) return take_pages(request, bytes);
  std::int64_t segment = (bytes + 2 * mib - 1) / (2 * mib) * (2 * mib);
  if (bytes < 10 * mib) segment = 20 * mib;
  if (bytes <= mib) segment = 2 * mib;
  if (reserved() + segment > budget_.value) return false;
  pieces_.push_back({segments_++, request.stream, bytes <= mib, segment, Use::none, 0, {}, {}});
  return place(request, bytes, pieces_.size() - 1);
}

// Tries every piece that is free or unmapped and has unmapped addresses in or right after it, from the
// lowest.
bool PlainArena::take_pages(const ArenaRequest& request, std::int64_t bytes) {
  const bool small = bytes <= mib;
  const std::int64_t page = (small ? 2 : 20) * mib;
  const auto idle = [&](Place i) { return pieces_[i].use == Use::none || pieces_[i].use == Use::unmapped; };
  std::optional<Place> first;
  for (Place i = 0; i < pieces_.size() && !first; ++i) {
    if (pieces_[i].stream != request.stream || pieces_[i].small != small || !idle(i)) continue;
    const bool leads = i + 1 < pieces_.size() && follows(i + 1) && pieces_[i + 1].use == Use::unmapped;
    if (pieces_[i].use != Use::unmapped && !leads) continue;
    std::int64_t room = 0;
    for (Place j = i; j < pieces_.size() && idle(j) && (j == i || follows(j)) && room < bytes; ++j)
      room += pieces_[j].bytes;
    if (room >= bytes) first = i;
  }
  if (!first) {
    pieces_.push_back({segments_++, request.stream, small, endless_bytes, Use::unmapped, 0, {}, {}});
    first = pieces_.size() - 1;
  }
  // Map until the run is long enough.
  for (std::int64_t have = pieces_[*first].use == Use::none ? pieces_[*first].bytes : 0; have < bytes;) {
    const Place next = *first + (have > 0 ? 1 : 0);
    const std::int64_t wanted = std::min(pieces_[next].bytes, bytes - have);
    const std::int64_t mapped = (wanted + page - 1) / page * page;
    if (reserved() + mapped > budget_.value) return false;
    Piece rest = pieces_[next];
    rest.bytes -= mapped;
    pieces_[next].bytes = mapped;
    pieces_[next].use = Use::none;
    if (rest.bytes > 0) pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(next) + 1, rest);
    join_equals();
    have = pieces_[*first].bytes;
  }
  return place(request, bytes, *first);
}

void PlainArena::give_back_cached() {
  return_awaited(Nanos{INT64_MAX});
  std::vector<Piece> kept;
  std::map<std::uint64_t, std::int64_t> begins;  // of the next piece of a segment
  for (Place i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    std::int64_t& begin = begins[piece.segment];
    const std::int64_t at = begin, end = begin + piece.bytes;
    begin = end;
    const bool last = i + 1 == pieces_.size() || !follows(i + 1);
    const bool whole = !follows(i) && last;
    if (piece.use == Use::none && whole && !options_.expandable_segments) continue;
    if (piece.use != Use::none || !options_.expandable_segments) {
      kept.push_back(piece);
      continue;
    }
    const std::int64_t page = (piece.small ? 2 : 20) * mib;
    const std::int64_t from = (at + page - 1) / page * page, to = end / page * page;
    for (const auto& [low, high, use] :
         {std::tuple(at, std::min(from, end), Use::none), std::tuple(from, std::max(from, to), Use::unmapped),
          std::tuple(std::max(from, to), end, Use::none)}) {
      if (high <= low) continue;
      kept.push_back(piece);
      kept.back().bytes = high - low;
      kept.back().use = use;
    }
  }
  pieces_ = kept;
  join_equals();
}

}  // namespace stowage
