// SPDX-License-Identifier: Apache-2.0
// Numbers and sizes: GGUF's type list; one block is `weights` inputs of one row.
#include "files/tensor_type.hpp"

#include <array>

#include "redline/error.hpp"

namespace redline::files {
namespace {

struct Known {
  TensorType type;
  BlockShape shape;
};
constexpr std::array kKnown{
    Known{TensorType::F32, {"F32", 1, 4}},       Known{TensorType::F16, {"F16", 1, 2}},
    Known{TensorType::BF16, {"BF16", 1, 2}},     Known{TensorType::Q4_0, {"Q4_0", 32, 18}},
    Known{TensorType::Q4_1, {"Q4_1", 32, 20}},   Known{TensorType::Q5_0, {"Q5_0", 32, 22}},
    Known{TensorType::Q8_0, {"Q8_0", 32, 34}},   Known{TensorType::Q4_K, {"Q4_K", 256, 144}},
    Known{TensorType::Q5_K, {"Q5_K", 256, 176}}, Known{TensorType::Q6_K, {"Q6_K", 256, 210}},
};

// Types a user may meet in the wild, so that a refusal names them.
struct Foreign {
  std::uint32_t number;
  std::string_view name;
};
constexpr std::array kForeign{
    Foreign{7, "Q5_1"},    Foreign{9, "Q8_1"},     Foreign{10, "Q2_K"},   Foreign{11, "Q3_K"},
    Foreign{15, "Q8_K"},   Foreign{16, "IQ2_XXS"}, Foreign{17, "IQ2_XS"}, Foreign{18, "IQ3_XXS"},
    Foreign{19, "IQ1_S"},  Foreign{20, "IQ4_NL"},  Foreign{21, "IQ3_S"},  Foreign{22, "IQ2_S"},
    Foreign{23, "IQ4_XS"}, Foreign{24, "I8"},      Foreign{25, "I16"},    Foreign{26, "I32"},
    Foreign{27, "I64"},    Foreign{28, "F64"},     Foreign{29, "IQ1_M"},  Foreign{34, "TQ1_0"},
    Foreign{35, "TQ2_0"},  Foreign{39, "MXFP4"},
};

}  // namespace

BlockShape block_shape(TensorType type) {
  for (const Known& known : kKnown)
    if (known.type == type) return known.shape;
  throw InputError("tensor type " + tensor_type_name(static_cast<std::uint32_t>(type)) +
                   " is not one redline reads; it reads " + known_tensor_types());
}

std::optional<TensorType> tensor_type(std::uint32_t number) {
  for (const Known& known : kKnown)
    if (static_cast<std::uint32_t>(known.type) == number) return known.type;
  return std::nullopt;
}

std::string tensor_type_name(std::uint32_t number) {
  const std::string digits = std::to_string(number);
  if (const auto type = tensor_type(number))
    return std::string(block_shape(*type).name) + " (" + digits + ")";
  for (const Foreign& foreign : kForeign)
    if (foreign.number == number) return std::string(foreign.name) + " (" + digits + ")";
  return "number " + digits;
}

std::string known_tensor_types() {
  std::string out;
  for (const Known& known : kKnown) {
    if (!out.empty()) out += ", ";
    out += known.shape.name;
  }
  return out;
}

}  // namespace redline::files
