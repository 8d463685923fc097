// SPDX-License-Identifier: Apache-2.0
// One process of a group under mpirun: rank 0 leads a tiny model, the others follow. Their bits
// must be those of as many threads.
#include <cstdio>

#include "model/follower.hpp"
#include "model/ranks.hpp"
#include "parallel/mpi_library.hpp"
#include "sharded.hpp"

using namespace redline;
using namespace redline::model;

namespace {

void lead(std::unique_ptr<parallel::Communicator> world, device::Device& device) {
  TinySpec spec{.extra_vocab = 20, .type = files::TensorType::Q4_K};  // the layout of Llama-3-70B
  spec.heads = 64, spec.kv_heads = 8, spec.hidden = 1024, spec.feed_forward = 800;
  const TinyFile file(spec);
  const int degree = world->size();
  const auto run = [&](Ranks& ranks) {
    const auto model =
        ranks.lead().open(file.open(), degree, device, tiny_options(file), kShardPages);
    return wander(model->forward(), model->pool());
  };
  const auto processes = Ranks::of_processes(std::move(world));
  const auto threads = Ranks::of_threads(degree, 1, kernels::best(), tests::kPatient);
  tests::require(run(*processes) == run(*threads), "processes give the bits of threads");
  std::printf("%d processes give the bits of threads\n", degree);
}

}  // namespace

int main() {
  auto world = parallel::open_mpi(tests::kPatient);
  device::Device device(1, kernels::best());
  if (world->rank() == 0)
    lead(std::move(world), device);
  else
    Follower(*world, device).serve();
}
