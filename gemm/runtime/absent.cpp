// Takes the place of everything that needs CUDA's headers in a build without the CUDA backend.
#include "tallskinny/gemm/runtime/gpu/compile.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"
#include "tallskinny/gemm/runtime/gpu/staging.hpp"
#include "tallskinny/gemm/runtime/gpu/tensor_map.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::inline v0::cuda {

namespace {

constexpr const char* reason = "this program was built without the CUDA backend (configure with -DTS_CUDA=ON)";

[[noreturn]] void refuse() { throw Error(Errc::no_device, std::string("no GPU can be used: ") + reason); }

}  // namespace

struct Stream::State {};
struct Event::State {};
struct Graph::State {};

bool built() noexcept { return false; }

DeviceList list_devices() { return {{}, reason}; }
void keep_rates(const DeviceInfo&) { refuse(); }

Stream::Stream(int, DeviceAllocator) { refuse(); }                // NOLINT(performance-unnecessary-value-param)
Stream::Stream(int, CUstream_st*, DeviceAllocator) { refuse(); }  // NOLINT(performance-unnecessary-value-param)
Stream Stream::another() const { refuse(); }
Stream Stream::urgent() const { refuse(); }
const std::shared_ptr<const StreamHome>& Stream::home() const { refuse(); }
Stream Stream::rehearsing(const DeviceInfo&) { refuse(); }
Rehearsal* Stream::rehearsal() const { refuse(); }
const DeviceInfo& Stream::device() const { refuse(); }
CUstream_st* Stream::handle() const { refuse(); }
void Stream::choose_by(std::shared_ptr<const TunedTable>) const {  // NOLINT(performance-unnecessary-value-param)
  refuse();
}
void Stream::use_libraries(bool) const { refuse(); }
void Stream::with_device(const std::function<void()>&) const { refuse(); }
void Stream::synchronize() const { refuse(); }
void* Stream::workspace(std::size_t) const { refuse(); }
unsigned* Stream::counters() const { refuse(); }
double* Stream::mailboxes() const { refuse(); }
Kept& Stream::all_kept() const { refuse(); }

Staging& Stream::staging() const { refuse(); }

void Staging::begin(const Stream&, std::size_t) { refuse(); }
Staging::Stretch Staging::take(std::size_t) { refuse(); }
void Staging::upload(const Stream&, const Stretch&) { refuse(); }
void Staging::download(const Stream&, const Stretch&, const void*) { refuse(); }
void Staging::finish(const Stream&) { refuse(); }

Memory::Memory(const Stream&, std::size_t) { refuse(); }
void Memory::Release::operator()(void*) const noexcept {}
KeepMemory::KeepMemory(const Stream&) {}
KeepMemory::~KeepMemory() = default;
void copy_bytes(const Stream&, void*, const void*, std::size_t) { refuse(); }
void copy_lines(const Stream&, void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t) { refuse(); }
void fill_bytes(const Stream&, void*, unsigned char, std::size_t) { refuse(); }

PinnedMemory::PinnedMemory(const Stream&, std::size_t) { refuse(); }
void PinnedMemory::Release::operator()(void*) const noexcept {}
std::uint64_t free_memory(const Stream&) { refuse(); }

Event::Event(const Stream&) { refuse(); }
void Event::record(const Stream&) { refuse(); }
void Event::wait() const { refuse(); }
void Event::precede(const Stream&) const { refuse(); }
double Event::seconds_since(const Event&) const { refuse(); }
Graph::Graph(const Stream&, const std::function<void()>&) { refuse(); }
void Graph::launch(const Stream&) const { refuse(); }

TensorMap tensor_map_of(int, const void*, int, index_t, index_t, index_t, int) { refuse(); }

std::string why_no_compiler() { return reason; }
std::string compiler_version() { refuse(); }
std::vector<std::string> options_of(const CompileJob&) { refuse(); }
std::optional<Compiled> find_in(const KernelPack&, const CompileJob&) { refuse(); }
Compiled compile(const CompileJob&) { refuse(); }
std::vector<Compiled> compile_all(std::span<const CompileJob>, int) { refuse(); }
void write_kernel_pack(const std::filesystem::path&, std::span<const CompileJob>, int) { refuse(); }

void detail::launch(const Context&, const KernelPlan&, std::span<const Argument>, KnownKernel*) { refuse(); }
void prepare(const Context&, std::span<const KernelPlan>) { refuse(); }

}  // namespace ts::inline v0::cuda
