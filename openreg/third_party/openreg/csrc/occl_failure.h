// How an operation of OCCL fails: an exception. See docs/modules/distributed.md.
#pragma once

#include <stdexcept>
#include <string>

#include "occl.h"

namespace openreg::occl {

// Never leaves the library: entries of the API and kernels turn it into a code.
class Failure : public std::runtime_error {
 public:
  Failure(occlResult_t result, const std::string& text)
      : std::runtime_error(text), result(result) {}
  const occlResult_t result;
};

// "rank 2", "12 bytes of float32": the parts of a text, one behind the other.
template <class... Parts>
std::string joined(const Parts&... parts) {
  std::string text;
  const auto add = [&text](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
      text += std::to_string(part);
    } else {
      text += part;
    }
  };
  (add(parts), ...);
  return text;
}

}  // namespace openreg::occl
