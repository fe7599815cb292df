#include "tools/ahpd/cli.hpp"
#include "tools/ahpd/secrets.hpp"

#include <csignal>

#include <malloc.h>

int main(int argc, char** argv) {
  const auto words = ahpd::cli::take_words(argc, argv);
  // One heap for the thread of the actors and one for those beside it: by default each of those
  // keeps one of its own, and what a burst left in them.
  ::mallopt(M_ARENA_MAX, 2);
  // A peer or a reader that is gone is an error of the write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  return ahpd::cli::run(words);
}
