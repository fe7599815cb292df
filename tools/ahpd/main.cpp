#include "tools/ahpd/cli.hpp"
#include "tools/ahpd/secrets.hpp"

#include <csignal>

int main(int argc, char** argv) {
  const auto words = ahpd::cli::take_words(argc, argv);
  // A peer or a reader that is gone is an error of the write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  return ahpd::cli::run(words);
}
