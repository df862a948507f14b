// Uniform, normal and what follows from them; see docs/opencl/kernels.md.
#include "csrc/kernels/RandomContinuous.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <c10/util/BFloat16-math.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "csrc/kernels/RandomFill.h"
#include "csrc/kernels/RandomOnHost.h"

namespace ocl::opencl {
namespace {

// Each kernel fills `out` with its `draw` of p, q, r and s, numbers of type C.
constexpr const char* kContinuous = R"(
#define FILL(NAME, VALUE)                                                       \
  kernel void NAME(global void* out, Random random, global const ulong* of_graph, \
                   C p, C q, C r, C s, Placement placement) {                   \
    FOR_EACH_DRAW(STORE(T, out, places.at[0], VALUE);)                          \
  }

// The value as the dtype, which can hold less: never 0 or infinite because of that.
static C keep_finite_and_nonzero(C value, C largest, C least) {
  const C size = fabs(value);
  if (size > largest && isfinite(value)) return copysign(largest, value);
  return size < least && size > 0 ? copysign(least, value) : value;
}

static float as_half(float value) {
  ushort bits;
  vstore_half_rte(value, 0, (half*)&bits);
  return vload_half(0, (half*)&bits);
}

// A number that rounds up to the end of the range becomes the last one below.
static C round_below(C value, C end, C last) {
  return ROUNDED(value) < end ? value : last;
}

FILL(uniform, round_below(unit(words) * q + p, r, s))
FILL(exponential, keep_finite_and_nonzero(
    fmax(-log(positive_unit(words)), q) / p, r, s))
#ifdef WIDE
FILL(cauchy, keep_finite_and_nonzero(
    p + q * tan(M_PI * (positive_unit(words) - 0.5)), r, s))
#endif
)";

// Box and Muller (1958): a uniform radius and a uniform angle give two numbers.
constexpr const char* kNormal = R"(
#ifdef WIDE
static void box_muller(const uint* words, C* values) {
  const C radius = sqrt(-2 * log(positive_unit(words)));
  const C angle = 2 * M_PI * unit(words + 2);
  values[0] = radius * cos(angle);
  values[1] = radius * sin(angle);
}
#else
// Polynomials of Cephes (Moshier): the same bits on every device.
static float fast_log(float x) {
  const int bits = as_int(x);  // x = (1 + f) * 2^exponent
  const int exponent = (bits - 0x3f3504f3) >> 23;
  const float f = as_float(bits - (exponent << 23)) - 1;
  float y = 7.0376836292e-2f;
  y = y * f - 1.1514610310e-1f;
  y = y * f + 1.1676998740e-1f;
  y = y * f - 1.2420140846e-1f;
  y = y * f + 1.4249322787e-1f;
  y = y * f - 1.6668057665e-1f;
  y = y * f + 2.0000714765e-1f;
  y = y * f - 2.4999993993e-1f;
  y = y * f + 3.3333331174e-1f;
  return (y * f - 0.5f) * f * f + f + (float)exponent * 0.693147181f;
}

static void box_muller(const uint* words, C* values) {
  const float u = (float)(int)(words[0] >> 16) * 0x1p-16f +
                  (float)(int)(words[0] & 0xffff) * 0x1p-32f + 0x1p-33f;
  const float radius = sqrt(-2 * fast_log(u));
  // Two bits choose the quarter of the circle, the others the place in it, between
  // -pi/4 and pi/4.
  const uint turn = words[1];
  const int place = (int)(turn & 0x3fffffff) - 0x20000000;
  const float x = (float)place * (M_PI_F / 2 * 0x1p-30f);
  const float z = x * x;
  const float sine =
      ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * x + x;
  const float cosine =
      ((2.4433157118e-5f * z - 1.3887316255e-3f) * z + 4.1666645683e-2f) * z * z -
      0.5f * z + 1;
  const int swap = turn >> 30 & 1;
  const float sign = turn & 0x80000000u ? -1.0f : 1.0f;
  values[0] = radius * ((swap ? -sine : cosine) * sign);
  values[1] = radius * ((swap ? cosine : sine) * sign);
}
#endif

// Element i has the words from WORDS * i on, and its pair those of i ^ 1.
#define FILL_NORMAL(NAME, VALUE)                                                \
  kernel void NAME(global void* out, Random random, global const ulong* of_graph, \
                   C p, C q, C r, C s, Placement placement) {                   \
    const uint4 block = philox(start(random, of_graph), get_global_id(0));      \
    const uint all[4] = {block.x, block.y, block.z, block.w};                   \
    C values[4 / WORDS];                                                        \
    for (int i = 0; i < 4 / WORDS; i += 2) box_muller(all + WORDS * i, values + i); \
    for (int i = 0; i < 4 / WORDS; ++i) {                                       \
      const long n = get_global_id(0) * (4 / WORDS) + i;                        \
      if (n < placement.count) {                                                \
        const C number = values[i] * q + p;                                     \
        STORE(T, out, places_of(&placement, n).at[0], VALUE);                   \
      }                                                                         \
    }                                                                           \
  }

FILL_NORMAL(normal, number)
FILL_NORMAL(log_normal, exp(number))
)";

