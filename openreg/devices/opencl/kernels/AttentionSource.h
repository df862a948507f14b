// Attention in OpenCL C; see docs/opencl/kernels.md.
#pragma once

namespace ocl::opencl {

// Behind kTypes and kPhilox. T is the tag of query, key, value and output, B that of
// the bias; C is float or double. A row of E numbers is E / N vectors of N numbers, and
// one of values EV / N. Rows are dense: the last stride is 1.
inline constexpr const char* kAttentionRows = R"(
#if N == 1
#define V C
#define SUM(x) (x)
#define LOAD_ROW(p, i) LOAD(T, p, i)
#define STORE_ROW(p, i, v) STORE(T, p, i, v)
#else
#define V JOIN(C, N)
#if N == 2
#define SUM(v) ((v).s0 + (v).s1)
#elif N == 4
#define SUM(v) ((v).s0 + (v).s1 + (v).s2 + (v).s3)
#else
#define SUM(v) \
  ((v).s0 + (v).s1 + (v).s2 + (v).s3 + (v).s4 + (v).s5 + (v).s6 + (v).s7)
#endif
#define LOAD_ROW(p, i) JOIN(row_, T)(p, i)
#define STORE_ROW(p, i, v) JOIN(put_, T)(p, i, v)
#define row_f16(p, i) JOIN(vload_half, N)(0, (global const half*)(p) + (i))
#define row_bf16(p, i)                                                          \
  JOIN(as_float, N)(JOIN(convert_uint, N)(                                      \
      JOIN(vload, N)(0, (global const ushort*)(p) + (i))) << 16)
#define row_f32(p, i) JOIN(vload, N)(0, (global const float*)(p) + (i))
#define row_f64(p, i) JOIN(vload, N)(0, (global const double*)(p) + (i))
#define put_f16(p, i, v) JOIN(JOIN(vstore_half, N), _rte)(v, 0, (global half*)(p) + (i))
#define put_f32(p, i, v) JOIN(vstore, N)(v, 0, (global float*)(p) + (i))
#define put_f64(p, i, v) JOIN(vstore, N)(v, 0, (global double*)(p) + (i))
static void put_bf16(global void* p, long i, V v) {
  C numbers[N];
  JOIN(vstore, N)(v, 0, numbers);
  for (int n = 0; n < N; ++n) STORE(bf16, p, i + n, numbers[n]);
}
#endif

static void load_row(V* row, global const void* from, long at, int size) {
  for (int i = 0; i < size / N; ++i) row[i] = LOAD_ROW(from, at + i * N);
}
static void store_row(global void* to, long at, const V* row, C factor, int size) {
  for (int i = 0; i < size / N; ++i) STORE_ROW(to, at + i * N, row[i] * factor);
}
static void add_to_row(V* row, C factor, global const void* from, long at, int size) {
  for (int i = 0; i < size / N; ++i) row[i] += factor * LOAD_ROW(from, at + i * N);
}
static C dot_row(const V* row, global const void* other, long at, int size) {
  V sum = 0;
  for (int i = 0; i < size / N; ++i) sum += row[i] * LOAD_ROW(other, at + i * N);
  return SUM(sum);
}
)";

inline constexpr const char* kAttentionForward = R"(
// Strides are in elements. Heads of the queries share those of the keys in groups.
typedef struct {
  long batch, heads, kv_heads, length, keys, causal, drops;
  long query[4], key[4], value[4], bias[4], out[4], grad_out[4], logsumexp[3];
  long of_query[4], of_key[4], of_value[4], of_bias[4], bias_sizes[4];
  ulong limit;        // a random word below it drops
  ulong scale, keep;  // the bits of numbers of type C
} Problem;

#ifdef WIDE  // C is double
#define NUMBER(bits) as_double(bits)
#else
#define NUMBER(bits) as_float((uint)(bits))
#endif
#define SCALE NUMBER(p.scale)

#define AT(name, b, h, s) ((b) * name[0] + (h) * name[1] + (s) * name[2])

// The random words of successive scores: one for each.
typedef struct { Random random; ulong block; uint words[4]; } Dropout;

static Dropout start_dropout(Random random) {
  const Dropout dropout = {random, ~0UL, {0, 0, 0, 0}};
  return dropout;
}

