#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "traces/error.h"
#include "traces/import/pickle.h"

namespace stowage {

// The machine: a stack of values, marks in it, and a memo of values to use again.
class PickleReader {
 public:
  PickleReader(ByteWindow& window, Repairs& repairs)
      : window_(&window), repairs_(&repairs), at_(window.begin()) {}

  Pickle read() {
    try {
      while (!stopped_) {
        opcode_at_ = window_->offset_of(at_);
        charge(cost_of_opcode);
        execute(static_cast<Opcode>(number(1)));
      }
    } catch (const CutShort&) {
      repairs_->add(Repair::truncated, opcode_at_);
      close_open_containers();
    }
    if (stack_.empty()) refuse("nothing is left on the stack");
    pickle_.root_ = stack_.back();
    return std::move(pickle_);
  }

 private:
  struct CutShort {};

  using Kind = PickleValue::Kind;

  enum class Opcode : std::uint8_t {
    mark = '(',
    empty_tuple = ')',
    stop = '.',
    pop = '0',
    pop_mark = '1',
    dup = '2',
    binbytes = 'B',
    short_binbytes = 'C',
    binfloat = 'G',
    binint = 'J',
    binint1 = 'K',
    binint2 = 'M',
    none = 'N',
    binunicode = 'X',
    empty_list = ']',
    append = 'a',
    appends = 'e',
    binget = 'h',
    long_binget = 'j',
    binput = 'q',
    long_binput = 'r',
    setitem = 's',
    tuple = 't',
    setitems = 'u',
    empty_dict = '}',
    proto = 0x80,
    tuple1 = 0x85,
    tuple2 = 0x86,
    tuple3 = 0x87,
    newtrue = 0x88,
    newfalse = 0x89,
    long1 = 0x8a,
    long4 = 0x8b,
    short_binunicode = 0x8c,
    binunicode8 = 0x8d,
    binbytes8 = 0x8e,
    memoize = 0x94,
    frame = 0x95,
    bytearray8 = 0x96,
  };

  static constexpr std::uint32_t deepest = 100;
  static constexpr std::uint64_t widest = 1'000'000'000'000;
  static constexpr std::uint64_t longest_text = std::uint64_t{16} << 20;
  static constexpr std::uint64_t free_of_charge = std::uint64_t{64} << 20, charge_for_byte = 192;
  static constexpr std::uint64_t free_text = std::uint64_t{32} << 20, text_for_byte = 16;
  static constexpr std::uint64_t cost_of_opcode = 4, cost_of_text = 128;
  static constexpr std::size_t highest_stack = 1 << 20, most_marks = 1000, most_texts = 1 << 18;

  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError("", "byte " + std::to_string(opcode_at_),
                     "expected plain data in the pickle, but " + reason);
  }

  // What is made must be in proportion to the file: a bomb is small when packed.
  void charge(std::uint64_t bytes) {
    made_ += bytes;
    if (made_ > free_of_charge && made_ - free_of_charge > charge_for_byte * window_->taken())
      refuse("it unpacks to far more than any snapshot of its size");
  }

  void execute(Opcode opcode) {
    switch (opcode) {
      case Opcode::proto:
        return check_protocol();
      case Opcode::frame:
        if (number(8) > (std::uint64_t{1} << 40)) refuse("a frame is longer than any file");
        return;
      case Opcode::stop:
        stopped_ = true;
        return;
      default:
        if (!make_scalar(opcode) && !make_text(opcode) && !make_container(opcode) && !use_memo(opcode)) {
          refuse_opcode(opcode);
        }
    }
  }

  void check_protocol() {
    const std::uint64_t protocol = number(1);
    if (protocol < 2 || protocol > 5) refuse("its protocol is " + std::to_string(protocol));
  }

  [[noreturn]] void refuse_opcode(Opcode opcode) const {
    const auto code = static_cast<unsigned>(opcode);
    for (const char* naming :
         {"cGLOBAL", "iINST", "oOBJ", "RREDUCE", "bBUILD", "\x93STACK_GLOBAL", "\x81NEWOBJ", "\x92NEWOBJ_EX",
          "\x82"
          "EXT1",
          "\x83"
          "EXT2",
          "\x84"
          "EXT4",
          "PPERSID", "QBINPERSID", "\x97NEXT_BUFFER"}) {
      if (static_cast<unsigned char>(naming[0]) == code) {
        refuse(std::string("it wants to name or call code (") + (naming + 1) + "), which is never done");
      }
    }
    refuse("it has an instruction " + std::to_string(code) + " that a snapshot does not need");
  }

