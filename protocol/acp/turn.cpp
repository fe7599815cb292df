#include "protocol/acp/turn.hpp"

#include "protocol/acp/content.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/find.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ahpd::acp {

namespace build = ahp::build;
using json::text;

namespace {

/// What a part or a call weighs beside its text.
constexpr std::size_t overhead = 200;

/// Of texts that calls under way told; later ones are not held.
constexpr std::size_t most_edit_bytes = 16u << 20;
constexpr const char* too_much = "the agent told more than this host holds before it is done";
constexpr std::size_t most_edits = 2000; ///< of one call; further ones are left out

/// Whether `name` stands in `words` and is no part of a longer name.
bool has_word(std::string_view words, std::string_view name) {
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  for (auto at = words.find(name); at != words.npos; at = words.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool ends = end == words.size() || !(in_name(words[end]) || words[end] == '_');
    if ((at == 0 || !in_name(words[at - 1])) && ends)
      return true;
  }
  return false;
}

bool blank(std::string_view words) {
  return words.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// What a failed tool said, for `error.message`.
std::string failure_text(const json::array& content) {
  std::string out;
  for (const auto& item : content)
    if (json::string_member(item, "type") == "text")
      out += (out.empty() ? "" : "\n") + text(item, "text");
  return blank(out) ? "The tool failed" : out;
}

std::optional<double> number(const json::value& v, std::string_view key) {
  const auto* found = json::member(v, key);
  return found && found->is_number() ? std::optional(found->to_number<double>()) : std::nullopt;
}

} // namespace

turn::turn(std::string id, cost before)
    : id_(std::move(id)), before_(std::move(before)), now_(before_) {}

void turn::put(json::value action) {
  out_.push_back(std::move(action));
}

std::vector<json::value> turn::drain() {
  return std::exchange(out_, {});
}

void turn::take(const json::value& update) {
  const auto what = json::string_member(update, "sessionUpdate").value_or("");
  if (what == "agent_message_chunk")
    take_text("markdown", update);
  else if (what == "agent_thought_chunk")
    take_text("reasoning", update);
  else if (what == "tool_call" || what == "tool_call_update")
    take_call(update);
  else if (what == "plan")
    take_plan(update);
  else if (what == "agent_message")
    take_message("markdown", update);
  else if (what == "agent_thought")
    take_message("reasoning", update);
  else if (what == "tool_call_content_chunk")
    take_call_chunk(update);
  else if (const auto* plan = what == "plan_update" ? json::member(update, "plan") : nullptr)
    take_plan(*plan);
  else if (what == "usage_update")
    take_usage(update);
}

// ---- text --------------------------------------------------------------------------------------

void turn::take_text(std::string_view kind, const json::value& update) {
  const auto* block = json::member(update, "content");
  const auto words = block ? text_of(*block) : std::string();
  const auto message = text(update, "messageId");
  if (kind_ != kind || (!message.empty() && message != message_)) {
    end_text();
    kind_ = kind;
    message_ = message;
    if (!message.empty())
      messages_.insert(message);
  }
  text_ += words;
  text_bytes_ += words.size();
}

/// A whole message. Text that was shown cannot be taken back, so one that came in pieces stays.
void turn::take_message(std::string_view kind, const json::value& update) {
  const auto* blocks = json::member(update, "content");
  if (!blocks || !blocks->is_array() || messages_.count(text(update, "messageId")))
    return;
  for (const auto& block : blocks->get_array())
    take_text(kind, {{"content", block}, {"messageId", text(update, "messageId")}});
}

void turn::show_text() {
  if (text_.empty() || (part_.empty() && blank(text_)))
    return;
  if (part_.empty()) {
    part_ = id_ + ":" + std::to_string(++parts_);
    text_bytes_ += overhead;
    put(build::response_part(id_, build::text_part(kind_, part_)));
  }
  put(kind_ == "markdown" ? build::delta(id_, part_, text_) : build::reasoning(id_, part_, text_));
  text_.clear();
}

void turn::end_text() {
  show_text();
  text_.clear();
  part_.clear();
  kind_.clear();
}

// ---- tool calls --------------------------------------------------------------------------------

/// A call of another kind than a tool's has it in its title by chance: `grep` for its name, say.
bool turn::is_left_out(const std::string& id, const json::value& update) {
  if (calls_.count(id) > 0)
    return false;
  const auto kind = text(update, "kind");
  if (!kind.empty() && kind != "other") {
    unshown_.erase(id);
    return false;
  }
  const auto words = text(update, "name") + '\n' + text(update, "title");
  if (std::any_of(left_out_.begin(), left_out_.end(),
                  [&](const auto& name) { return has_word(words, name); }))
    unshown_.insert(id);
  return unshown_.count(id) > 0;
}

turn::shown_call& turn::known(const std::string& id, const json::value& update) {
  const auto found = calls_.find(id);
  if (found != calls_.end())
    return found->second;
  end_text();
  auto& made = calls_[id];
  call_bytes_ += overhead;
  auto tool = text(update, "name");
  if (tool.empty())
    tool = text(update, "kind");
  if (tool.empty())
    tool = "tool";
  auto title = text(update, "title");
  put(build::tool_call_start(id_, id, tool, title.empty() ? tool : title));
  made.title = title.empty() ? tool : std::move(title);
  return made;
}

void turn::take_call(const json::value& update) {
  const auto id = text(update, "toolCallId");
  if (id.empty() || is_left_out(id, update))
    return;
  auto& call = known(id, update);
  if (call.over)
    return;
  if (auto title = text(update, "title"); !title.empty())
    call.title = std::move(title);
  if (const auto* raw = json::member(update, "rawInput"))
    call.input = tool_input(raw);
  if (const auto* content = json::member(update, "content")) {
    call.content = tool_content(content);
    // Content without a diff, such as a last word of the tool's, takes no edit back.
    const auto* list = content->if_array();
    if (auto told = list ? edits_in(*list) : std::vector<ahp::file_edit>(); !told.empty()) {
      drop_edits(call);
      hold_edits(call, std::move(told));
    }
    changed_.insert(id);
    weigh(call, call.input.size() + json::serialize(call.content).size());
  } else {
    weigh(call, call.input.size());
  }

  const auto status = text(update, "status");
  const bool started = !status.empty() && status != "pending";
  if (started && !call.ready) {
    end_text();
    put(build::tool_call_ready(id_, id, call.title, call.input));
    call.ready = true;
  }
  if (status == "completed" || status == "failed" || status == "cancelled")
    complete(id, call, status == "completed");
}

void turn::take_call_chunk(const json::value& update) {
  const auto id = text(update, "toolCallId");
  const auto* item = json::member(update, "content");
  if (id.empty() || !item || is_left_out(id, update))
    return;
  auto& call = known(id, update);
  if (call.over)
    return;
  auto more = tool_content(json::array{*item});
  weigh(call, call.bytes + json::serialize(more).size());
  for (auto& one : more)
    call.content.push_back(std::move(one));
  hold_edits(call, edits_in(json::array{*item}));
  changed_.insert(id);
}

void turn::hold_edits(shown_call& of, std::vector<ahp::file_edit> more) {
  for (auto& edit : more) {
    if (of.edits.size() >= most_edits)
      return;
    for (auto* side : {&edit.before, &edit.after}) {
      if (!*side || !(*side)->text)
        continue;
      const auto size = (*side)->text->size();
      if (edit_bytes_ + size > most_edit_bytes)
        **side = {std::move((*side)->path), std::nullopt, too_much};
      else
        edit_bytes_ += size;
    }
    of.edits.push_back(std::move(edit));
  }
}

void turn::drop_edits(shown_call& of) {
  for (const auto& edit : of.edits)
    for (const auto* side : {&edit.before, &edit.after})
      edit_bytes_ -= *side && (*side)->text ? (*side)->text->size() : 0;
  of.edits.clear();
}

std::vector<ahp::file_edit> turn::drain_edits() {
  return std::exchange(edits_, {});
}

void turn::weigh(shown_call& of, std::size_t bytes) {
  if (bytes <= of.bytes)
    return;
  call_bytes_ += bytes - of.bytes;
  of.bytes = bytes;
}

void turn::show_content() {
  for (auto i = changed_.begin(); i != changed_.end();) {
    const auto& call = calls_.at(*i);
    if (!call.ready) { // it may be shown once the call runs
      ++i;
      continue;
    }
    if (!call.over)
      put(build::tool_call_content(id_, *i, call.content));
    i = changed_.erase(i);
  }
}

void turn::complete(const std::string& id, shown_call& of, bool success) {
  end_text();
  const auto error = success ? std::string() : failure_text(of.content);
  put(build::tool_call_complete(id_, id, success, of.title, std::move(of.content), error));
  if (success)
    std::copy(of.edits.begin(), of.edits.end(), std::back_inserter(edits_));
  drop_edits(of);
  of.over = true;
}

std::string turn::ask(const json::value& update, json::array options) {
  const auto id = text(update, "toolCallId");
  if (id.empty())
    return id;
  json::value quiet = update; // its status is "pending", whatever the agent says
  if (quiet.is_object())
    quiet.get_object().erase("status");
  known(id, quiet);
  take_call(quiet);
  auto& call = calls_.at(id);
  if (call.over)
    return {};
  end_text();
  call.ready = true;
  put(build::tool_call_asks(id_, id, call.title, call.input, std::move(options)));
  return id;
}

void turn::deny(const std::string& call) {
  if (const auto found = calls_.find(call); found != calls_.end()) {
    found->second.over = true;
    drop_edits(found->second);
  }
}

// ---- plan and usage ----------------------------------------------------------------------------

void turn::take_plan(const json::value& update) {
  const auto id = id_ + ":plan";
  auto& call = calls_[id];
  if (!std::exchange(planned_, true)) {
    end_text();
    call.title = "Plan";
    call.ready = true;
    call_bytes_ += overhead;
    put(build::tool_call_start(id_, id, "plan", "Plan"));
    put(build::tool_call_ready(id_, id, "Plan"));
  }
  const auto words = plan_text(json::member(update, "entries"));
  call.content = {build::text_content(words)};
  changed_.insert(id);
  weigh(call, words.size());
}

void turn::take_usage(const json::value& update) {
  json::object meta;
  if (const auto* used = json::member(update, "used"), *size = json::member(update, "size");
      used && size)
    meta["context"] = json::object{{"used", *used}, {"size", *size}};
  const auto* charged = json::member(update, "cost");
  if (const auto amount = charged ? number(*charged, "amount") : std::nullopt) {
    now_ = {*amount, text(*charged, "currency")};
    // It is cumulative: the turn cost what was added since it began.
    const auto since = now_.currency == before_.currency ? before_.amount : 0;
    meta["cost"] =
      json::object{{"amount", std::max(0.0, *amount - since)}, {"currency", now_.currency}};
  }
  if (meta.empty())
    return;
  auto& shown = usage_["_meta"];
  if (!shown.is_object())
    shown.emplace_object();
  for (auto& item : meta)
    shown.get_object()[item.key()] = std::move(item.value());
  usage_changed_ = true;
}

void turn::take_answer(const json::value& result) {
  const auto* counts = json::member(result, "usage");
  if (!counts)
    return;
  for (const auto& [theirs, ours] : {std::pair{"inputTokens", "inputTokens"},
                                     {"outputTokens", "outputTokens"},
                                     {"cachedReadTokens", "cacheReadTokens"}})
    if (const auto n = ahp::integer_member(*counts, theirs)) {
      usage_[ours] = *n;
      usage_changed_ = true;
    }
}

void turn::show_usage() {
  if (std::exchange(usage_changed_, false))
    put(build::usage(id_, usage_));
}

// ---- when ---------------------------------------------------------------------------------------

bool turn::gathered() const {
  return !text_.empty() || usage_changed_ || !changed_.empty();
}

void turn::flush() {
  show_text();
  show_content();
  show_usage();
}

void turn::finish() {
  flush();
  if (planned_)
    complete(id_ + ":plan", calls_[id_ + ":plan"], true);
}

ending ending_of(const json::value& what) {
  const auto why = text(what, "stopReason");
  if (why == "cancelled")
    return {true, {}};
  if (why == "max_tokens" || why == "max_turn_requests" || why == "refusal" || why == "error")
    return {false, why};
  return {};
}

} // namespace ahpd::acp
