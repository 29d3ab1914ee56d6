// Reads messages of protobuf: fields, each with a tag, a length and so many bytes.
#include "examples.h"

#include <unordered_map>

namespace weft {
namespace {

constexpr char FIRST = 0x0A, SECOND = 0x12;  // tags of fields 1 and 2 that have a length
constexpr int LONGEST = 10;                  // bytes of a number

// Takes a number of up to 64 bits, seven in a byte; false if it does not end.
bool take_number(std::string_view& from, uint64_t& number) {
  number = 0;
  for (size_t i = 0; i < from.size() && i < LONGEST; ++i) {
    const auto byte = static_cast<unsigned char>(from[i]);
    number |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      from.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

// Takes a field that has this tag and a length; false if there is another one, or not all of it.
bool take_field(std::string_view& from, char tag, std::string_view& content) {
  uint64_t length;
  if (from.empty() || from[0] != tag) return false;
  from.remove_prefix(1);
  if (!take_number(from, length) || length > from.size()) return false;
  content = from.substr(0, length);
  from.remove_prefix(length);
  return true;
}

bool take_only_field(std::string_view from, char tag, std::string_view& content) {
  return take_field(from, tag, content) && from.empty();
}

bool read_texts(std::string_view list, Column& column) {
  const size_t before = column.texts.size();
  for (std::string_view text; !list.empty(); column.texts.push_back(text)) {
    if (!take_field(list, FIRST, text)) return false;
  }
  column.counts.push_back(column.texts.size() - before);
  return true;
}

bool read_floats(std::string_view list, Column& column) {
  std::string_view packed;
  if (!take_only_field(list, FIRST, packed) || packed.size() % sizeof(float) != 0) return false;
  column.floats += packed;
  column.counts.push_back(packed.size() / sizeof(float));
  return true;
}

bool read_integers(std::string_view list, Column& column) {
  std::string_view packed;
  if (!take_only_field(list, FIRST, packed)) return false;
  const size_t before = column.integers.size();
  for (uint64_t number; !packed.empty(); column.integers.push_back(number)) {
    if (!take_number(packed, number)) return false;
  }
  column.counts.push_back(column.integers.size() - before);
  return true;
}

bool read_feature(std::string_view feature, Column& column) {
  const char tag = static_cast<int>(column.kind) << 3 | 2;
  std::string_view list;
  if (!take_only_field(feature, tag, list) || list.empty()) return false;
  if (column.kind == Kind::texts) return read_texts(list, column);
  return column.kind == Kind::floats ? read_floats(list, column) : read_integers(list, column);
}

using Places = std::unordered_map<std::string_view, size_t>;

// Reads example number `index`; how many of the wanted features it has is added to `found`.
bool read_features(std::string_view features, const Places& places, size_t index,
                   std::vector<Column>& columns, size_t& found) {
  for (std::string_view entry, key, feature; !features.empty();) {
    if (!take_field(features, FIRST, entry) || !take_field(entry, FIRST, key) ||
        !take_only_field(entry, SECOND, feature)) {
      return false;
    }
    const auto place = places.find(key);
    if (place == places.end()) continue;
    Column& column = columns[place->second];
    if (column.counts.size() != index || !read_feature(feature, column)) return false;
    ++found;
  }
  return true;
}

bool read_example(std::string_view example, const Places& places, size_t index,
                  std::vector<Column>& columns) {
  size_t found = 0;
  for (std::string_view features; !example.empty();) {
    if (!take_field(example, FIRST, features) ||
        !read_features(features, places, index, columns, found)) {
      return false;
    }
  }
  return found == columns.size();
}

}  // namespace

bool read_examples(const std::vector<std::string_view>& examples, std::vector<Column>& columns) {
  Places places;
  for (const Column& column : columns) places.emplace(column.key, places.size());
  if (places.size() != columns.size()) return false;
  for (size_t i = 0; i < examples.size(); ++i) {
    if (!read_example(examples[i], places, i, columns)) return false;
  }
  return true;
}

}  // namespace weft