  // None, booleans and numbers. False for other instructions, as for those below.
  bool make_scalar(Opcode opcode) {
    switch (opcode) {
      case Opcode::none:
        return push({});
      case Opcode::newtrue:
      case Opcode::newfalse:
        return push({.kind = Kind::boolean, .integer = opcode == Opcode::newtrue ? 1 : 0});
      case Opcode::binint:
        return push_integer(static_cast<std::int32_t>(number(4)));
      case Opcode::binint1:
        return push_integer(static_cast<std::int64_t>(number(1)));
      case Opcode::binint2:
        return push_integer(static_cast<std::int64_t>(number(2)));
      case Opcode::long1:
        return push_long(number(1));
      case Opcode::long4:
        return push_long(number(4));
      case Opcode::binfloat:
        return push({.kind = Kind::real, .real = real()});
      default:
        return false;
    }
  }

  bool make_text(Opcode opcode) {
    switch (opcode) {
      case Opcode::short_binunicode:
      case Opcode::short_binbytes:
        return push_text(number(1));
      case Opcode::binunicode:
      case Opcode::binbytes:
        return push_text(number(4));
      case Opcode::binunicode8:
      case Opcode::binbytes8:
      case Opcode::bytearray8:
        return push_text(number(8));
      default:
        return false;
    }
  }

  bool make_container(Opcode opcode) {
    switch (opcode) {
      case Opcode::mark:
        if (marks_.size() == most_marks) refuse("its marks are nested too deeply");
        marks_.push_back(stack_.size());
        return true;
      case Opcode::empty_list:
      case Opcode::empty_tuple:
        return push_container(Kind::list);
      case Opcode::empty_dict:
        return push_container(Kind::dictionary);
      case Opcode::tuple1:
      case Opcode::tuple2:
      case Opcode::tuple3:
        return push_tuple(static_cast<std::size_t>(opcode) - static_cast<std::size_t>(Opcode::tuple1) + 1);
      case Opcode::tuple:
        return push_tuple(take_mark());
      default:
        return fill_container(opcode);
    }
  }

  bool fill_container(Opcode opcode) {
    switch (opcode) {
      case Opcode::append:
        return fill(Kind::list, 1);
      case Opcode::appends:
        return fill(Kind::list, take_mark());
      case Opcode::setitem:
        return fill(Kind::dictionary, 2);
      case Opcode::setitems:
        return fill(Kind::dictionary, take_mark());
      case Opcode::pop:
        need(1);
        stack_.pop_back();
        return true;
      case Opcode::pop_mark:
        stack_.resize(stack_.size() - take_mark());
        return true;
      case Opcode::dup:
        need(1);
        return push(stack_.back());
      default:
        return false;
    }
  }

  bool use_memo(Opcode opcode) {
    switch (opcode) {
      case Opcode::memoize:
        return remember(memo_.size());
      case Opcode::binput:
        return remember(number(1));
      case Opcode::long_binput:
        return remember(number(4));
      case Opcode::binget:
        return recall(number(1));
      case Opcode::long_binget:
        return recall(number(4));
      default:
        return false;
    }
  }

