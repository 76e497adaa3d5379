// Policies: what specialises a kernel, as a plain struct that the host compiler and the run-time compiler both read.
//
// A policy lies in the policy.hpp of its room, which includes nothing but headers of that kind, declare_policy.hpp and
// core/dtype.hpp:
//
//   struct RandomFillPolicy {
//     DType type = DType::float64;                  // members: bool, int, index_t, enumerations
//     int vector = 1;
//     constexpr int threads() const { return 256; } // threads, shared bytes and offsets follow from them
//     TS_POLICY(RandomFillPolicy, RandomFillArguments, "gemm/random/policy.hpp", type, vector);
//   };
//
// A kernel is compiled from `#include header`, one line `constexpr RandomFillPolicy policy{...};`, and its own
// file, which says policy.vector, and `if constexpr` where it chooses. Plans carry the members as numbers
// (KernelPlan::members).
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

namespace detail {

struct AnyMember {
  template <class T>
  operator T() const noexcept;  // NOLINT(google-explicit-constructor)
};
/// The number of members of an aggregate.
template <class P, class... Any>
[[nodiscard]] consteval int count_members() {
  if constexpr (requires { P{Any{}..., AnyMember{}}; })
    return count_members<P, Any..., AnyMember>();
  else
    return sizeof...(Any);
}

}  // namespace detail

/// The members of a policy as numbers.
template <class P>
[[nodiscard]] std::vector<index_t> members_of(P policy) {
  std::vector<index_t> members;
  policy.members([&members](auto... values) {
    static_assert(detail::count_members<P>() == sizeof...(values), "TS_POLICY leaves a member out");
    members = {static_cast<index_t>(values)...};
  });
  return members;
}

/// The type of a policy, as compilers are told of it.
template <class P>
inline constexpr PolicyType policy_type{P::header, P::name, P::member_names};

/// A plan of the kernel `family` with this policy; its launch is left to the caller.
template <class P>
[[nodiscard]] KernelPlan plan_of(std::string_view family, const P& policy) {
  KernelPlan plan;
  plan.family = family;
  plan.policy = policy_type<P>;
  plan.members = members_of(policy);
  return plan;
}

/// The policy of a plan made by plan_of. @throws Error(invalid_argument) when the plan has one of another type.
template <class P>
[[nodiscard]] P policy_of(const KernelPlan& plan) {
  expect_policy(plan, policy_type<P>);
  P policy{};
  policy.members([next = plan.members.begin()](auto&... values) mutable {
    ((values = static_cast<std::decay_t<decltype(values)>>(*next++)), ...);
  });
  return policy;
}

}  // namespace ts::inline v0::cuda
