#include "protocol/acp/content.hpp"

#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/uris.hpp"

namespace ahpd::acp {

namespace {

std::string_view text(const json::value& v, std::string_view key) {
  return json::string_member(v, key).value_or(std::string_view());
}

void add_block(json::array& out, const json::value& block) {
  const auto type = text(block, "type");
  if (type == "image" || type == "audio") {
    out.push_back(json::object{{"type", "embeddedResource"},
                               {"data", text(block, "data")},
                               {"contentType", text(block, "mimeType")}});
  } else if (type == "resource_link") {
    json::object link{{"type", "resource"}, {"uri", text(block, "uri")}};
    if (const auto mime = text(block, "mimeType"); !mime.empty())
      link["contentType"] = mime;
    out.push_back(std::move(link));
  } else if (auto words = text_of(block); !words.empty()) {
    out.push_back(ahp::build::text_content(words));
  }
}

json::object side(std::string_view path) {
  const auto uri = ahp::file_uri(path);
  return {{"uri", uri}, {"content", {{"uri", uri}}}};
}

/// A diff of version 1 is of one file; the draft's lists what became of each.
void add_edits(json::array& out, const json::value& diff) {
  const auto* changes = json::member(diff, "changes");
  if (!changes || !changes->is_array()) {
    out.push_back(json::object{{"type", "fileEdit"}, {"after", side(text(diff, "path"))}});
    return;
  }
  for (const auto& change : changes->get_array()) {
    const auto what = text(change, "operation");
    json::object edit{{"type", "fileEdit"}};
    if (what == "delete" || what == "move")
      edit["before"] = side(text(change, what == "move" ? "oldPath" : "path"));
    if (what != "delete")
      edit["after"] = side(text(change, "path"));
    out.push_back(std::move(edit));
  }
}

constexpr const char* not_told = "the agent did not tell what is in it";

/// More than a changeset shows is not held.
ahp::edit_side told_side(std::string_view path, const json::value* words) {
  const auto* told = words ? words->if_string() : nullptr;
  if (!told)
    return {std::string(path), std::nullopt, not_told};
  return {std::string(path),
          std::string(std::string_view(*told).substr(0, ahp::most_content_bytes + 1))};
}

ahp::file_edit edit_of(const json::value& diff) {
  const auto path = text(diff, "path");
  ahp::file_edit out{std::nullopt, told_side(path, json::member(diff, "newText")), true};
  if (const auto* old = json::member(diff, "oldText")) // null: there was no such file
    out.before = told_side(path, old);
  return out;
}

ahp::file_edit edit_of_draft(const json::value& change) {
  const auto what = text(change, "operation");
  const auto path = text(change, "path");
  ahp::file_edit out{std::nullopt, std::nullopt, true};
  if (what != "add")
    out.before = told_side(what == "move" ? text(change, "oldPath") : path, nullptr);
  if (what != "delete")
    out.after = told_side(path, nullptr);
  return out;
}

} // namespace

std::string text_of(const json::value& block) {
  const auto type = text(block, "type");
  if (type == "text")
    return std::string(text(block, "text"));
  if (type == "resource_link") {
    const auto name = text(block, "name");
    const auto uri = std::string(text(block, "uri"));
    return "[" + (name.empty() ? uri : std::string(name)) + "](" + uri + ")";
  }
  const auto* resource = type == "resource" ? json::member(block, "resource") : nullptr;
  return resource ? std::string(text(*resource, "text")) : std::string();
}

json::array tool_content(const json::value* content) {
  return content && content->is_array() ? tool_content(content->get_array()) : json::array{};
}

json::array tool_content(const json::array& content) {
  json::array out;
  for (const auto& item : content) {
    const auto type = text(item, "type");
    if (type == "content") {
      if (const auto* block = json::member(item, "content"))
        add_block(out, *block);
    } else if (type == "terminal" && ahp::scheme_of(text(item, "terminalId")) != "ahp-terminal") {
      out.push_back(ahp::build::text_content("(a terminal of the agent's own)"));
    } else if (type == "terminal") {
      out.push_back(json::object{{"type", "terminal"},
                                 {"resource", text(item, "terminalId")},
                                 {"title", "Terminal"},
                                 {"isPty", false}});
    } else if (type == "diff") {
      add_edits(out, item);
    }
  }
  return out;
}

std::vector<ahp::file_edit> edits_in(const json::array& content) {
  std::vector<ahp::file_edit> out;
  for (const auto& item : content) {
    if (text(item, "type") != "diff")
      continue;
    const auto* changes = json::member(item, "changes");
    if (!changes || !changes->is_array()) {
      out.push_back(edit_of(item));
      continue;
    }
    for (const auto& change : changes->get_array())
      out.push_back(edit_of_draft(change));
  }
  std::erase_if(out, [](const auto& edit) {
    return (edit.before && edit.before->path.empty()) || (edit.after && edit.after->path.empty());
  });
  return out;
}

std::string tool_input(const json::value* raw) {
  if (!raw)
    return {};
  if (const auto* words = raw->if_string())
    return std::string(*words);
  return json::serialize(*raw);
}

std::string plan_text(const json::value* entries) {
  std::string out;
  if (!entries || !entries->is_array())
    return out;
  for (const auto& entry : entries->get_array()) {
    out += text(entry, "status") == "completed" ? "- [x] " : "- [ ] ";
    out += text(entry, "content");
    out += '\n';
  }
  return out;
}

} // namespace ahpd::acp
