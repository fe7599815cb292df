#pragma once

#include <optional>
#include <string>

/// What tests share: where things are, and how a test says that it cannot run here.
namespace ahpd::tests {

/// The folder of public schemas and cases (AHPD_SHARED, else ../shared beside the project), or nothing.
std::optional<std::string> shared_folder();

/// A missing component: fails the running test when CI=1, else prints its name and the reason.
/// Use as `if (!thing) return skip("a Docker Engine");`.
void skip(const std::string& missing);

/// Whole text of a file; fails the test when it cannot be read.
std::string read_file(const std::string& path);

/// A fresh folder under the system's temporary one, removed with all its content at the end.
class scratch {
public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace ahpd::tests
