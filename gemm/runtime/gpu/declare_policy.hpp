// Declares what a policy has beside its members (runtime/gpu/policy.hpp): host code and kernels read this text.
#pragma once

/// Names every member in the order of their declarations, then compares them.
#define TS_POLICY_OF(Policy, header_name, type_name, ...)           \
  static constexpr char header[] = header_name, name[] = type_name; \
  static constexpr char member_names[] = #__VA_ARGS__;              \
  constexpr void members(auto each) { each(__VA_ARGS__); }          \
  friend bool operator==(const Policy&, const Policy&) = default

/// TS_POLICY_OF for a policy of ts::cuda in the file PATH; its kernels have one parameter, of the type KernelArguments.
#define TS_POLICY(Policy, KernelArguments, path, ...) \
  using Arguments = KernelArguments;                  \
  TS_POLICY_OF(Policy, "tallskinny/" path, "ts::cuda::" #Policy __VA_OPT__(, ) __VA_ARGS__)
