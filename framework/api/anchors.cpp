// SPDX-License-Identifier: Apache-2.0
// Key functions: each polymorphic type of the boundary has its one vtable and typeinfo here, so
// that casts and catch clauses work between the program and every plugin. And what a host refuses
// unless it says otherwise.
#include "redline/plugin.hpp"

namespace redline {
inline namespace v1 {

Error::~Error() = default;
InputError::~InputError() = default;
PluginError::~PluginError() = default;
DeviceError::~DeviceError() = default;
State::~State() = default;
Plugin::~Plugin() = default;
Drafter::~Drafter() = default;
DraftLength::~DraftLength() = default;
AcceptanceRule::~AcceptanceRule() = default;
Sampler::~Sampler() = default;
Sampler::Memory::~Memory() = default;
AnyThread::~AnyThread() = default;
Draws::~Draws() = default;
Model::~Model() = default;
ModuleBuilder::~ModuleBuilder() = default;
Host::~Host() = default;
ParameterVisitor::~ParameterVisitor() = default;

TargetShape Host::do_target() const {
  throw PluginError("a plugin asked for the target's shape; this host has no target");
}
Model& Host::do_open_model(const ModelChoice& choice, std::int32_t) {
  throw PluginError("a plugin asked for the model '" + choice.model +
                    "'; this host opens no models");
}
Model& Host::do_open_module(std::string_view weights, void (*)(ModuleBuilder&)) {
  throw PluginError("a plugin asked for the module '" + std::string(weights) +
                    "'; this host runs no modules");
}
const Costs& Host::do_costs() { throw Error("this host measures no costs"); }
RecordedBudgets Host::do_recorded_budgets(std::string_view trace) {
  throw Error("this host reads no traces, asked for is " + std::string(trace));
}
std::unique_ptr<Plugin> Host::do_open(Kind, std::string_view name, std::span<const Setting>) {
  throw PluginError("a plugin asked for the plugin '" + std::string(name) +
                    "'; this host opens no plugins");
}

}  // namespace v1
}  // namespace redline
