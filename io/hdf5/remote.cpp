#include "tallskinny/io/hdf5/remote.hpp"

#include <algorithm>

namespace ts::inline v0::io::hdf5 {

namespace {

constexpr std::size_t block_bytes = std::size_t{4} << 20;  ///< that come at a time
constexpr index_t chunks_at_a_time = 4096;

}  // namespace

Message Remote::known(const Message& question) const {
  const std::lock_guard lock(kept_);
  const auto found = answers_.find(question.bytes());
  if (found != answers_.end()) return found->second;
  return answers_.emplace(question.bytes(), reader_->ask(question)).first->second;
}

std::optional<Remote::Found> Remote::find(const std::shared_ptr<const Remote>& self, const std::string& path) {
  const auto& root = self->root_ ? self->root_ : self;
  if (path == "/") return Found{root, true};
  Message answer = self->reader_->ask(Message().put(call_find).put(path));
  const auto group = self->value_of<std::optional<bool>>(answer);
  if (!group) return std::nullopt;
  auto found = std::make_shared<Remote>(self->reader_);
  found->root_ = root, found->path_ = path;
  for (auto& [question, known] : self->value_of<std::vector<Answered>>(answer))
    found->answers_.emplace(std::move(question), Message(std::move(known)));
  return Found{std::move(found), *group};
}

std::vector<Node::UsedFilter> Remote::filters() const {
  auto used = ask<&Node::filters>();
  for (Node::UsedFilter& filter : used)
    if (!filter.available) filter.available = reader_->load_filter(filter.number);
  return used;
}

bool Remote::read_chunk(const Node& self, index_t row, index_t col, std::vector<char>& stored,
                        unsigned& skipped) const {
  Node::StoredChunk chunk;
  {
    const std::lock_guard lock(kept_);
    auto found = chunks_.find({row, col});
    if (found == chunks_.end()) {
      chunks_.clear();
      const Message question =
          Message().put(number_of<&Node::chunk_places>()).put(path_).put(row).put(col).put(chunks_at_a_time);
      Message answer = reader_->ask(question);
      const auto places = value_of<std::vector<Node::StoredChunk>>(answer);
      if (places.empty()) self.refuse("has no chunk at row " + std::to_string(row));
      for (const auto& place : places) chunks_[{place.row, place.col}] = place;
      found = chunks_.find({row, col});
      if (found == chunks_.end()) self.refuse("has no chunk at row " + std::to_string(row));
    }
    chunk = found->second;
  }
  if (chunk.bytes == 0) return false;
  const std::uint64_t size = reader_->bytes()->size();
  stored.clear();
  if (chunk.offset <= size && chunk.bytes <= size - chunk.offset) stored.resize(chunk.bytes);
  if (stored.empty() ||
      reader_->bytes()->read(chunk.offset, std::as_writable_bytes(std::span(stored))) != stored.size())
    self.refuse("cannot be read: it is damaged or truncated (the file ends within a chunk)");
  skipped = chunk.skipped;
  return true;
}

void Remote::read(const Node& self, index_t begin, index_t end, MemoryType memory, std::span<std::byte> out,
                  const std::string& member) const {
  const std::size_t row_bytes = out.size() / static_cast<std::size_t>(end - begin);
  if (member.empty()) {
    const std::lock_guard lock(raw_kept_);
    auto found = raw_.find(memory);
    if (found == raw_.end()) found = raw_.emplace(memory, RawElements::of(self, memory)).first;
    if (found->second)
      return found->second->read(static_cast<std::uint64_t>(begin) * row_bytes, out.size(), out.data());
  }
  // Blocks end where chunks end, so that none is decompressed twice.
  const index_t chunk = std::max<index_t>(1, self.chunk_rows());
  const auto rows = static_cast<index_t>(block_bytes / std::max<std::size_t>(1, row_bytes));
  const index_t block = std::max<index_t>(1, rows / chunk) * chunk;
  for (index_t from = begin; from < end;) {
    const index_t left = block - from % block, to = end - from <= left ? end : from + left;
    const std::size_t bytes = static_cast<std::size_t>(to - from) * row_bytes;
    Message question;
    question.put(call_read).put(path_).put(from).put(to).put(memory).put(member).put(bytes);
    reader_->read(question, out.subspan(static_cast<std::size_t>(from - begin) * row_bytes, bytes));
    from = to;
  }
}

}  // namespace ts::inline v0::io::hdf5
