#include "actors/hub/completions.hpp"

#include "actors/hub/chat.hpp"
#include "actors/hub/pool_work.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"
#include "protocol/utf8.hpp"
#include "runtimes/host/file_search.hpp"

#include <caf/all.hpp>

namespace ahpd::hub {

namespace {

/// The word that is being typed: from its trigger to the cursor, in UTF-16 code units.
struct typed {
  std::string query; ///< behind the trigger
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

std::optional<typed> word_before(std::string_view text, std::size_t cursor, std::uint64_t offset) {
  const auto before = text.substr(0, cursor);
  const auto space = before.find_last_of(" \t\r\n");
  const auto start = space == std::string_view::npos ? 0 : space + 1;
  const auto word = before.substr(start);
  if (word.substr(0, completion_trigger.size()) != completion_trigger)
    return std::nullopt;
  return typed{std::string(word.substr(completion_trigger.size())),
               utf8::utf16_size(before.substr(0, start)), offset};
}

json::object item_of(const runtimes::found_file& file, const std::string& folder,
                     const typed& word) {
  return {{"insertText", std::string(completion_trigger) + file.name},
          {"rangeStart", word.start},
          {"rangeEnd", word.end},
          {"attachment",
           {{"type", "resource"},
            {"label", file.name},
            {"uri", ahp::file_uri(folder + (folder == "/" ? "" : "/") + file.name)},
            {"displayKind", file.is_folder ? "directory" : "document"}}}};
}

pool_answer items(const runtimes::served_folders& in, const std::string& folder,
                  const typed& word) {
  json::array out;
  for (const auto& file : runtimes::search_files(in, folder, word.query))
    if (utf8::valid(file.name)) // others cannot be typed
      out.push_back(item_of(file, folder, word));
  return json::serialize(json::object{{"items", std::move(out)}});
}

} // namespace

void complete_message(const call& c) {
  jsonrpc::params in(c.params);
  const auto uri = in.text("channel");
  const auto kind = in.text("kind");
  const auto text = in.text_if("text").value_or("");
  const auto offset = in.count_if("offset").value_or(0);
  std::string problem = in.problem();
  if (problem.empty() && kind != "userMessage")
    problem = "kind must be userMessage";
  const auto cursor = utf8::at_utf16(text, offset);
  if (problem.empty() && !cursor)
    problem = "offset must be a place in text, in UTF-16 code units";
  if (!problem.empty())
    return c.refuse(jsonrpc::invalid_params, problem);
  const auto word = word_before(text, *cursor, offset);
  with_owner(
    c.self, uri,
    [c, word](const caf::actor& owner, const std::string& ours) {
      if (ahp::scheme_of(ours) != "ahp-chat")
        return c.refuse(jsonrpc::invalid_params, "channel must be a chat's URI");
      c.self->request(owner, caf::infinite, ask_place{})
        .then(
          [c, word](const session_place& where) {
            // The files of a machine are not this host's to list.
            const auto files = c.self->state.host->files;
            if (!word || !files || !where.machine.empty())
              return c.answer({{"items", json::array{}}});
            answer_from_pool(c, [files, word, folder = where.directory](const json::object&) {
              return items(*files, folder, *word);
            });
          },
          [c](const caf::error& why) { c.refuse(why); });
    },
    [c](const caf::error& why) { c.refuse(why); });
}

} // namespace ahpd::hub
