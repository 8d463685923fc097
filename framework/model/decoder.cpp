// SPDX-License-Identifier: Apache-2.0
#include "model/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "model/output_stage.hpp"
#include "model/pass.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

Extent extent_of(const Architecture& of, const Shard& shard, std::int64_t outputs,
                 const LoadOptions& options, int workers, const kernels::Ops& ops) {
  const std::int64_t attention =
      ops.attention_scratch_bytes(of.shape.heads, of.shape.kv_heads, of.shape.head_size);
  const std::int64_t feed_forward =
      feed_forward_scratch_bytes(of.shape.feed_forward, options.max_rows, workers);
  return {.rows = options.max_rows,
          .wanted = options.max_wanted > 0 ? std::min(options.max_wanted, options.max_rows)
                                           : options.max_rows,
          .outputs = tile_part(outputs, shard.rank, shard.degree).size(),
          .logits = shard.rank == 0 ? outputs : 0,
          .is_shard = shard.degree > 1,
          .positions = std::min(options.max_positions, of.shape.context),
          .workers = workers,
          .scratch_bytes = std::max((attention + 63) / 64 * 64, feed_forward)};
}

Architecture checked(const files::Gguf& file, const LoadOptions& options, int degree) {
  if (options.max_rows < 1 || options.max_positions < 1)
    throw InputError("a forward of " + std::to_string(options.max_rows) + " rows at " +
                     std::to_string(options.max_positions) + " positions; both must be positive");
  Architecture whole = architecture_of(file);
  check_head_tokens(options.head_tokens, whole.shape.vocab, degree);
  return whole;
}

kv::KvShape kv_shape_of(const Shape& shape, const LoadOptions& options) {
  kv::KvShape kv = shape.kv();
  kv.feature_floats = static_cast<std::int32_t>(options.taps.size()) * shape.hidden;
  kv.type = options.kv_type;
  if (const std::int64_t block = kernels::kv_block(kv.type); kv.head_size % block != 0)
    throw InputError("KV of the type " + std::string(kernels::name(kv.type)) + " has a scale for " +
                     std::to_string(block) + " elements, and the model's head size is " +
                     std::to_string(kv.head_size) + "; choose f16 or f32");
  return kv;
}

// Divisors of the rope frequencies: the linear scaling, and those a Llama 3.1 file brings.
std::vector<float> rope_divisors(const files::Gguf& file, const Architecture& of) {
  std::vector<float> divisors = vector_of(file, "rope_freqs.weight");
  if (divisors.empty()) divisors.assign(of.shape.head_size / 2, 1.0f);
  for (float& divisor : divisors) {
    if (!(divisor > 0) || !std::isfinite(divisor))
      throw InputError(file.path().string() + ": tensor rope_freqs.weight holds " +
                       std::to_string(divisor) + ", expected positive numbers");
    divisor *= static_cast<float>(of.rope_factor);
  }
  return divisors;
}

}  // namespace

struct Decoder::Impl {
  Impl(const files::Gguf& file, device::Device& device_to_use, parallel::Communicator& group,
       const LoadOptions& options)
      : device(device_to_use),
        ranks(group),
        whole(checked(file, options, group.size())),
        shard(shard_of(whole, group.rank(), group.size())),
        architecture(part_of(whole, shard)),
        kv(kv_shape_of(architecture.shape, options)),
        extent(extent_of(architecture, shard, head_outputs(whole, options), options,
                         device.pool().threads(), device.ops())),
        weights(file, whole, shard, options, device.pool()),
        activations(architecture, extent),
        plan({static_cast<std::int32_t>(extent.rows), static_cast<std::int32_t>(extent.wanted),
              static_cast<std::int32_t>(extent.positions), whole.shape.vocab, kv}),
        outputs(whole.shape, weights.head().tokens, static_cast<std::int32_t>(extent.rows),
                options.taps) {
    const std::vector<float> divisors = rope_divisors(file, architecture);
    kernels::fill_rope_table(architecture.rope_base, divisors.data(), 1.0,
                             architecture.shape.head_size, extent.positions, activations->cosine,
                             activations->sine);
  }

