#include "tools/ahpd/secrets.hpp"

#include <cstring>
#include <string_view>

namespace ahpd::cli {

namespace {

constexpr std::string_view run_token = "--connection-token";

bool takes_secret(std::string_view name) {
  return name == run_token || name == "--token";
}

} // namespace

std::vector<std::string> take_words(int argc, char** argv) {
  std::vector<std::string> out;
  for (int i = 1; i < argc; ++i)
    out.emplace_back(argv[i]);
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto equals = word.find('=');
    if (!takes_secret(word.substr(0, equals)))
      continue;
    if (equals != std::string_view::npos)
      std::memset(argv[i] + equals + 1, 0, word.size() - equals - 1);
    else if (i + 1 < argc)
      std::memset(argv[i + 1], 0, std::strlen(argv[i + 1]));
  }
  return out;
}

split_flags split_token(const std::vector<std::string>& flags) {
  split_flags out;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& word = flags[i];
    if (word == run_token && i + 1 < flags.size()) {
      out.token = flags[++i];
      out.typed = true;
    } else if (word.rfind(std::string(run_token) + '=', 0) == 0) {
      out.token = word.substr(run_token.size() + 1);
      out.typed = true;
    } else {
      out.flags.push_back(word);
    }
  }
  return out;
}

std::vector<std::string> with_token(std::vector<std::string> flags, const std::string& token) {
  flags.push_back(std::string(run_token) + '=' + token);
  return flags;
}

} // namespace ahpd::cli
