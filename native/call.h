// A call of a kernel by an XLA program: its arrays, its numbers, and the threads it may use.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>

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

  // Calls work(0) to work(count - 1), on this thread and those of the pool that are free.
  void parallel(long count, const std::function<void(long)>& work) const {
    auto state = std::make_shared<Shared>(count, work);
    for (long i = std::min(count, threads()) - 1; i > 0; --i) {
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
  // What the threads that share some work know of it; it lives until the last of them has looked.
  struct Shared {
    Shared(long count, const std::function<void(long)>& work) : count(count), work(work) {}

    void take_part() {
      long done = 0;
      for (long i; (i = next++) < count; ++done) {
        try {
          work(i);
        } catch (...) {
          std::lock_guard<std::mutex> lock(mutex);
          failure = std::current_exception();
        }
      }
      if (done == 0) return;
      std::lock_guard<std::mutex> lock(mutex);
      finished += done;
      if (finished == count) all_finished.notify_one();
    }

    void wait() {
      std::unique_lock<std::mutex> lock(mutex);
      all_finished.wait(lock, [this] { return finished == count; });
      if (failure) std::rethrow_exception(failure);
    }

    const long count;
    const std::function<void(long)>& work;  // of the caller, who waits for all that use it
    std::atomic<long> next{0};
    std::mutex mutex;
    std::condition_variable all_finished;
    long finished = 0;
    std::exception_ptr failure;
  };

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
  const XLA_FFI_Extension_Base* extension = frame->extension_start;
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
