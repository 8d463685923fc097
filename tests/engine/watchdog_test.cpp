// SPDX-License-Identifier: Apache-2.0
#include "engine/watchdog.hpp"

#include <catch2/catch.hpp>
#include <future>

namespace {

using redline::engine::Watchdog, redline::step::Watched;

struct Sleeper final : redline::Plugin {
  explicit Sleeper(const std::string& name) { name_as(name); }
};

// What is said, and a wait for so many lines.
class Said {
 public:
  Watchdog::Say say() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
      more_.notify_all();
    };
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return more_.wait_for(lock, std::chrono::minutes(1), [&] { return lines_.size() >= count; });
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::string> lines_;
};

TEST_CASE("A call that does not end is named while it runs: plugin, method, sequence") {
  Said warned, stuck;
  Watchdog dog({.slow_s = 0.01, .limit_s = 0.02}, warned.say());
  dog.on_stuck(stuck.say());
  const Sleeper plugin("draft_sleeper");
  {
    const Watched call(&dog, {&plugin, "propose", 7});
    REQUIRE(stuck.wait_for(1));
    CHECK_THAT(stuck.lines()[0], Catch::StartsWith("draft_sleeper.propose, sequence 7: has run") &&
                                     Catch::Contains("engine.plugin_limit_s"));
    REQUIRE(warned.wait_for(1));
    CHECK_THAT(warned.lines()[0], Catch::StartsWith("draft_sleeper.propose, sequence 7"));
  }
  const auto slow = dog.take_slow();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].sequence == 7);
  CHECK(slow[0].seconds >= 0.02);
  CHECK(dog.take_slow().empty());
}

TEST_CASE("A plugin is warned of once, each of its slow calls is counted") {
  Said warned, stuck;
  Watchdog dog({.slow_s = 0.005, .limit_s = 0.01}, warned.say());
  dog.on_stuck(stuck.say());
  const Sleeper plugin("draft_sleeper"), other("length_sleeper");
  for (std::size_t k = 1; k <= 3; ++k) {
    const Watched call(&dog, {&plugin, "propose", k});
    REQUIRE(stuck.wait_for(k));
  }
  {
    const Watched call(&dog, {&other, "choose", 4});
    REQUIRE(stuck.wait_for(4));
  }
  CHECK(dog.take_slow().size() == 4);
  REQUIRE(warned.wait_for(2));
  CHECK(warned.lines().size() == 2);
}

TEST_CASE("What the engine computes within a call is not the plugin's time") {
  Watchdog dog({.slow_s = 0.5, .limit_s = 60}, {});
  const Sleeper plugin("draft_sleeper");
  {
    const Watched call(&dog, {&plugin, "propose", 1});
    const Watched own_work(&dog, {nullptr, "forward"});
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
  }
  CHECK(dog.take_slow().empty());
}

TEST_CASE("Calls on several threads are told apart, and each is named") {
  Said stuck;
  Watchdog dog({.slow_s = 0.01, .limit_s = 0.02}, {});
  dog.on_stuck(stuck.say());
  const Sleeper plugin("sample_sleeper");
  {
    const Watched first(&dog, {&plugin, "apply", 1});
    std::thread([&] {
      const Watched second(&dog, {&plugin, "apply", 2});
      CHECK(stuck.wait_for(2));
    }).join();
    CHECK(dog.take_slow().at(0).sequence == 2);
  }
  CHECK(dog.take_slow().at(0).sequence == 1);
}

}  // namespace
