// SPDX-License-Identifier: Apache-2.0
// Sequences in one call to a plugin, and what happens when the call goes wrong.
#pragma once
#include <algorithm>
#include <vector>

#include "step/chain.hpp"
#include "step/work.hpp"

namespace redline::step {

// Calls that throw are the error of this sequence alone; a device that fails ends the run.
template <class F>
void contain(Work& w, F&& call) {
  try {
    call();
  } catch (const DeviceError&) {
    throw;
  } catch (const BadRow& bad) {
    w.fail(Fault::BAD_ROW, bad.what());
  } catch (const std::exception& cause) {
    w.fail(Fault::PLUGIN, cause.what());
    w.progress.cause = std::current_exception();
  }
}

// f(plugin, those it serves), for each plugin that some of `items` name, in order of appearance.
template <class Item, class Plugin, class F>
void for_each_plugin(std::span<Item* const> items, Plugin& (*plugin_of)(const Item&), F&& f) {
  List<Item*> left(items.begin(), items.end()), served;
  while (!left.empty()) {
    Plugin& plugin = plugin_of(*left.front());
    served.clear();
    std::erase_if(left, [&](Item* item) {
      const bool is_served = &plugin_of(*item) == &plugin;
      if (is_served) served.push_back(item);
      return is_served;
    });
    f(plugin, std::span<Item*>(served));
  }
}

}  // namespace redline::step
