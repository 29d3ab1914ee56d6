// A call of a kernel by an XLA program: its arrays, its numbers, and the threads it may use.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "xla/ffi/api/c_api.h"

namespace weft {

inline long over(long a, long b) { return (a + b - 1) / b; }

// Memory for the length of a call, aligned to the lines of caches. Not by `aligned_alloc`: what it
// gave back, the C library may not give again.
template <class T>
class Scratch {
 public:
  explicit Scratch(size_t count) : all_(std::malloc(count * sizeof(T) + LINE)) {
    if (all_ == nullptr) throw std::bad_alloc();
    const auto from = reinterpret_cast<std::uintptr_t>(all_);
    at_ = reinterpret_cast<T*>((from + LINE - 1) / LINE * LINE);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(all_); }
  T* get() const { return at_; }

 private:
  static constexpr std::size_t LINE = 64;

  void* all_;
  T* at_;
};

// Work that threads share: part(0) to part(count - 1), in any order.
struct Work {
  long count;
  std::function<void(long)> part;
};

// Works that need not wait for each other, as one.
inline Work joined(std::vector<Work> works) {
  long count = 0;
  for (const Work& work : works) count += work.count;
  return {count, [works = std::move(works)](long part) {
    auto work = works.begin();
    for (; part >= work->count; ++work) part -= work->count;
    work->part(part);
  }};
}

class Call {
 public:
  explicit Call(const XLA_FFI_CallFrame* frame) : frame_(frame) {
    auto* array = static_cast<const XLA_FFI_Array*>(frame->attrs.attrs[0]);
    sizes_ = static_cast<const int64_t*>(array->data);
  }

  template <class T = float>
  const T* in(int i) const {
    return static_cast<const T*>(static_cast<XLA_FFI_Buffer*>(frame_->args.args[i])->data);
  }
  template <class T = float>
  T* out(int i) const {
    return static_cast<T*>(static_cast<XLA_FFI_Buffer*>(frame_->rets.rets[i])->data);
  }

  // The numbers that the program gives with the call.
  const int64_t* sizes() const { return sizes_; }

  // How many threads work on a call at once.
  long threads() const {
    int64_t count = 1;
    XLA_FFI_ThreadPool_NumThreads_Args args{XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE,
                                            nullptr, frame_->ctx, &count};
    return failed(frame_->api->XLA_FFI_ThreadPool_NumThreads(&args)) || count < 1 ? 1 : count;
  }

  // Calls part(0) to part(count - 1), on this thread and those of the pool that are free.
  void parallel(long count, const std::function<void(long)>& part) const {
    in_turn({{count, part}});
  }

  // Several works, of which each begins when all of the one before is done.
  void in_turn(const std::vector<Work>& works) const {
    auto state = std::make_shared<Shared>(works);
    long most = 1;
    for (const Work& work : works) most = std::max(most, work.count);
    for (long i = std::min(most, threads()) - 1; i > 0; --i) {
      auto* held = new std::shared_ptr<Shared>(state);
      XLA_FFI_ThreadPool_Schedule_Args args{XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, nullptr,
                                            frame_->ctx, help, held};
      if (failed(frame_->api->XLA_FFI_ThreadPool_Schedule(&args))) {
        delete held;
        break;
      }
    }
    state->take_part();
    state->wait();
  }

 private:
  // What the threads that share works know of them; it lives until the last of them has looked.
  struct Shared {
    struct Turn {
      explicit Turn(const Work& work) : count(work.count), part(work.part) {}

      const long count;
      const std::function<void(long)>& part;  // of the caller, who waits for all that use it
      std::atomic<long> next{0}, finished{0};

      bool done() const { return finished.load(std::memory_order_acquire) == count; }
    };

    explicit Shared(const std::vector<Work>& works) {
      for (const Work& work : works) turns.emplace_back(work);
    }

    // A thread that finds nothing more to do waits awake for the next work: the others' last parts
    // take less time than it would to sleep and be woken.
    void take_part() {
      for (Turn& turn : turns) {
        take_parts_of(turn);
        if (&turn != &turns.back()) look_for([&] { return turn.done(); }, FOR_EVER);
      }
    }

    void take_parts_of(Turn& turn) {
      long taken = 0;
      for (long i; (i = turn.next++) < turn.count; ++taken) {
        try {
          if (!has_failed) turn.part(i);
        } catch (...) {
          std::lock_guard<std::mutex> lock(mutex);
          failure = std::current_exception();
          has_failed = true;
        }
      }
      if (taken == 0) return;
      const long before = turn.finished.fetch_add(taken, std::memory_order_acq_rel);
      if (before + taken < turn.count) return;
      std::lock_guard<std::mutex> lock(mutex);
      all_finished.notify_one();
    }

    void wait() {
      const auto done = [&] { return turns.back().done(); };
      look_for(done, A_MOMENT);
      std::unique_lock<std::mutex> lock(mutex);
      all_finished.wait(lock, done);
      if (failure) std::rethrow_exception(failure);
    }

    std::deque<Turn> turns;
    std::atomic<bool> has_failed{false};
    std::mutex mutex;
    std::condition_variable all_finished;
    std::exception_ptr failure;
  };

  static constexpr long A_MOMENT = 1 << 13, FOR_EVER = std::numeric_limits<long>::max();

  // Looks whether something is done, so many times; others may have the core in between.
  template <class Done>
  static void look_for(const Done& done, long times) {
    for (long i = 0; i < times && !done(); ++i) {
      if (i % 64 == 63) std::this_thread::yield();
    }
  }

  static void help(void* held) {
    std::unique_ptr<std::shared_ptr<Shared>> state(static_cast<std::shared_ptr<Shared>*>(held));
    (*state)->take_part();
  }

  bool failed(XLA_FFI_Error* error) const {
    if (error == nullptr) return false;
    XLA_FFI_Error_Destroy_Args args{XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
    frame_->api->XLA_FFI_Error_Destroy(&args);
    return true;
  }

  const XLA_FFI_CallFrame* frame_;
  const int64_t* sizes_;
};

using Kernel = void (*)(const Call&);

// What XLA calls for a kernel. It asks for the version first.
template <Kernel kernel>
XLA_FFI_Error* handler(XLA_FFI_CallFrame* frame) {
  const auto* extension = frame->extension_start;
  if (extension != nullptr && extension->type == XLA_FFI_Extension_Metadata) {
    auto* metadata = reinterpret_cast<const XLA_FFI_Metadata_Extension*>(extension)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    metadata->traits = 0;
    metadata->state_type_id = XLA_FFI_UNKNOWN_TYPE_ID;
    return nullptr;
  }
  try {
    kernel(Call(frame));
    return nullptr;
  } catch (const std::bad_alloc&) {
    XLA_FFI_Error_Create_Args args{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr,
                                   "Out of memory in a kernel",
                                   XLA_FFI_Error_Code_RESOURCE_EXHAUSTED};
    return frame->api->XLA_FFI_Error_Create(&args);
  }
}

}  // namespace weft
