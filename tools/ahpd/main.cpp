#include "tools/ahpd/serve.hpp"
#include "tools/ahpd/client/client.hpp"
#include <iostream>
int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && (args[0] == "run" || args[0] == "session" || args[0] == "computer"))
    return ahpd::client::client_main(args[0], {args.begin() + 1, args.end()});
  auto o = ahpd::config::read_options(args, ahpd::config::real_surroundings());
  if (auto* r = std::get_if<1>(&o)) { std::cerr << r->sentence << "\n"; return r->exit_code; }
  return ahpd::run_hub(std::get<0>(o), [](const std::string& a) { std::cout << a << std::flush; });
}
