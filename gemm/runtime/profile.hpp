// What a run did, how long it took and how near that was to what the machine can do: noted by the operations
// themselves while somebody wants to know.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"

namespace ts::inline v0 {

/// The rates of a processor or a GPU, as measured; 0: not known.
struct Roofs {
  double read_bytes_per_second = 0;
  double copy_bytes_per_second = 0;  ///< bytes read plus bytes written
  double float64_flops = 0;          ///< fused multiply-adds count 2
  double float32_flops = 0;
};

/// The time that nothing could beat: all bytes at the roof (what is written counts as copied, with as much of
/// what is read), or all flops of the type's precision. 0 where the roofs are not known.
[[nodiscard]] double least_seconds(const Cost& cost, DType type, const Roofs& roofs);

/// One kind of work, added up.
struct WorkDone {
  std::string_view what;
  std::int64_t calls = 0;
  double seconds = 0;
  Cost cost = {};
  double least_seconds = 0;
  double near_roof_seconds = 0;  ///< of calls that took no longer than least / Profile::near_roof
};

/// Sums over kinds of work. A scope of a thread and no member of Context: what computes need not know.
class Profile {
 public:
  static constexpr double near_roof = 0.85;

  explicit Profile(const Roofs& roofs) : roofs_(roofs) {}
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  [[nodiscard]] const Roofs& roofs() const noexcept { return roofs_; }
  /// In the order of the time that they took; waits for what is under way on a device.
  [[nodiscard]] std::vector<WorkDone> work();

  /// While this lives, what this thread does is noted in `profile`, which must outlive it.
  class Use {
   public:
    explicit Use(Profile& profile) noexcept;
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Profile* before_;
  };

  /// Work that begins with this value and ends with it; noted if a profile is in use. On a device the seconds
  /// are those between the two places in the stream; a rehearsal is no work. Pieces do not contain pieces:
  /// what threads of a parallel region do belongs to whoever started them.
  class Piece {
   public:
    Piece(const Context& ctx, const Problem& problem, Space space = Space::host);
    /// @param what text that outlives the profile.
    /// @param roof_of the type whose roofs bound the work; nothing where other limits do.
    Piece(const Context& ctx, std::string_view what, const Cost& cost, std::optional<DType> roof_of,
          Space space = Space::host);
    ~Piece();
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

   private:
    Profile* profile_ = nullptr;  ///< null: nothing is noted
    std::string_view what_;
    Cost cost_;
    double least_ = 0;
    std::chrono::steady_clock::time_point start_;
    cuda::Stream stream_;
    std::optional<cuda::Event> started_;  ///< on a device
  };

 private:
  /// A piece on a device, whose time is not known yet.
  struct Pending {
    std::string_view what;
    Cost cost;
    double least = 0;
    cuda::Event start, end;
  };
  void note(std::string_view what, const Cost& cost, double least, double seconds);
  void settle();

  Roofs roofs_;
  std::map<std::string_view, WorkDone> done_;
  std::vector<Pending> pending_;
};

}  // namespace ts::inline v0
