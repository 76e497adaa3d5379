// Preloaded into a program (LD_PRELOAD): the n-th call of one kind fails. $TS_FAULTS names a file of the layout below,
// which walk.py writes and reads, and which the processes that the program starts share.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT(bugprone-reserved-identifier): the C library's own
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void*, std::size_t);         // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier)
}

namespace {

enum Kind : std::uint32_t { on_open = 1, on_read, on_write, on_sync, on_rename, on_map, on_allocate };

constexpr std::size_t most_paths = std::size_t{1} << 20;

struct Shared {
  std::uint32_t kind, error;         // what fails, and with which errno
  std::uint64_t number;              // of the call that fails, from 1 on; 0: none, and paths are noted
  std::atomic<std::uint64_t> count;  // calls of the kind so far
  std::atomic<std::uint32_t> hit;
  char call[28], file[4096];        // of the call that failed, and its file where it has one
  std::uint64_t paths[most_paths];  // for each call, which functions led to it
};

Shared* map_shared() {
  if (environ == nullptr) return nullptr;  // the C library is not ready
  const char* const name = ::getenv("TS_FAULTS");
  const long file = name == nullptr ? -1 : ::syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const long place = ::syscall(SYS_mmap, nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  ::syscall(SYS_close, file);
  return place < 0 && place > -4096 ? nullptr : reinterpret_cast<Shared*>(place);  // NOLINT(performance-no-int-to-ptr)
}

Shared* shared() {
  static Shared* place = nullptr;
  if (place == nullptr) place = map_shared();
  return place;
}

thread_local bool within [[gnu::tls_model("initial-exec")]] = false;

/// Which functions lead here: where the nearest are in their libraries, which is equal in all runs.
std::uint64_t path_here() {
  constexpr int depth = 5;
  void* frames[depth] = {};
  within = true;
  const int found = ::backtrace(frames, depth);
  within = false;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (int i = 0; i < found; ++i) {
    dl_find_object in{};
    const bool known = ::_dl_find_object(frames[i], &in) == 0;
    const auto begin = reinterpret_cast<std::uintptr_t>(known ? in.dlfo_map_start : nullptr);
    hash = (hash ^ (reinterpret_cast<std::uintptr_t>(frames[i]) - begin)) * 0x100000001b3U;
  }
  return hash;
}

/// True if this call of the kind is the one that fails. `file` is a path, or nullptr where `descriptor` has one.
bool fails(Kind kind, const char* call, const char* file, int descriptor = -1) {
  if (within) return false;
  Shared* const s = shared();
  if (s == nullptr || s->kind != kind) return false;
  const std::uint64_t mine = ++s->count;
  if (s->number == 0 && mine <= most_paths) s->paths[mine - 1] = path_here();
  if (mine != s->number) return false;
  ::strncpy(s->call, call, sizeof s->call - 1);
  if (file != nullptr) {
    ::strncpy(s->file, file, sizeof s->file - 1);
  } else if (descriptor >= 0) {
    char link[64];
    ::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ::syscall(SYS_readlink, link, s->file, sizeof s->file - 1);
  }
  s->hit = 1;
  errno = static_cast<int>(s->error);
  return true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// Access rights that a call of open() passes for a new file.
unsigned rights(int flags, std::va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
}

}  // namespace

// In place of the C library's: NAME(PARAMETERS) is the call of the system of this number, unless it is to fail.
#define TS_OPENS(name, folder, ...)                                            \
  int name(__VA_ARGS__, int flags, ...) { /* NOLINT(cert-dcl50-cpp) */         \
    std::va_list more;                                                         \
    va_start(more, flags);                                                     \
    const unsigned mode = rights(flags, more);                                 \
    va_end(more);                                                              \
    if (fails(on_open, #name, file)) return -1;                                \
    return static_cast<int>(::syscall(SYS_openat, folder, file, flags, mode)); \
  }
#define TS_OF_FILE(kind, result, name, number, parameters, ...)                     \
  result name parameters {                                                          \
    if (fails(kind, #name, nullptr, file)) return -1;                               \
    return static_cast<result>(::syscall(number, file __VA_OPT__(, ) __VA_ARGS__)); \
  }
#define TS_ALLOCATES(name, parameters, call) \
  void* name parameters noexcept { return fails(on_allocate, #name, nullptr) ? nullptr : call; }
#define TS_MAPS(name)                                                                                        \
  void* name(void* place, std::size_t bytes, int rights, int flags, int file, off_t at) noexcept {           \
    if (fails(on_map, #name, nullptr, file)) return MAP_FAILED;                                              \
    return reinterpret_cast<void*>(::syscall(SYS_mmap, place, bytes, rights, flags, file, at)); /* NOLINT */ \
  }

extern "C" {

TS_OPENS(open, AT_FDCWD, const char* file)
TS_OPENS(open64, AT_FDCWD, const char* file)
TS_OPENS(openat, folder, int folder, const char* file)
std::FILE* fopen(const char* file, const char* mode) {
  static const auto real = next<std::FILE* (*)(const char*, const char*)>("fopen");
  return fails(on_open, "fopen", file) ? nullptr : real(file, mode);
}
std::FILE* fopen64(const char* file, const char* mode) {
  static const auto real = next<std::FILE* (*)(const char*, const char*)>("fopen64");
  return fails(on_open, "fopen64", file) ? nullptr : real(file, mode);
}

TS_OF_FILE(on_read, ssize_t, read, SYS_read, (int file, void* to, std::size_t bytes), to, bytes)
TS_OF_FILE(on_read, ssize_t, pread, SYS_pread64, (int file, void* to, std::size_t bytes, off_t at), to, bytes, at)
TS_OF_FILE(on_read, ssize_t, pread64, SYS_pread64, (int file, void* to, std::size_t bytes, off_t at), to, bytes, at)
TS_OF_FILE(on_read, ssize_t, readv, SYS_readv, (int file, const iovec* to, int count), to, count)
TS_OF_FILE(on_write, ssize_t, write, SYS_write, (int file, const void* of, std::size_t bytes), of, bytes)
TS_OF_FILE(on_write, ssize_t, pwrite, SYS_pwrite64, (int file, const void* of, std::size_t bytes, off_t at), of, bytes,
           at)
TS_OF_FILE(on_write, ssize_t, pwrite64, SYS_pwrite64, (int file, const void* of, std::size_t bytes, off_t at), of,
           bytes, at)
TS_OF_FILE(on_write, ssize_t, writev, SYS_writev, (int file, const iovec* of, int count), of, count)
TS_OF_FILE(on_sync, int, fsync, SYS_fsync, (int file))
TS_OF_FILE(on_sync, int, fdatasync, SYS_fdatasync, (int file))
int rename(const char* from, const char* to) noexcept {
  return fails(on_rename, "rename", to) ? -1
                                        : static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

TS_MAPS(mmap)
TS_MAPS(mmap64)

TS_ALLOCATES(malloc, (std::size_t bytes), __libc_malloc(bytes))
TS_ALLOCATES(calloc, (std::size_t count, std::size_t bytes), __libc_calloc(count, bytes))
TS_ALLOCATES(realloc, (void* old, std::size_t bytes), __libc_realloc(old, bytes))
TS_ALLOCATES(memalign, (std::size_t alignment, std::size_t bytes), __libc_memalign(alignment, bytes))
TS_ALLOCATES(aligned_alloc, (std::size_t alignment, std::size_t bytes), __libc_memalign(alignment, bytes))
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) noexcept {
  if (fails(on_allocate, "posix_memalign", nullptr)) return ENOMEM;
  void* const place = __libc_memalign(alignment, bytes);
  if (place == nullptr) return ENOMEM;
  *to = place;
  return 0;
}

}  // extern "C"