  const Output& forward(const Batch& batch) {
    plan.lay_out(batch);
    outputs.begin(batch);
    const Pass pass = pass_of_plan();
    const Buffers& b = *activations;
    const std::int64_t hidden = architecture.shape.hidden;
    embed({plan.tokens(), static_cast<std::size_t>(plan.rows())}, b.x);
    const float* delta = nullptr;  // of the layer before
    std::int32_t index = 0;
    for (const LayerWeights& layer : weights.layers()) {
      plan.enter_layer(index);
      attention_block(pass, layer, delta);
      outputs.take_layer_input(pass, index++);
      feed_forward_block(pass, layer);
      delta = b.delta;
    }
    for_rows(device, plan.rows(), hidden, [&](kernels::Range range, int) {
      device.ops().add_rms_norm(b.x, delta, weights.final_norm().data(), architecture.epsilon,
                                hidden, b.normed, range);
    });
    outputs.take_layer_input(pass, index);
    outputs.take_final_norm(pass);
    outputs.finish(pass, batch, weights);
    return outputs.output();
  }

  void embed(std::span<const Token> tokens, float* out) {
    for_rows(device, std::ssize(tokens), architecture.shape.hidden, [&](kernels::Range range, int) {
      device.ops().embed(weights.embedding(), tokens.data(), out, range);
    });
  }

  void head(const float* normed, std::int64_t rows, float* out) {
    if (rows > extent.rows)
      throw Error("head: " + std::to_string(rows) + " rows, the widest is " +
                  std::to_string(extent.rows));
    if (!weights.head().tokens.empty())
      throw Error("head: of " + std::to_string(weights.head().outputs) + " tokens, all are asked");
    const std::int64_t hidden = whole.shape.hidden, vocab = whole.shape.vocab;
    for (std::int64_t row = 0; row < rows; row += extent.wanted)
      logits(pass_of_plan(), weights.head(), normed + row * hidden,
             std::min(extent.wanted, rows - row), shard.rank == 0 ? out + row * vocab : out);
  }

  Pass pass_of_plan() {
    return {device, ranks, whole, architecture, *activations, plan, extent.scratch_bytes};
  }

  device::Device& device;
  parallel::Communicator& ranks;
  Architecture whole;
  Shard shard;
  Architecture architecture;  // of this rank
  kv::KvShape kv;
  Extent extent;
  Weights weights;
  Activations activations;
  RowPlan plan;
  OutputStage outputs;
};

MemoryNeed Decoder::memory_need(const files::Gguf& file, const LoadOptions& options, int rank,
                                int degree) {
  const Architecture whole = checked(file, options, degree);
  const Shard shard = shard_of(whole, rank, degree);
  const Architecture part = part_of(whole, shard);
  const int workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) / degree;
  const Extent extent = extent_of(part, shard, head_outputs(whole, options), options,
                                  std::max(1, workers), kernels::ops(kernels::best()));
  return {Weights::bytes(file, whole, shard, options), Activations::bytes(part, extent),
          kv_shape_of(part.shape, options)};
}

Decoder::Decoder(const files::Gguf& file, device::Device& device, parallel::Communicator& ranks,
                 const LoadOptions& options)
    : impl_(std::make_unique<Impl>(file, device, ranks, options)) {}
Decoder::~Decoder() = default;

const Shape& Decoder::shape() const { return impl_->whole.shape; }
const Architecture& Decoder::architecture() const { return impl_->whole; }
std::int32_t Decoder::vocab() const { return shape().vocab; }
std::int32_t Decoder::context() const { return static_cast<std::int32_t>(impl_->extent.positions); }
std::int32_t Decoder::max_rows() const { return static_cast<std::int32_t>(impl_->extent.rows); }
kv::KvShape Decoder::kv_shape() const { return impl_->kv; }
const Output& Decoder::forward(const Batch& batch) { return impl_->forward(batch); }
bool Decoder::is_lead() const { return impl_->shard.rank == 0; }
void Decoder::embed(std::span<const Token> tokens, float* out) { impl_->embed(tokens, out); }
void Decoder::head(const float* normed, std::int64_t rows, float* out) {
  impl_->head(normed, rows, out);
}

}  // namespace redline::model
