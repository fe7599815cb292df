#pragma once

#include <boost/asio/io_context.hpp>

#include <memory>

namespace ahpd::transport {

struct anchorage;

/// Something that owns Asio objects and may outlive its io_context. When the io_context is
/// destroyed, `abandon` is called once, so that the Asio objects go before the services they point
/// into.
class anchored {
public:
  explicit anchored(boost::asio::io_context& io);
  virtual ~anchored();
  anchored(const anchored&) = delete;
  anchored& operator=(const anchored&) = delete;

protected:
  /// Drops every Asio object and every callback. No thread runs the io_context any more.
  virtual void abandon() noexcept = 0;

private:
  friend struct anchorage;

  std::shared_ptr<anchorage> where_;
  anchored* before_ = nullptr;
  anchored* after_ = nullptr;
  bool linked_ = false;
};

} // namespace ahpd::transport
