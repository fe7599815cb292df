#pragma once

#include "protocol/json.hpp"
#include "tests/support/support.hpp"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ahpd::tests {

/// As much of a Docker Engine as making a machine from an image that has to be pulled needs. The
/// test says what a pull says and when.
class fake_engine {
public:
  explicit fake_engine(std::string api = "1.41");
  ~fake_engine();
  fake_engine(const fake_engine&) = delete;
  fake_engine& operator=(const fake_engine&) = delete;

  std::string address() const { return "unix://" + path(); } ///< for DOCKER_HOST

  /// Waits until somebody pulls, then says one line of its report.
  void say(const json::object& line);
  /// Ends the pull's report. With `there` the image is there from now on.
  void end_pull(bool there);

  std::vector<std::string> seen() const; ///< "METHOD /path" of every request, without the version

private:
  struct request {
    std::string method;
    std::string path; ///< without the version and the query
    std::string body;
  };
  std::string path() const { return folder_.path() + "/engine.sock"; }
  void accept_all();
  void serve(int fd);
  bool answer(int fd, const request& what);
  int wait_puller();

  const std::string api_;
  scratch folder_;
  int listener_ = -1;
  std::thread accepting_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::vector<std::thread> serving_;
  std::set<int> open_;
  int puller_ = -1;
  bool has_image_ = false;
  std::map<std::string, json::value> containers_; ///< by id
  std::vector<std::string> seen_;
};

} // namespace ahpd::tests