// What a probability is multiplied by. The backward gets the same from the same state,
// so that no mask is stored.
static C survival(Dropout* dropout, const Problem* p, long b, long h, long l, long s) {
  if (!p->drops) return 1;
  const ulong number = ((b * p->heads + h) * p->length + l) * p->keys + s;
  if (number / 4 != dropout->block) {
    dropout->block = number / 4;
    const uint4 words = philox(dropout->random, dropout->block);
    vstore4(words, 0, dropout->words);
  }
  return dropout->words[number % 4] >= p->limit ? NUMBER(p->keep) : 0;
}

static C bias_of(global const void* bias, const Problem* p, long b, long h, long l,
                 long s) {
  return bias == 0 ? (C)0 : (C)LOAD(B, bias, AT(p->bias, b, h, l) + s * p->bias[3]);
}

// A work item for each row of queries: one pass over the keys, which keeps the largest
// score so far, and the sums relative to it (Milakov and Gimelshein, 2018).
kernel void attend(global const void* query, global const void* key,
                   global const void* value, global const void* bias, global void* out,
                   global float* logsumexp, global long* seed, global long* offset,
                   Random random, global const ulong* of_graph, Problem p) {
  const long l = get_global_id(0), h = get_global_id(1), b = get_global_id(2);
  const Random state = start(random, of_graph);
  if (l == 0 && h == 0 && b == 0) {
    *seed = (long)state.seed;
    *offset = (long)state.offset;
  }
  const long kv = h / (p.heads / p.kv_heads);
  Dropout dropout = start_dropout(state);
  V q[E / N], sums[EV / N];
  load_row(q, query, AT(p.query, b, h, l), E);
  for (int i = 0; i < EV / N; ++i) sums[i] = 0;
  C top = -INFINITY, sum = 0;
  const long end = p.causal ? min(l + 1, p.keys) : p.keys;
  for (long s = 0; s < end; ++s) {
    const C score = dot_row(q, key, AT(p.key, b, kv, s), E) * SCALE +
                    bias_of(bias, &p, b, h, l, s);
    if (score == -INFINITY) continue;
    if (score > top) {
      const C shrink = exp(top - score);
      for (int i = 0; i < EV / N; ++i) sums[i] *= shrink;
      sum *= shrink;
      top = score;
    }
    const C weight = exp(score - top);
    sum += weight;
    add_to_row(sums, weight * survival(&dropout, &p, b, h, l, s), value,
               AT(p.value, b, kv, s), EV);
  }
  // A row without any key that may be seen gives zeros, not the quotient 0 / 0.
  store_row(out, AT(p.out, b, h, l), sums, sum == 0 ? (C)0 : 1 / sum, EV);
  logsumexp[AT(p.logsumexp, b, h, l)] = (float)(top + log(sum));
}
)";

inline constexpr const char* kAttentionBackward = R"(
#define READS                                                                   \
  global const void *query, global const void *key, global const void *value,   \
      global const void *bias, global const void *grad_out,                     \
      global const long *seed, global const long *offset

static Dropout forward_dropout(global const long* seed, global const long* offset) {
  const Random random = {(ulong)*seed, (ulong)*offset};
  return start_dropout(random);
}

// The derivative of a score: its probability times what the gradient of the probability
// is above the mean of the row. `rows` has the logsumexp and the mean.
static C of_score(C score, C of_probability, global const C* rows, long row,
                  C* probability) {
  const C logsumexp = rows[2 * row];
  *probability = logsumexp == -INFINITY ? (C)0 : exp(score - logsumexp);
  return *probability * (of_probability - rows[2 * row + 1]);
}

// A work item for each row of queries. Writes `rows` for the other kernels.
kernel void of_query(READS, global const void* out, global const float* logsumexp,
                     global C* rows, global void* grad, Problem p) {
  const long l = get_global_id(0), h = get_global_id(1), b = get_global_id(2);
  const long kv = h / (p.heads / p.kv_heads), row = (b * p.heads + h) * p.length + l;
  const long end = p.causal ? min(l + 1, p.keys) : p.keys;
  Dropout dropout = forward_dropout(seed, offset);
  V q[E / N], d_out[EV / N], sums[E / N];
  load_row(q, query, AT(p.query, b, h, l), E);
  load_row(d_out, grad_out, AT(p.grad_out, b, h, l), EV);
  for (int i = 0; i < E / N; ++i) sums[i] = 0;
#ifdef EXACT  // the forward had to round its logsumexp to float32
  C top = -INFINITY, sum = 0;
  for (long s = 0; s < end; ++s) {
    const C score = dot_row(q, key, AT(p.key, b, kv, s), E) * SCALE +
                    bias_of(bias, &p, b, h, l, s);
    if (score == -INFINITY) continue;
    sum = score > top ? sum * exp(top - score) + 1 : sum + exp(score - top);
    top = max(top, score);
  }
  rows[2 * row] = top + log(sum);
#else
  rows[2 * row] = logsumexp[AT(p.logsumexp, b, h, l)];
#endif
  rows[2 * row + 1] = dot_row(d_out, out, AT(p.out, b, h, l), EV);
  for (long s = 0; s < end; ++s) {
    C probability;
    const C score = dot_row(q, key, AT(p.key, b, kv, s), E) * SCALE +
                    bias_of(bias, &p, b, h, l, s);
    const C d = dot_row(d_out, value, AT(p.value, b, kv, s), EV) *
                survival(&dropout, &p, b, h, l, s);
    add_to_row(sums, of_score(score, d, rows, row, &probability), key,
               AT(p.key, b, kv, s), E);
  }
  if (grad != 0) store_row(grad, AT(p.of_query, b, h, l), sums, SCALE, E);
}

