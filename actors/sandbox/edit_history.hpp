#pragma once

#include <array>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace ahpd::sandbox {

/// What the last edits of each file replaced, in memory and bounded: the oldest go first. Any
/// thread. Files go by a key that is the same whoever spells their path.
class edit_history {
public:
  struct bounds {
    std::size_t edits = 1000; ///< of all files
    std::size_t bytes = 64u << 20;
  };

  edit_history() : edit_history(bounds{}) {}
  explicit edit_history(bounds most) : most_(most) {}

  /// What a file held; nothing: there was none.
  using content = std::optional<std::string>;

  /// Held while a file is edited: who edits the same one waits.
  std::unique_lock<std::mutex> editing(const std::string& key);

  void add(const std::string& key, content before);

  /// What the newest edit of a file replaced; none when none is known. It stays known.
  std::optional<content> newest(const std::string& key) const;
  void drop_newest(const std::string& key);

private:
  struct step {
    std::string key;
    content before;
  };
  using steps = std::list<step>; ///< the oldest first

  void forget(steps::iterator what);
  std::size_t size_of(const step& what) const;

  const bounds most_;
  mutable std::mutex guard_;
  steps steps_;
  std::map<std::string, std::deque<steps::iterator>> by_key_;
  std::size_t bytes_ = 0;
  std::array<std::mutex, 64> files_;
};

} // namespace ahpd::sandbox
