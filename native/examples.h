// Features of many serialized tf.train.Examples, as columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// What a feature holds, by the number of its field in the message.
enum class Kind : char { texts = 1, floats = 2, integers = 3 };

// All values of one feature, and how many each example has.
struct Column {
  std::string_view key;
  Kind kind;
  std::vector<std::string_view> texts;  // parts of the examples
  std::string floats;                   // their bytes
  std::vector<int64_t> integers, counts;
};

// Appends the features of the examples to the columns. False where something is not written as
// usual: a feature is missing, empty, there twice, in parts or of another type, or cannot be read.
bool read_examples(const std::vector<std::string_view>& examples, std::vector<Column>& columns);

}  // namespace weft
