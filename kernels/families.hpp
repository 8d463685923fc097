// SPDX-License-Identifier: Apache-2.0
// How a table of ops is put together: the reference fills all of it, then each instruction set
// replaces the families it has faster code for. One translation unit a family and set.
#pragma once
#include "redline/kernels/ops.hpp"
#include "redline/kernels/probabilities.hpp"

namespace redline::kernels {

void install_reference_matmul(Ops& ops);  // quantize, matmul, embed
void install_reference_rows(Ops& ops);    // add_rms_norm, swiglu, rope_append
void install_reference_attention(Ops& ops);
void install_reference_vocabulary(Ops& ops);  // reductions over a row of logits

void install_avx2_quantize(Ops& ops);
void install_avx2_matmul(Ops& ops);
void install_avx2_rows(Ops& ops);
void install_avx2_attention(Ops& ops);
void install_avx2_vocabulary(Ops& ops);

void install_avx_vnni_matmul(Ops& ops);
void install_avx_vnni_matmul_of_avx512(Ops& ops);  // the same in its encoding

void install_avx512_matmul(Ops& ops);
void install_avx512_attention(Ops& ops);
void install_avx512_vocabulary(Ops& ops);

void install_reference_probabilities(ProbabilityOps& ops);
void install_avx2_probabilities(ProbabilityOps& ops);
void install_avx512_probabilities(ProbabilityOps& ops);

}  // namespace redline::kernels