  // The bytes, in one piece, until the next call.
  std::string_view bytes(std::size_t count) {
    while (static_cast<std::size_t>(window_->end() - at_) < count) {
      if (!window_->more(at_)) throw CutShort{};
    }
    const std::string_view found(at_, count);
    at_ += count;
    return found;
  }

  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes(count).data(), count);
    return value;
  }

  double real() {
    std::uint64_t value = 0;
    for (const char byte : bytes(8)) value = (value << 8) | static_cast<unsigned char>(byte);
    return std::bit_cast<double>(value);
  }

  bool push(const PickleValue& value) {
    if (stack_.size() == highest_stack) refuse("it piles up more values than any snapshot");
    stack_.push_back(value);
    ++pushed_;
    return true;
  }

  bool push_integer(std::int64_t value) { return push({.kind = Kind::integer, .integer = value}); }

  // Little-endian two's complement of any length. Unsigned numbers of 64 bits take a ninth byte.
  bool push_long(std::uint64_t length) {
    if (length > 9) refuse("an integer has " + std::to_string(length) + " bytes");
    const std::string_view digits = bytes(length);
    const bool negative = !digits.empty() && static_cast<signed char>(digits.back()) < 0;
    if (digits.size() == 9 && digits.back() != '\0') refuse("an integer does not fit into 64 bits");
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    std::memcpy(&value, digits.data(), std::min<std::size_t>(digits.size(), sizeof value));
    return push_integer(static_cast<std::int64_t>(value));
  }

  bool push_text(std::uint64_t length) {
    if (length > longest_text) refuse("a text has " + std::to_string(length) + " bytes");
    charge(length + cost_of_text);
    text_made_ += length;
    if (text_made_ > free_text && text_made_ - free_text > text_for_byte * window_->taken())
      refuse("its texts are longer than those of any snapshot of its size");
    const NameTable::Id text = pickle_.texts_.id_of(bytes(length));
    if (text == most_texts) refuse("it has more different texts than any snapshot");
    return push({.kind = Kind::text, .index = text});
  }

  bool push_container(Kind kind) {
    const auto index = static_cast<std::uint32_t>(pickle_.containers_.size());
    charge(sizeof(Pickle::Container));
    pickle_.containers_.emplace_back();
    return push({.kind = kind, .index = index});
  }

  bool push_tuple(std::size_t count) {
    need(count);
    const std::vector<PickleValue> values(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    push_container(Kind::list);
    add(stack_.back(), values);
    return true;
  }

  // Moves the `count` values on top into the container under them.
  bool fill(Kind kind, std::size_t count) {
    need(count + 1);
    const std::size_t first = stack_.size() - count;
    const PickleValue container = stack_[first - 1];
    if (container.kind != kind) refuse("something is added to what is no container of its kind");
    if (kind == Kind::dictionary && count % 2 != 0) refuse("a key has no value");
    add(container, std::span(stack_).subspan(first));
    stack_.resize(first);
    return true;
  }

  void add(const PickleValue& container, std::span<const PickleValue> values) {
    Pickle::Container& into = pickle_.containers_[container.index];
    charge(values.size_bytes());
    for (const PickleValue& value : values) {
      const bool holds = value.kind == Kind::list || value.kind == Kind::dictionary;
      const std::uint64_t spread = holds ? pickle_.containers_[value.index].spread : 1;
      const std::uint32_t depth = holds ? pickle_.containers_[value.index].depth : 0;
      into.spread += spread;
      into.depth = std::max(into.depth, depth + 1);
      if (into.spread > widest) refuse("it would spread to more values than any snapshot");
      if (into.depth > deepest) refuse("it is nested more than " + std::to_string(deepest) + " deep");
    }
    into.values.insert(into.values.end(), values.begin(), values.end());
  }

  // How many values lie above the last mark, which goes.
  std::size_t take_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) refuse("a mark is missing");
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  // Values above the last mark.
  void need(std::size_t count) const {
    if (stack_.size() < count + (marks_.empty() ? 0 : marks_.back())) refuse("a value is missing");
  }

  bool remember(std::uint64_t slot) {
    need(1);
    if (slot > memo_.size() + 1000) refuse("its memo has gaps");
    if (slot > pushed_ + 1000) refuse("its memo holds more values than were made");
    if (slot >= memo_.size()) {
      charge((slot + 1 - memo_.size()) * 2 * sizeof(PickleValue));  // it grows by doubling
      memo_.resize(slot + 1);
    }
    memo_[slot] = stack_.back();
    return true;
  }

  bool recall(std::uint64_t slot) {
    if (slot >= memo_.size()) refuse("a value is used before it was made");
    return push(memo_[slot]);
  }

  // At the end of a file that was cut short: what is on the stack goes where it was meant to go.
  void close_open_containers() {
    while (!marks_.empty()) {
      std::size_t count = take_mark();
      const std::size_t first = stack_.size() - count;
      if (first == 0) break;
      const PickleValue container = stack_[first - 1];
      if (container.kind == Kind::dictionary) count = close_single_items(first);
      if (container.kind == Kind::dictionary || container.kind == Kind::list) {
        add(container, std::span(stack_).subspan(first, count));
      }
      stack_.resize(first);
    }
    if (!stack_.empty()) stack_.resize(1);
  }

  // A list of one item has no mark: that item lies above its list, where a dictionary's next key would. How
  // many of the values from `first` on are keys with their values.
  std::size_t close_single_items(std::size_t first) {
    while ((stack_.size() - first) % 2 != 0 && stack_.size() - first >= 3) {
      const PickleValue item = stack_.back(), list = stack_[stack_.size() - 2];
      if (list.kind != Kind::list || item.kind == Kind::text) break;
      add(list, std::span(&item, 1));
      stack_.pop_back();
    }
    return (stack_.size() - first) / 2 * 2;
  }

  ByteWindow* window_;
  Repairs* repairs_;
  const char* at_;
  std::uint64_t opcode_at_ = 0;
  std::uint64_t made_ = 0, text_made_ = 0;  // bytes, about: what is made is never given back
  bool stopped_ = false;
  Pickle pickle_;
  std::vector<PickleValue> stack_, memo_;
  std::uint64_t pushed_ = 0;  // values, onto the stack
  std::vector<std::size_t> marks_;
};

Pickle read_pickle(ByteWindow& window, Repairs& repairs) {
  return PickleReader(window, repairs).read();
}

}  // namespace stowage