// A work item for each key and its value, of all heads that share them.
kernel void of_key(READS, global const C* rows, global void* grad_key,
                   global void* grad_value, Problem p) {
  const long s = get_global_id(0), kv = get_global_id(1), b = get_global_id(2);
  const long group = p.heads / p.kv_heads;
  Dropout dropout = forward_dropout(seed, offset);
  V k[E / N], v[EV / N], of_k[E / N], of_v[EV / N];
  load_row(k, key, AT(p.key, b, kv, s), E);
  load_row(v, value, AT(p.value, b, kv, s), EV);
  for (int i = 0; i < E / N; ++i) of_k[i] = 0;
  for (int i = 0; i < EV / N; ++i) of_v[i] = 0;
  for (long h = kv * group; h < (kv + 1) * group; ++h) {
    for (long l = p.causal ? s : 0; l < p.length; ++l) {
      C probability;
      const long row = (b * p.heads + h) * p.length + l;
      const C score = dot_row(k, query, AT(p.query, b, h, l), E) * SCALE +
                      bias_of(bias, &p, b, h, l, s);
      const C survives = survival(&dropout, &p, b, h, l, s);
      const C d = dot_row(v, grad_out, AT(p.grad_out, b, h, l), EV) * survives;
      add_to_row(of_k, of_score(score, d, rows, row, &probability), query,
                 AT(p.query, b, h, l), E);
      add_to_row(of_v, probability * survives, grad_out, AT(p.grad_out, b, h, l), EV);
    }
  }
  if (grad_key != 0) store_row(grad_key, AT(p.of_key, b, kv, s), of_k, SCALE, E);
  if (grad_value != 0) store_row(grad_value, AT(p.of_value, b, kv, s), of_v, 1, EV);
}

// A work item for each number of the bias, of all scores that it is added to.
kernel void of_bias(READS, global const C* rows, global void* grad, Problem p) {
  const long n = get_global_id(0);
  const long rest = n / p.bias_sizes[3], s0 = n % p.bias_sizes[3];
  const long l0 = rest % p.bias_sizes[2], h0 = rest / p.bias_sizes[2] % p.bias_sizes[1];
  const long b0 = rest / p.bias_sizes[2] / p.bias_sizes[1];
  Dropout dropout = forward_dropout(seed, offset);
  C sum = 0;
  V q[E / N], d_out[EV / N];
#define FOR_ALL(i, first, dim, end) \
  for (long i = first; i < (p.bias_sizes[dim] == 1 ? (end) : first + 1); ++i)
  FOR_ALL(b, b0, 0, p.batch) FOR_ALL(h, h0, 1, p.heads) FOR_ALL(l, l0, 2, p.length) {
    const long kv = h / (p.heads / p.kv_heads), row = (b * p.heads + h) * p.length + l;
    load_row(q, query, AT(p.query, b, h, l), E);
    load_row(d_out, grad_out, AT(p.grad_out, b, h, l), EV);
    FOR_ALL(s, s0, 3, p.keys) {
      if (p.causal && s > l) break;
      C probability;
      const C score = dot_row(q, key, AT(p.key, b, kv, s), E) * SCALE +
                      bias_of(bias, &p, b, h, l, s);
      const C d = dot_row(d_out, value, AT(p.value, b, kv, s), EV) *
                  survival(&dropout, &p, b, h, l, s);
      sum += of_score(score, d, rows, row, &probability);
    }
  }
  STORE(B, grad, AT(p.of_bias, b0, h0, l0) + s0 * p.of_bias[3], sum);
}
)";

}  // namespace ocl::opencl