const Source& continuous_source() {
  static const auto* const text = new std::string(
      join({kPlacement, kPhilox, kUnits, kDraws, kContinuous, kNormal}));
  static const Source only{text->c_str()};
  return only;
}

// What rounds a number of type C to the dtype.
std::string define_rounding(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return "-DROUNDED=as_half ";
    case at::kBFloat16:
      return "-DROUNDED(x)=as_float((uint)to_bf16(x)<<16) ";
    default:
      return "-DROUNDED(x)=(x) ";
  }
}

// Numbers of `dtype`, computed as double if `wide`.
struct ContinuousDraw {
  const char* name;
  int64_t words;
  bool wide;
  std::array<double, 4> numbers;
};

bool fill_with(const at::Tensor& self, const PhiloxKernelState& random,
               const ContinuousDraw& draw) {
  const at::ScalarType dtype = self.scalar_type();
  const auto placement = placement_of(self);
  if (!placement || !supports(dtype) || (draw.wide && !supports(at::kDouble))) {
    return false;
  }
  if (placement->count == 0) {
    return true;
  }
  int digits = 0;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dtype, "random", [&] {
    digits = std::numeric_limits<scalar_t>::digits;
  });
  const std::string options = define("T", dtype) + define_rounding(dtype) +
                              "-DWORDS=" + std::to_string(draw.words) +
                              " -DDIGITS=" + std::to_string(digits) +
                              (draw.wide ? " -DWIDE -DC=double" : " -DC=float");
  const auto number = [&](int i) {
    return Number(draw.numbers[i], draw.wide ? at::kDouble : at::kFloat);
  };
  launch(continuous_source(), draw.name, options, blocks(*placement, draw.words),
         writes(self), RandomStart(random), random.of_graph(), number(0), number(1),
         number(2), number(3), *placement);
  return true;
}

// The name of the function, its numbers for the kernel, and the host's version, which
// takes the place of the kernel on a device without float64.
void fill_or(const at::Tensor& self, const PhiloxKernelState& random,
             const ContinuousDraw& draw, const FillOnHost& on_host) {
  if (!fill_with(self, random, draw)) {
    fill_on_host(draw.name, self, random, on_host);
  }
}

bool is_double(const at::Tensor& self) { return self.scalar_type() == at::kDouble; }

int64_t words_of(const at::Tensor& self) { return is_double(self) ? 2 : 1; }

// The largest number of a dtype, and the smallest above 0.
std::pair<double, double> range_of(at::ScalarType dtype) {
  std::pair<double, double> range;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dtype, "range", [&] {
    range = {static_cast<double>(std::numeric_limits<scalar_t>::max()),
             static_cast<double>(std::numeric_limits<scalar_t>::denorm_min())};
  });
  return range;
}

}  // namespace
}  // namespace ocl::opencl

namespace ocl::kernels {

using namespace opencl;  // NOLINT: the two halves of one room

void uniform(const at::Tensor& self, PhiloxKernelState random, double from, double to) {
  ContinuousDraw draw{"uniform", words_of(self), is_double(self), {}};
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, self.scalar_type(), "uniform_", [&] {
        using C = at::opmath_type<scalar_t>;
        const auto low = static_cast<scalar_t>(from);
        const auto high = static_cast<scalar_t>(to);
        const C range = static_cast<C>(high) - static_cast<C>(low);
        const scalar_t last = std::nextafter(high, low);
        draw.numbers = {static_cast<double>(low), static_cast<double>(range),
                        static_cast<double>(high), static_cast<double>(last)};
      });
  fill_or(self, random, draw, [&](at::Tensor& host, const at::Generator& g) {
    host.uniform_(from, to, g);
  });
}

void normal(const at::Tensor& self, PhiloxKernelState random, double mean, double std) {
  fill_or(
      self, random, {"normal", words_of(self), is_double(self), {mean, std, 0, 0}},
      [&](at::Tensor& host, const at::Generator& g) { host.normal_(mean, std, g); });
}

void log_normal(const at::Tensor& self, PhiloxKernelState random, double mean,
                double std) {
  fill_or(self, random,
          {"log_normal", words_of(self), is_double(self), {mean, std, 0, 0}},
          [&](at::Tensor& host, const at::Generator& g) {
            host.log_normal_(mean, std, g);
          });
}

void exponential(const at::Tensor& self, PhiloxKernelState random, double lambda) {
  const auto [largest, least] = range_of(self.scalar_type());
  // The logarithm of 1 is 0, which an exponential number never is.
  const double smallest =
      (is_double(self) ? std::numeric_limits<double>::epsilon()
                       : static_cast<double>(std::numeric_limits<float>::epsilon())) /
      2;
  fill_or(
      self, random,
      {"exponential",
       words_of(self),
       is_double(self),
       {lambda, smallest, largest, least}},
      [&](at::Tensor& host, const at::Generator& g) { host.exponential_(lambda, g); });
}

void cauchy(const at::Tensor& self, PhiloxKernelState random, double median,
            double sigma) {
  const auto [largest, least] = range_of(self.scalar_type());
  fill_or(self, random, {"cauchy", 2, true, {median, sigma, largest, least}},
          [&](at::Tensor& host, const at::Generator& g) {
            host.cauchy_(median, sigma, g);
          });
}

}  // namespace ocl::kernels
