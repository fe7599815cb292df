#include "protocol/transport/client.hpp"

#include "protocol/transport/exchange.hpp"

namespace ahpd::transport {

namespace {

/// What callers hold: dropping it cancels.
class exchange_handle final : public exchange {
public:
  explicit exchange_handle(std::shared_ptr<http_exchange> it) : it_(std::move(it)) {}
  ~exchange_handle() override { it_->cancel(); }
  void cancel() override { it_->cancel(); }

private:
  std::shared_ptr<http_exchange> it_;
};

class pooled_client final : public http_client {
public:
  explicit pooled_client(std::shared_ptr<connection_pool> pool) : pool_(std::move(pool)) {}
  ~pooled_client() override { pool_->close(); }

  std::shared_ptr<exchange> send(http_request what, request_options how,
                                 std::function<void(http_result)> done) override {
    return start(std::move(what), how, {std::move(done), {}, {}, {}});
  }

  std::shared_ptr<exchange> stream(http_request what, request_options how,
                                   std::function<void(http_response)> refused,
                                   stream_events events) override {
    return start(std::move(what), how, {{}, std::move(events), {}, std::move(refused)});
  }

  std::shared_ptr<exchange>
  hijack(http_request what, std::function<stream_events(std::shared_ptr<byte_stream>)> opened,
         std::function<void(http_response)> refused) override {
    what.headers.emplace("Connection", "Upgrade");
    what.headers.emplace("Upgrade", "tcp");
    return start(std::move(what), {}, {{}, {}, std::move(opened), std::move(refused)});
  }

private:
  std::shared_ptr<exchange> start(http_request what, request_options how, answer_use use) {
    auto it = std::make_shared<http_exchange>(pool_, std::move(what), how, std::move(use));
    it->start();
    return std::make_shared<exchange_handle>(std::move(it));
  }

  std::shared_ptr<connection_pool> pool_;
};

} // namespace

std::shared_ptr<http_client> make_http_client(boost::asio::io_context& io, target where,
                                              std::size_t idle_connections) {
  return std::make_shared<pooled_client>(
    std::make_shared<connection_pool>(io, std::move(where), idle_connections));
}

} // namespace ahpd::transport
