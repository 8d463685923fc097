// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <variant>

#include "redline/error.hpp"
#include "trace/events.hpp"
#include "trace/file_system.hpp"
#include "trace/invariants.hpp"
#include "trace/record_queue.hpp"
#include "trace/store.hpp"

namespace redline::trace {
namespace {

using Clock = std::chrono::steady_clock;

// The engine waits for a request's record to be safe, and for no other.
using Item = std::variant<StepRecord, BatchRecord, EventRecord, KvRecord, RequestRecord>;

template <class T, class A>
std::int64_t bytes_of(const std::vector<T, A>& values) {
  return static_cast<std::int64_t>(values.capacity() * sizeof(T));
}
std::int64_t bytes_of(const List<LogitsRecord>& rows) {
  std::int64_t sum = static_cast<std::int64_t>(rows.capacity() * sizeof(LogitsRecord));
  for (const LogitsRecord& row : rows)
    sum += bytes_of(row.topk_ids) + bytes_of(row.topk_values) + bytes_of(row.full);
  return sum;
}
std::int64_t bytes_of(const StepRecord& step) {
  return static_cast<std::int64_t>(sizeof(Item)) + bytes_of(step.nodes) + bytes_of(step.decisions) +
         bytes_of(step.target_rows) + bytes_of(step.draft_rows);
}

// Signals are for the threads of the program: a handler must not run between two writes here.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

bool choose_swmr(FileFormat format, const std::filesystem::path& path, std::string& why_not) {
  if (format != FileFormat::AUTO) return format == FileFormat::SWMR;
  const std::filesystem::path folder = path.parent_path();
  const std::string network = network_file_system(folder.empty() ? "." : folder);
  if (!network.empty())
    why_not = "trace " + path.string() + " lies on a network file system (" + network +
              "): written in the old HDF5 format, which cannot be read while it grows";
  return network.empty();
}

}  // namespace

std::string trace_file_name(std::int32_t attempt) {
  const std::string digits = std::to_string(attempt);
  return "trace-" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits + ".h5";
}

struct Writer::Impl {
  Impl(const std::filesystem::path& path, const Header& header, WriterOptions options, bool swmr)
      : path(path),
        topk(header.level >= Level::TOPK ? header.topk : 0),
        options(std::move(options)),
        store(path, header, swmr),
        layout(store.layout()),
        queue(this->options.queue_bytes) {
    const SignalsBlocked blocked;  // inherited by the thread
    thread = std::thread([this] { run(); });
  }

  void run() {  // [writer thread]
    Clock::time_point due = Clock::now() + options.flush_every;
    while (!queue.drained()) {
      if (std::optional<Item> item = queue.pop(due)) take(*item);
      if (Clock::now() < due) continue;
      attempt([&] { store.flush(); });
      due = Clock::now() + options.flush_every;
    }
  }

  void take(Item& item) {
    attempt([&] { std::visit([&](const auto& record) { store.add(record); }, item); });
    if (!std::holds_alternative<RequestRecord>(item)) return;
    ++requests_stored;
    requests_stored.notify_one();
  }

  // After the first failure records are taken and dropped; every later call of the engine says why.
  void attempt(const auto& action) {
    if (failed.load()) return;
    try {
      action();
    } catch (const std::exception& cause) {
      store.abandon();
      failure = "trace " + path.string() + " cannot be written any further: " + cause.what() +
                ". Requests reported finished are safe in it";
      failed.store(true);
    }
  }

  void push(Item item, std::int64_t bytes) {
    require_working();
    queue.push(std::move(item), bytes);
  }
  void require_working() const {
    if (closed) throw Error("trace " + path.string() + ": a record came after close()");
    if (failed.load()) throw Error(failure);
  }

  void close() {
    if (closed) return;
    closed = true;
    queue.close();
    thread.join();
    attempt([&] {
      if (const std::uint64_t times = queue.blocked(); times > 0) note_blocked(times);
      store.finish();
    });
    if (failed.load()) throw Error(failure);
  }

  void note_blocked(std::uint64_t times) {
    store.add(event_now(Event::QUEUE_FULL, static_cast<double>(times)));
    if (options.warn)
      options.warn("the engine waited " + std::to_string(times) + " times for the trace writer");
  }
  static EventRecord event_now(Event code, double value) {
    const auto now = Clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
            static_cast<std::uint16_t>(code), 0, value};
  }

  std::filesystem::path path;
  std::int32_t topk;
  WriterOptions options;
  Store store;  // the writer thread's until it is joined
  Layout layout;
  RecordQueue<Item> queue;
  std::atomic<bool> failed = false;
  std::atomic<std::uint64_t> requests_stored = 0;  // or dropped, after a failure
  std::string failure;                             // written before `failed` is set
  bool closed = false;
  std::thread thread;
};

Writer::Writer(const std::filesystem::path& path, const Header& header, WriterOptions options) {
  std::string why_not;
  const bool swmr = choose_swmr(options.format, path, why_not);
  impl_ = std::make_unique<Impl>(path, header, std::move(options), swmr);
  if (why_not.empty()) return;
  event(Impl::event_now(Event::OLD_FORMAT, 0));
  if (impl_->options.warn) impl_->options.warn(why_not);
}

Writer::~Writer() {
  try {
    close();
  } catch (const std::exception&) {
    // A destructor cannot say it; whoever cares called close().
  }
}

Level Writer::level() const { return impl_->layout.level; }
std::int32_t Writer::topk() const { return impl_->topk; }

void Writer::step(StepRecord record) {
  require_sound(record, impl_->layout);
  const std::int64_t bytes = bytes_of(record);
  impl_->push(std::move(record), bytes);
}
void Writer::batch(BatchRecord record) { impl_->push(record, sizeof(Item)); }
void Writer::event(EventRecord record) { impl_->push(record, sizeof(Item)); }
void Writer::kv(KvRecord record) { impl_->push(record, sizeof(Item)); }

void Writer::request(RequestRecord record) {
  require_sound(record);
  const std::int64_t bytes =
      sizeof(Item) + bytes_of(record.prompt_tokens) + bytes_of(record.output_tokens);
  const std::uint64_t before = impl_->requests_stored;
  impl_->push(std::move(record), bytes);
  impl_->requests_stored.wait(before);
  impl_->require_working();
}

void Writer::close() { impl_->close(); }
std::uint64_t Writer::times_blocked() const { return impl_->queue.blocked(); }

}  // namespace redline::trace
