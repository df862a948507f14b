// Integers, coins and permutations; see docs/opencl/kernels.md.
#include "csrc/kernels/RandomDiscrete.h"

#include <ATen/Dispatch_v2.h>
#include <ATen/ops/randperm.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "csrc/kernels/RandomFill.h"
#include "csrc/kernels/RandomOnHost.h"

namespace ocl::opencl {
namespace {

// An element takes two random words.
constexpr int64_t kWordsOfInteger = 2;

constexpr const char* kDiscrete = R"(
#define RANDOM_ARGUMENTS \
  global void* out, Random random, global const ulong* of_graph

static ulong word_of(const uint* words) { return (ulong)words[1] << 32 | words[0]; }

// In [0, range): the high half of a product of 128 bits. Unlike the remainder of a
// division, it treats small and large numbers alike. A range of 0 stands for 2^64.
static ulong scale_to(ulong word, ulong range) {
  return range == 0 ? word : mul_hi(word, range);
}

kernel void integers(RANDOM_ARGUMENTS, ulong range, long from, Placement placement) {
  FOR_EACH_DRAW(
      const long value = (long)(scale_to(word_of(words), range) + (ulong)from);
      STORE(T, out, places.at[0], value);)
}

// A coin shows heads where 53 random bits are below p * 2^53, which takes integers
// only: a device may lack float64.
kernel void coins(RANDOM_ARGUMENTS, ulong limit, Placement placement) {
  FOR_EACH_DRAW(
      STORE(T, out, places.at[0], (int)(word_of(words) >> 11 < limit));)
}

// The smallest integer not below p * 2^53, for the bits of a float64 in [0, 1].
static ulong limit_of(ulong p) {
  const int exponent = (int)(p >> 52 & 0x7ff);
  const ulong digits = (p & ((1UL << 52) - 1)) | (exponent > 0 ? 1UL << 52 : 0);
  const int shift = 1022 - max(exponent, 1);
  if (digits == 0) return 0;
  if (shift < 0) return digits << -shift;  // p is 1
  if (shift > 53) return 1;
  return (digits + (1UL << shift) - 1) >> shift;
}

kernel void coins_of(RANDOM_ARGUMENTS, global const ulong* p, Placement placement) {
  FOR_EACH_DRAW(STORE(T, out, places.at[0], (int)(word_of(words) >> 11 <
                                                  limit_of(p[places.at[1]])));)
}

#ifdef GEOMETRIC
kernel void geometric(RANDOM_ARGUMENTS, double scale, double largest,
                      Placement placement) {
  FOR_EACH_DRAW(
      const double u = (double)(word_of(words) >> 11) * 0x1p-53 + 0x1p-54;
      const double throws = fmax(1.0, ceil(log(u) * scale));
      STORE(T, out, places.at[0], GEOMETRIC(fmin(throws, largest)));)
}
#endif

#ifdef ELEMENT
// Fisher and Yates: each place, from the first on, swaps with one of those that follow.
// One work item does it all.
kernel void permutation(RANDOM_ARGUMENTS, long count, long stride) {
  global ELEMENT* elements = (global ELEMENT*)out;
  const Random state = start(random, of_graph);
  for (long i = 0; i < count; ++i) STORE(T, out, i * stride, i);
  uint4 block;
  for (long i = 0; i < count - 1; ++i) {
    if (i % 2 == 0) block = philox(state, i / 2);
    const uint2 words = i % 2 == 0 ? block.xy : block.zw;
    const long other =
        i + (long)scale_to((ulong)words.y << 32 | words.x, (ulong)(count - i));
    const ELEMENT first = elements[i * stride];
    elements[i * stride] = elements[other * stride];
    elements[other * stride] = first;
  }
}
#endif
)";

const Source& discrete_source() {
  static const auto* const text =
      new std::string(join({kPlacement, kPhilox, kDraws, kDiscrete}));
  static const Source only{text->c_str()};
  return only;
}

std::string discrete_options(const at::Tensor& self) {
  return define("T", self.scalar_type()) + "-DWORDS=2 " + define_element(self);
}

// The arguments that all kernels begin with; false if they do not take `self`.
template <class... Args>
bool draw_integers(const char* name, const at::Tensor& self,
                   const PhiloxKernelState& random, const at::Tensor& second,
                   const std::string& more, const Args&... args) {
  const auto placement = placement_of(self, second);
  if (!placement || !supports(self.scalar_type())) {
    return false;
  }
  if (placement->count > 0) {
    launch(discrete_source(), name, discrete_options(self) + more,
           blocks(*placement, kWordsOfInteger), writes(self), RandomStart(random),
           random.of_graph(), args..., *placement);
  }
  return true;
}

// -- the largest numbers of a dtype --

template <class F>
void dispatch_integers(const at::Tensor& self, const F& f) {
  AT_DISPATCH_V2(self.scalar_type(), "random_",
                 AT_WRAP([&] { f.template operator()<scalar_t>(); }),
                 AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES),
                 at::kHalf, at::kBFloat16, at::kBool);
}

