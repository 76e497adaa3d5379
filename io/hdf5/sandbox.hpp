// A process that gives up its rights.
#pragma once

#include <csignal>
#include <cstdint>
#include <initializer_list>

namespace ts::inline v0::io::hdf5 {

/// While one lives this thread takes no signals.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

/// Gives up the rights of this process, which must have one thread. It may still compute, use `address_space` bytes of
/// memory in all, read and write the `kept` descriptors, and end. It opens and starts nothing, and ignores signals
/// meant for the program. The first file that it tries to open is `opened`, one of those kept. Returns false where the
/// system filters no system calls: then only limits hold.
[[nodiscard]] bool give_up_rights(std::initializer_list<int> kept, std::uint64_t address_space, int opened = -1);

/// Follows the name of a file that is refused for that.
inline constexpr const char* no_filter =
    " cannot be read by a process without rights, as this system filters no system calls: --trust-input reads it all "
    "the same";

/// Ends this process by SIGVTALRM unless it is called again within so many seconds of computing.
void allow_seconds(double seconds);

/// Bytes of address space that this process has now.
[[nodiscard]] std::uint64_t address_space();

}  // namespace ts::inline v0::io::hdf5
