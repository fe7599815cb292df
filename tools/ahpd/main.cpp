#include "tools/ahpd/client/client.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && ahpd::client::is_client_verb(words[0]))
    return ahpd::client::client_main(words[0], {words.begin() + 1, words.end()});
  return 0;
}