void fill_with_integers(const at::Tensor& self, const PhiloxKernelState& random,
                        uint64_t range, int64_t from) {
  if (!draw_integers("integers", self, random, {}, "", range, from)) {
    fill_on_host("random", self, random, [&](at::Tensor& host, const at::Generator& g) {
      if (range == 0) {
        host.random_(std::numeric_limits<int64_t>::lowest(), std::nullopt, g);
      } else {
        host.random_(from, from + static_cast<int64_t>(range), g);
      }
    });
  }
}

}  // namespace
}  // namespace ocl::opencl

namespace ocl::kernels {

using namespace opencl;  // NOLINT: the two halves of one room

void random_of_dtype(const at::Tensor& self, PhiloxKernelState random) {
  uint64_t largest = 0;
  dispatch_integers(self, [&]<class T>() {
    largest = std::is_same_v<T, bool> ? 1
              : std::is_integral_v<T>
                  ? static_cast<uint64_t>(std::numeric_limits<T>::max())
                  : uint64_t{1} << std::numeric_limits<T>::digits;
  });
  fill_with_integers(self, random, largest + 1, 0);  // 0 for 2^64
}

void random_in_range(const at::Tensor& self, PhiloxKernelState random, uint64_t range,
                     int64_t from) {
  fill_with_integers(self, random, range, from);
}

void random_of_64_bits(const at::Tensor& self, PhiloxKernelState random) {
  fill_with_integers(self, random, 0, 0);
}

void bernoulli(const at::Tensor& self, PhiloxKernelState random, double p) {
  const auto limit = static_cast<uint64_t>(std::ceil(std::ldexp(p, 53)));
  if (!draw_integers("coins", self, random, {}, "", limit)) {
    fill_on_host(
        "bernoulli", self, random,
        [&](at::Tensor& host, const at::Generator& g) { host.bernoulli_(p, g); });
  }
}

void bernoulli_tensor(const at::Tensor& self, PhiloxKernelState random,
                      const at::Tensor& p) {
  if (!draw_integers("coins_of", self, random, p, "", p)) {
    fill_on_host(
        "bernoulli", self, random,
        [&](at::Tensor& host, const at::Generator& g) { host.bernoulli_(p.cpu(), g); });
  }
}

void geometric(const at::Tensor& self, PhiloxKernelState random, double p) {
  double largest = 0;
  AT_DISPATCH_ALL_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "geometric_",
      [&] { largest = static_cast<double>(std::numeric_limits<scalar_t>::max()); });
  const bool integral = at::isIntegralType(self.scalar_type(), false);
  const std::string convert =
      integral ? "-DGEOMETRIC=convert_long_sat " : "-DGEOMETRIC= ";
  if (!supports(at::kDouble) || !draw_integers("geometric", self, random, {}, convert,
                                               1 / std::log1p(-p), largest)) {
    fill_on_host(
        "geometric", self, random,
        [&](at::Tensor& host, const at::Generator& g) { host.geometric_(p, g); });
  }
}

void randperm(const at::Tensor& self, PhiloxKernelState random) {
  if (supports(self.scalar_type())) {
    launch(discrete_source(), "permutation", discrete_options(self), Range({1}),
           writes(self), RandomStart(random), random.of_graph(), self.numel(),
           self.stride(0));
    return;
  }
  fill_on_host("randperm", self, random, [&](at::Tensor& host, const at::Generator& g) {
    at::randperm_out(host, self.numel(), g);
  });
}

}  // namespace ocl::kernels
