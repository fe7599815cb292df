#include "actors/core/channel.hpp"

#include "protocol/ahp/builders.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <unordered_map>

namespace ahpd::core {

namespace {

using dispatched = std::optional<ahp::build::origin>;

/// An origin as the wire has it.
dispatched on_the_wire(const action_origin& origin) {
  return ahp::build::origin{origin.client_id, origin.client_seq};
}

transport::frame frame_of(std::string_view uri, std::string_view action, std::uint64_t seq,
                          const dispatched& from, std::string_view rejection = {}) {
  return std::make_shared<const std::string>(
    ahp::build::action_frame(uri, action, seq, from, rejection));
}

} // namespace

channel::channel(ahp::channel_kind what, std::string name, json::value initial)
    : id([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()),
      kind(what), uri(std::move(name)), state(std::move(initial)) {}

sequencer::sequencer(std::uint64_t start, std::uint64_t reserved,
                     std::function<void(std::uint64_t)> reserve, std::size_t replay_bytes)
    : current_(start), reserved_(reserved), reserve_(std::move(reserve)),
      replay_(start, replay_bytes) {}

std::uint64_t sequencer::current() const {
  std::lock_guard lock(guard_);
  return current_;
}

void sequencer::reserved(std::uint64_t upto) {
  std::lock_guard lock(guard_);
  reserved_ = std::max(reserved_, upto);
  asked_ = false;
}

std::uint64_t sequencer::publish(channel& where, json::value action,
                                 const std::optional<action_origin>& origin) {
  ahp::reduce(where.kind, where.state, action);
  return announce(where, std::move(action), origin);
}

std::uint64_t sequencer::announce(channel& where, json::value action,
                                  const std::optional<action_origin>& origin) {
  const auto shared = std::make_shared<const json::value>(std::move(action));
  const auto from = origin ? on_the_wire(*origin) : std::nullopt;
  const auto text = std::make_shared<const std::string>(json::serialize(*shared));

  std::unique_lock lock(guard_);
  if (current_ >= reserved_)
    throw std::runtime_error(
      "the reserved sequence numbers are used up and the store does not answer");
  const auto seq = ++current_;
  where.since_ = where.since_.value_or(seq - 1);
  replay_.add({seq, where.id, std::string(json::string_member(*shared, "type").value_or("")), text,
               from, origin && origin->alone});
  // The action in the words of each dialect in use, and its frames for each spelling in use; nearly
  // always one of both.
  using shared_text = std::shared_ptr<const std::string>;
  std::array<std::optional<std::vector<shared_text>>, ahp::dialects> texts;
  std::array<std::vector<transport::frame>, ahp::dialects> plain;
  const auto bring_to = [&](outbox& box, const std::string& spelling) {
    const auto dialect = box.speaks();
    const auto slot = static_cast<std::size_t>(dialect);
    if (!texts[slot]) {
      texts[slot].emplace();
      for (const auto& adapted : ahp::adapt_action(dialect, shared, where.state)) {
        texts[slot]->push_back(adapted == shared
                                 ? text
                                 : std::make_shared<const std::string>(json::serialize(*adapted)));
        plain[slot].push_back(nullptr);
      }
    }
    for (std::size_t i = 0; i < texts[slot]->size(); ++i) {
      const auto& words = *(*texts[slot])[i];
      if (spelling != where.uri) {
        box.push_action(frame_of(spelling, words, seq, from));
        continue;
      }
      auto& frame = plain[slot][i];
      if (!frame)
        frame = frame_of(where.uri, words, seq, from);
      box.push_action(frame);
    }
  };
  auto waits = origin ? origin->sender : nullptr;
  for (auto& follower : where.followers_) {
    if (origin && origin->alone && follower.box != origin->sender)
      continue;
    bring_to(*follower.box, follower.spelling);
    if (follower.box == waits)
      waits = nullptr;
  }
  if (waits)
    bring_to(*waits, origin->spelling);
  const bool ask = !asked_ && reserved_ - current_ < block / 2;
  asked_ = asked_ || ask;
  const auto upto = reserved_ + block;
  lock.unlock();
  if (ask && reserve_)
    reserve_(upto);
  return seq;
}

void sequencer::refuse(const json::value& action, const action_origin& origin,
                       std::string_view why) const {
  // In its sender's words again; as it is when that version has none for it.
  const auto shared = std::make_shared<const json::value>(action);
  const auto adapted = ahp::adapt_action(origin.sender->speaks(), shared, nullptr);
  const auto text = json::serialize(adapted.empty() ? action : *adapted.front());
  std::lock_guard lock(guard_);
  origin.sender->push(frame_of(origin.spelling, text, current_, on_the_wire(origin), why));
}

void sequencer::add_follower(channel& where, const std::shared_ptr<outbox>& box,
                             const std::string& spelling) {
  auto& list = where.followers_;
  const auto known =
    std::find_if(list.begin(), list.end(), [&](const auto& f) { return f.box == box; });
  if (known != list.end())
    known->spelling = spelling;
  else
    list.push_back({box, spelling});
}

followed sequencer::follow(channel& where, const core::follow& what,
                           const std::function<void(json::value&)>& view) {
  auto state = std::make_shared<json::value>(where.state);
  if (view)
    view(*state);
  std::lock_guard lock(guard_);
  where.since_ = where.since_.value_or(current_);
  add_follower(where, what.box, what.spelling);
  if (what.slot != 0)
    what.box->postpone(what.slot);
  return {where.id, where.kind, std::move(state), current_};
}

std::optional<std::uint64_t> sequencer::settle(outbox& box, std::vector<followed>& shots) {
  std::unordered_map<std::uint64_t, followed*> by_channel;
  for (auto& shot : shots)
    by_channel[shot.channel] = &shot;
  std::vector<std::pair<followed*, std::shared_ptr<const std::string>>> later;
  std::unique_lock lock(guard_);
  const auto now = current_;
  for (const auto& shot : shots)
    if (!replay_.reaches(shot.from_seq))
      return std::nullopt;
  auto first = now;
  for (const auto& shot : shots)
    first = std::min(first, shot.from_seq);
  replay_.after(first, [&](const replay::entry& e) {
    const auto i = by_channel.find(e.channel);
    if (i != by_channel.end() && e.seq > i->second->from_seq && e.is_for(box.client_id()))
      later.emplace_back(i->second, e.action);
  });
  box.take_back_actions();
  lock.unlock();
  for (const auto& [shot, action] : later)
    ahp::reduce(shot->kind, *shot->state, json::parse(*action));
  for (auto& shot : shots)
    shot.from_seq = now;
  return now;
}

std::optional<std::vector<missed>>
sequencer::resume(const std::vector<std::pair<std::string, std::shared_ptr<channel>>>& channels,
                  const std::shared_ptr<outbox>& box, std::uint64_t last_seen,
                  std::size_t most_bytes) {
  std::unordered_map<std::uint64_t, const std::string*> spelling_of;
  for (const auto& [spelling, where] : channels)
    spelling_of[where->id] = &spelling;
  const auto speaks = box->speaks();
  std::vector<missed> out;
  std::size_t bytes = 0;
  bool sayable = true;
  std::lock_guard lock(guard_);
  if (last_seen > current_ || !replay_.reaches(last_seen))
    return std::nullopt;
  // Whoever followed an earlier channel of that URI holds the state of another one.
  for (const auto& [spelling, where] : channels)
    if (!where->since_ || *where->since_ > last_seen)
      return std::nullopt;
  replay_.after(last_seen, [&](const replay::entry& e) {
    const auto i = spelling_of.find(e.channel);
    if (i == spelling_of.end() || bytes > most_bytes || !e.is_for(box->client_id()))
      return;
    bytes += e.action->size();
    sayable = sayable && !(speaks != ahp::dialect::v1_0 && ahp::needs_state(speaks, e.type));
    out.push_back({*i->second, e.seq, e.action, e.from});
  });
  if (bytes > most_bytes || !sayable)
    return std::nullopt;
  for (const auto& [spelling, where] : channels)
    add_follower(*where, box, spelling);
  return out;
}

void sequencer::unfollow(channel& where, const outbox& box) {
  std::lock_guard lock(guard_);
  auto& list = where.followers_;
  list.erase(
    std::remove_if(list.begin(), list.end(), [&](const auto& f) { return f.box.get() == &box; }),
    list.end());
}

bool sequencer::followed_by(const channel& where, std::string_view client_id) const {
  std::lock_guard lock(guard_);
  const auto& list = where.followers_;
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& f) { return f.box->client_id() == client_id; });
}

std::size_t sequencer::followers(const channel& where) const {
  std::lock_guard lock(guard_);
  return where.followers_.size();
}

void sequencer::notify(channel& where, std::string_view method, const json::value& params) {
  std::lock_guard lock(guard_);
  std::array<transport::frame, ahp::dialects> frames;
  for (auto& follower : where.followers_) {
    const auto dialect = follower.box->speaks();
    auto& frame = frames[static_cast<std::size_t>(dialect)];
    if (!frame)
      frame = std::make_shared<const std::string>(
        jsonrpc::notification_frame(method, ahp::adapt_notification(dialect, method, params)));
    follower.box->push(frame);
  }
}

} // namespace ahpd::core
