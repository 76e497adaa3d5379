// Sums over the blocks of a grid of clusters, in an order that the grid alone fixes. Every block sends its
// shares to the blocks of its cluster, each of which adds those that it owns in the order of ranks. Then the
// clusters send their sums, through mailboxes in global memory, to one of them, which adds them in the order of
// clusters. A number is its own sign of arrival: zero bits mean that it has not come, and a sum of +0 is sent
// as -0. So the way of a sum through memory takes one write and one read, without fences or tickets in
// between.
//
// The cluster that collects is the last one to begin, so that it waits for none that does not run yet.
#pragma once

#include "tallskinny/gemm/device/cluster.cuh"

#if __CUDA_ARCH__ >= 900
/// Of Count shares that are Parts numbers each. Shares come one by one, or numbers in pieces of 16 bytes.
template <class Number, int Cluster, int Count, int Parts>
struct ClusterSum {
  static constexpr int numbers = Count * Parts;
  static constexpr int per_piece = 16 / static_cast<int>(sizeof(Number));
  /// Shares that a block owns (the last ones fewer), in whole pieces.
  static constexpr int owned = round_up((Count + Cluster - 1) / Cluster, per_piece);

  /// A block's shared memory, which nothing else may use from begin() on.
  struct alignas(16) Inbox {
    Number shares[Cluster][owned * Parts];
    uint64 barrier;
    unsigned turn;
  };

  Inbox* inbox;
  double* mailboxes;  ///< groups * numbers, zero bits before and after
  unsigned* ticket;   ///< zero before and after
  int groups, group;

  /// By all threads, before anything is sent; `first` in one of them.
  __device__ __forceinline__ void begin(bool first) const {
    if (first) {
      barrier_init(&inbox->barrier, 1);
      const int left = Count - cluster_rank() * owned, mine = left < 0 ? 0 : left < owned ? left : owned;
      barrier_arrive_expecting(&inbox->barrier, Cluster * mine * Parts * sizeof(Number) + sizeof(unsigned));
    }
    cluster_arrive();
  }
  /// By one thread of every block, once it may touch global memory: which cluster in the order of beginning
  /// this is. (Asked for early and told late, it costs no time.)
  __device__ __forceinline__ unsigned draw() const {
    if (groups == 1 || cluster_rank() != 0) return 0;
    const unsigned turn = atomicAdd(ticket, 1u);
    if (turn == static_cast<unsigned>(groups) - 1) *ticket = 0;
    return turn;
  }
  /// By all threads, before they put or tell anything.
  __device__ __forceinline__ void meet() const { cluster_wait(); }
  /// By the thread that drew.
  __device__ __forceinline__ void tell(unsigned turn) const {
    if (cluster_rank() != 0) return;
#pragma unroll 1
    for (int r = 0; r < Cluster; ++r) send(address_of_peer(&inbox->turn, r), address_of_peer(&inbox->barrier, r), turn);
  }
  /// The Numbers of a piece of this block's shares, where Parts is 1.
  template <class Piece>
  __device__ __forceinline__ void put_piece(int piece, const Piece& x) const {
    constexpr int pieces = owned / per_piece;
    const int owner = piece / pieces;
    send(address_of_peer(inbox->shares[cluster_rank()] + piece % pieces * per_piece, owner),
         address_of_peer(&inbox->barrier, owner), x);
  }
  __device__ __forceinline__ void put(int e, int part, Number x) const {
    const int owner = e / owned;
    send(address_of_peer(inbox->shares[cluster_rank()] + part * owned + e % owned, owner),
         address_of_peer(&inbox->barrier, owner), x);
  }

  /// use(e, sums) in one thread of the grid for each share e. By all threads.
  template <class Use>
  __device__ __forceinline__ void finish(int thread, int threads, Use use) const {
    wait_for_peers(&inbox->barrier);
    const bool collects = inbox->turn == static_cast<unsigned>(groups) - 1;
    const int first = cluster_rank() * owned;
#pragma unroll 1
    for (int e = thread; e < owned && first + e < Count; e += threads) {
      double sum[Parts];
#pragma unroll
      for (int part = 0; part < Parts; ++part) {
        sum[part] = 0;
#pragma unroll
        for (int r = 0; r < Cluster; ++r) sum[part] += static_cast<double>(inbox->shares[r][part * owned + e]);
        double* const mailbox = mailboxes + part * Count + first + e;
        if (groups > 1 && !collects) post(mailbox + static_cast<int64>(group) * numbers, sum[part]);
        if (groups > 1 && collects) sum[part] = collect(mailbox, sum[part]);
      }
      if (collects) use(first + e, sum);
    }
  }

 private:
  static __device__ __forceinline__ void post(double* mailbox, double x) {
    const long long bits = __double_as_longlong(x);
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(mailbox),
                 "l"(bits == 0 ? static_cast<long long>(1ull << 63) : bits)
                 : "memory");
  }
  static __device__ __forceinline__ long long look(const double* mailbox) {
    long long bits;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(bits) : "l"(mailbox) : "memory");
    return bits;
  }
  /// The sum over all clusters, of which this one's is `mine`; `mailbox` is where the first one's comes.
  __device__ __forceinline__ double collect(double* mailbox, double mine) const {
    constexpr int at_once = 16;  // numbers that are waited for together
    const long long own = __double_as_longlong(mine);
    double sum = 0;
#pragma unroll 1
    for (int first = 0; first < groups; first += at_once, mailbox += at_once * numbers) {
      long long bits[at_once];
      const auto expected = [&](int k) { return first + k < groups && first + k != group; };
#pragma unroll
      for (int k = 0; k < at_once; ++k) bits[k] = first + k == group ? own : 0;
      for (bool complete = false; !complete;) {
#pragma unroll
        for (int k = 0; k < at_once; ++k)
          if (expected(k) && bits[k] == 0) bits[k] = look(mailbox + k * numbers);
        complete = true;
#pragma unroll
        for (int k = 0; k < at_once; ++k) complete = complete && (bits[k] != 0 || !expected(k));
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (expected(k)) mailbox[k * numbers] = 0;
        sum += __longlong_as_double(bits[k]);
      }
    }
    return sum;
  }
};
#endif
