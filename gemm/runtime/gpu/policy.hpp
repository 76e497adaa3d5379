// Policies: what specialises a kernel, as a plain struct that the host compiler and the run-time compiler both read.
//
// A policy lies in the policy.hpp of its room, which includes nothing but headers of that kind and core/dtype.hpp:
//
//   struct RandomFillPolicy {
//     static constexpr char header[] = "tallskinny/gemm/random/policy.hpp";
//     static constexpr char name[] = "ts::cuda::RandomFillPolicy";
//     using Arguments = RandomFillArguments;        // the one parameter of its kernels
//     DType type = DType::float64;                  // members: bool, int, index_t, enumerations
//     int vector = 1;
//     constexpr int threads() const { return 256; } // threads, shared bytes and offsets follow from them
//     static constexpr void members(auto& p, auto each) {
//       each("type", p.type), each("vector", p.vector);
//     }
//     friend bool operator==(const RandomFillPolicy&, const RandomFillPolicy&) = default;
//   };
//
// A kernel is compiled from `#include header`, one line `constexpr RandomFillPolicy policy{...};`, and its own
// file, which says policy.vector, and `if constexpr` where it chooses. Plans carry the members as text
// (KernelPlan::defines).
#pragma once

#include <string>
#include <type_traits>

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
/// The number of those that P::members tells.
template <class P>
[[nodiscard]] consteval int count_told() {
  int count = 0;
  P policy{};
  P::members(policy, [&](const char*, auto&) { ++count; });
  return count;
}

}  // namespace detail

/// The members of a policy as text.
template <class P>
[[nodiscard]] Defines members_of(const P& policy) {
  static_assert(detail::count_members<P>() == detail::count_told<P>(), "P::members leaves a member out");
  Defines members;
  P::members(policy, [&](const char* name, const auto& value) {
    members.emplace_back(name, std::to_string(static_cast<index_t>(value)));
  });
  return members;
}

/// The type of a policy, as compilers are told of it.
template <class P>
inline constexpr PolicyType policy_type{P::header, P::name};

/// A plan of the kernel `family` with this policy; its launch is left to the caller.
template <class P>
[[nodiscard]] KernelPlan plan_of(std::string_view family, const P& policy) {
  KernelPlan plan;
  plan.family = family;
  plan.policy = policy_type<P>;
  plan.defines = members_of(policy);
  return plan;
}

/// The policy of a plan made by plan_of. @throws Error(invalid_argument) when the plan has one of another type.
template <class P>
[[nodiscard]] P policy_of(const KernelPlan& plan) {
  expect_policy(plan, policy_type<P>);
  P policy{};
  std::size_t next = 0;
  P::members(policy, [&](const char*, auto& value) {
    value = static_cast<std::decay_t<decltype(value)>>(std::stoll(plan.defines[next++].second));
  });
  return policy;
}

}  // namespace ts::inline v0::cuda
