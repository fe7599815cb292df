#include "protocol/transport/outbox.hpp"
#include "tests/transport/fixture.hpp"

#include <vector>

using namespace ahpd::tests;

namespace {

struct connected : loop {
  raw_listener listener{*this};
  std::shared_ptr<ahpd::transport::pipe> near = std::make_shared<ahpd::transport::pipe>(io);
  std::unique_ptr<raw_peer> far;
  std::shared_ptr<outbox> sut;

  explicit connected(std::size_t limit = 64u << 20) {
    bool done = false;
    near->post([&] {
      near->connect(tcp_target(listener.port()), nullptr, [&](std::string failed) {
        CHECK(failed == "");
        done = true;
      });
    });
    until([&] { return done; }, "the connection");
    far = listener.accept();
    sut = std::make_shared<outbox>(io, near, limit);
  }
  ~connected() { near->close(); }
};

frame shared(std::string it) {
  return std::make_shared<const std::string>(std::move(it));
}

} // namespace

TEST_CASE("a thousand small pieces leave in one write") {
  connected on;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const auto body = shared("message number " + std::to_string(i));
    expected += "h" + *body;
    CHECK(on.sut->put({"h", body, {}}) == outbox::taken::yes);
  }
  CHECK(on.sut->size() == expected.size());
  CHECK(on.far->read_exactly(expected.size()) == expected);
  on.settle();
  CHECK(on.near->writes() == 1);
  CHECK(on.sut->size() == 0);
}

TEST_CASE("large bodies are gathered with their heads and neighbours, in order") {
  connected on;
  std::string expected;
  const auto body = shared(std::string(5000, 'b'));
  for (int i = 0; i < 30; ++i) {
    on.sut->put({"<" + std::to_string(i) + ">", i % 3 == 0 ? body : shared("small"), {}});
    expected += "<" + std::to_string(i) + ">" + (i % 3 == 0 ? *body : "small");
  }
  CHECK(on.far->read_exactly(expected.size()) == expected);
  on.settle();
  CHECK(on.near->writes() == 1);
  CHECK(body.use_count() == 1);
}

TEST_CASE("a peer that reads slowly gets every byte once, whatever the kernel takes at a time") {
  connected on;
  std::string expected;
  for (int i = 0; i < 400; ++i) {
    const std::string body(static_cast<std::size_t>(i * 211), static_cast<char>('a' + i % 26));
    on.sut->put({std::to_string(i), shared(body), {}});
    expected += std::to_string(i) + body;
  }
  on.settle(); // until the kernel takes no more
  CHECK(on.sut->size() > 0);
  CHECK((on.far->read_exactly(expected.size()) == expected));
  on.settle();
  CHECK(on.sut->size() == 0);
}

TEST_CASE(
  "completions come in order, after the bytes; past the limit the queue is freed and sealed") {
  connected on(100);
  std::vector<int> done;
  const auto noting = [&](int which) {
    return [&done, which](ahpd::transport::error_code ec, std::size_t) {
      CHECK(!ec);
      done.push_back(which);
    };
  };
  on.sut->put({"one", nullptr, noting(1)});
  on.sut->put({"", nullptr, noting(2)}); // only a place in the queue
  on.sut->put({"three", nullptr, noting(3)});
  on.until([&] { return done.size() == 3; }, "all completions");
  CHECK(done == std::vector<int>{1, 2, 3});
  CHECK(on.far->read_exactly(8) == "onethree");

  const auto freed = shared(std::string(60, 'x'));
  CHECK(on.sut->put({"", freed, {}}) == outbox::taken::yes);
  CHECK(on.sut->put({"", freed, {}}) == outbox::taken::over);
  CHECK(freed.use_count() == 1);
  CHECK(on.sut->put({"a", nullptr, {}}) == outbox::taken::no);
  CHECK(on.sut->seal({"last", nullptr, {}}));
  CHECK(!on.sut->seal({"more", nullptr, {}}));
  CHECK(on.far->read_exactly(4) == "last");
}

TEST_CASE("a broken pipe fails what waits, once") {
  connected on;
  int failures = 0, completions = 0;
  on.sut->on_failure([&](ahpd::transport::error_code) { ++failures; });
  on.near->close();
  for (int i = 0; i < 3; ++i)
    on.sut->put({"x", nullptr, [&](ahpd::transport::error_code ec, std::size_t) {
                   CHECK(ec);
                   ++completions;
                 }});
  on.until([&] { return failures > 0; }, "the failure");
  on.settle();
  CHECK(failures == 1);
  CHECK(completions == 3);
  CHECK(on.sut->put({"x", nullptr, {}}) == outbox::taken::no);
}
