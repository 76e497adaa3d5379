// How work is shared among threads. Threads that wait spin for a short time and then sleep, so that they take
// no processor from whom it is needed by.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

/// Whether this thread works on a part of parallel(): what it shares out in turn stays with it.
[[nodiscard]] bool in_parallel() noexcept;

namespace detail {
using Part = void (*)(const void* body, int part);
void run_parts(int parts, Part call, const void* body);
}  // namespace detail

/// Calls body(part) for part = 0 .. parts - 1, on as many threads as can be had, and returns when all are
/// done. Parts may run one after another and must not wait for each other. Each calling thread has threads of
/// its own, which it keeps; after fork() the child gets new ones.
/// @throws what `body` throws; of several, what the lowest part does.
template <class Body>
void parallel(int parts, const Body& body) {
  if (parts <= 1) return body(0);
  detail::run_parts(
      parts, [](const void* b, int part) { (*static_cast<const Body*>(b))(part); }, &body);
}

/// Calls body(first, last, range) for up to `threads` ranges of neighbours that make up 0 .. count - 1, which
/// are numbered from 0 on.
/// @throws what `body` throws, as parallel() does.
template <class Body>
void parallel_numbered_ranges(int threads, index_t count, const Body& body) {
  if (count <= 0) return;
  const index_t team = std::clamp<index_t>(threads, 1, count);
  const index_t least = count / team, longer = count % team;
  parallel(static_cast<int>(team), [&](int part) {
    const index_t first = part * least + std::min<index_t>(part, longer);
    body(first, first + least + (part < longer ? 1 : 0), part);
  });
}

/// Calls body(first, last) for up to `threads` ranges of neighbours that make up 0 .. count - 1.
/// @throws what `body` throws, as parallel() does.
template <class Body>
void parallel_ranges(int threads, index_t count, const Body& body) {
  parallel_numbered_ranges(threads, count, [&](index_t first, index_t last, int) { body(first, last); });
}

/// combine(.. combine(combine(start, v_0), v_1) ..) for the values v = body(first, last) of such ranges, from
/// the lowest range on.
/// @throws what `body` throws, as parallel() does.
template <class Value, class Body, class Combine>
[[nodiscard]] Value parallel_reduce(int threads, index_t count, Value start, const Body& body, const Combine& combine) {
  std::vector<Value> values(static_cast<std::size_t>(std::clamp<index_t>(count, 0, std::max(threads, 1))));
  parallel_numbered_ranges(threads, count, [&](index_t first, index_t last, int range) {
    values[static_cast<std::size_t>(range)] = body(first, last);
  });
  for (const Value& value : values) start = combine(start, value);
  return start;
}

/// Calls body(i) for i = 0 .. count - 1, each of up to `threads` threads for neighbours.
/// @throws what `body` throws, as parallel() does.
template <class Body>
void parallel_for(int threads, index_t count, const Body& body) {
  parallel_ranges(threads, count, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) body(i);
  });
}

/// Calls body(piece, thread) for piece = 0 .. count - 1 with thread = 0 .. threads - 1, no two at a time for
/// the same thread. Each takes neighbours, so that what one piece leaves in its cache serves the next, and
/// helps the others when its own are done: for pieces that take some microseconds or more.
/// @throws what `body` throws, as parallel() does; other pieces may have been left out then.
template <class Body>
void parallel_pieces(int threads, index_t count, const Body& body) {
  const index_t team = std::min<index_t>(threads, count);
  if (team <= 1) {
    for (index_t c = 0; c < count; ++c) body(c, 0);
    return;
  }
  struct alignas(64) Share {
    std::atomic<index_t> next{0};
    index_t end = 0;
  };
  std::vector<Share> shares(static_cast<std::size_t>(team));
  for (index_t t = 0; t < team; ++t) {
    shares[static_cast<std::size_t>(t)].next = count * t / team;
    shares[static_cast<std::size_t>(t)].end = count * (t + 1) / team;
  }
  parallel(static_cast<int>(team), [&](int thread) {
    for (index_t t = 0; t < team; ++t) {
      Share& share = shares[static_cast<std::size_t>((thread + t) % team)];
      for (index_t c = share.next++; c < share.end; c = share.next++) body(c, thread);
    }
  });
}

}  // namespace ts::inline v0
