// Random words to normally distributed numbers; see docs/runtime/generator.md.
#include "csrc/aten/native/BoxMuller.h"

#include <c10/util/MathConstants.h>

#include <cmath>

namespace openreg {
namespace {

// Box and Muller (1958): a uniform radius and a uniform angle give two numbers.
template <class C>
void pairs(const uint32_t* words, int64_t count, C* values) {
  for (int64_t i = 0; i < count; i += 2, words += 2 * kWordsFor<C>) {
    const C radius = std::sqrt(-2 * std::log(positive_unit<C>(words)));
    const C angle = 2 * c10::pi<C> * unit<C, C>(words + kWordsFor<C>);
    values[i] = radius * std::cos(angle);
    values[i + 1] = radius * std::sin(angle);
  }
}

}  // namespace

void box_muller(const uint32_t* words, int64_t count, float* values) {
  pairs(words, count, values);
}

void box_muller(const uint32_t* words, int64_t count, double* values) {
  pairs(words, count, values);
}

}  // namespace openreg
