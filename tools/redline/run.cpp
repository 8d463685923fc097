// SPDX-License-Identifier: Apache-2.0
#include "redline/run.hpp"

#include "experiment/runner.hpp"
#include "redline/error.hpp"

namespace redline::tool {
namespace {

// `--resume DIR` takes no config, but what follows it may have been parsed as one.
void check(const RunOptions& options) {
  const bool resumes = !options.resume.empty();
  if (!resumes && options.config.empty())
    throw InputError("run: no config; `redline run CONFIG.yaml`, or `redline run --resume DIR`");
  if (resumes && (!options.config.empty() || !options.sweeps.empty() || !options.out.empty() ||
                  !options.plugins.empty() || options.dry_run))
    throw InputError(
        "run: --resume goes on with the run as it was frozen; leave out the config, "
        "overrides, -m, --out, --plugin and --dry-run");
}

}  // namespace

int run(const RunOptions& options) {
  check(options);
  experiment::RunOptions e;
  e.config = options.config;
  e.overrides = options.overrides;
  e.sweeps = options.sweeps;
  e.argv = options.argv;
  e.plugins.assign(options.plugins.begin(), options.plugins.end());
  e.out = options.out;
  e.resume = options.resume;
  if (!options.shard.empty()) e.shard = experiment::parse_shard(options.shard);
  e.dry_run = options.dry_run;
  e.json = options.json;
  return experiment::run_experiment(e);
}

}  // namespace redline::tool
