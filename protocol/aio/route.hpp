#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

/// What aiod serves, as data: the router, the checks of what comes in and the OpenAPI documents are
/// all made from it.
namespace ahpd::aio {

/// The type of a member. Those in the plural are arrays; `by_name` is an object whose members are
/// of that kind.
enum class type : std::uint8_t {
  text,
  integer,
  number,
  flag,
  texts,
  integers,
  text_by_name,
  object, ///< its members are in `field::of`
  objects,
  object_by_name,
  any,
};

/// A member of a query, a body or an answer.
struct field {
  std::string_view name;
  type is = type::text;
  std::string_view about;
  bool required = false; ///< an optional one may also be null in a body
  bool nullable = false; ///< of an answer: always there, and null when there is nothing to say
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::string_view choices = {};  ///< of a text, separated by "|"; empty: any
  std::string_view fallback = {}; ///< what an absent one counts as, as JSON; empty: nothing
  std::span<const field> of = {};

  constexpr field between(double low, double high) const {
    field out = *this;
    out.least = low;
    out.most = high;
    return out;
  }
  constexpr field at_least(double low) const {
    return between(low, std::numeric_limits<double>::infinity());
  }
  constexpr field one_of(std::string_view words) const {
    field out = *this;
    out.choices = words;
    return out;
  }
  constexpr field otherwise(std::string_view json) const {
    field out = *this;
    out.fallback = json;
    return out;
  }
  constexpr field holding(std::span<const field> members) const {
    field out = *this;
    out.of = members;
    return out;
  }
  constexpr field or_null() const {
    field out = *this;
    out.nullable = true;
    return out;
  }
};

/// One that must be given, or that an answer always has.
constexpr field need(std::string_view name, type is, std::string_view about) {
  return {name, is, about, true};
}
/// One that may be left out.
constexpr field may(std::string_view name, type is, std::string_view about) {
  return {name, is, about, false};
}

/// What a request carries behind its header.
enum class takes : std::uint8_t {
  nothing,
  json,
  multipart, ///< streamed; its JSON-like parts are described by `route::body`
  tar,       ///< streamed
};

/// What an answer of status 200 is.
enum class gives : std::uint8_t {
  object,    ///< in the envelope, `data` with the members of `route::data`
  list,      ///< in the envelope, `data` an array of such objects
  text,      ///< in the envelope, `data` a text
  empty,     ///< in the envelope, `data` null or an empty object
  bare,      ///< an object with the members of `route::data`, without an envelope
  plain,     ///< text/plain
  bytes,     ///< application/octet-stream
  tar,       ///< application/x-tar
  events,    ///< text/event-stream
  document,  ///< an OpenAPI document
  nothing,   ///< no body at all
  websocket, ///< 101
};

/// Whether `path` also answers without a key.
enum class access : std::uint8_t { keyed, open };

struct route {
  std::string_view method;
  std::string_view path; ///< `{name}` stands for one segment
  std::string_view operation;
  std::string_view tag;
  std::string_view summary;
  std::span<const field> query = {};
  takes in = takes::nothing;
  std::span<const field> body = {};
  gives out = gives::empty;
  std::span<const field> data = {};
  access who = access::keyed;
  std::string_view also_gives = {}; ///< another content type that it gives when asked for it
  bool tells_faults = false; ///< a file operation that was not done is an answer of status 200, too
};

} // namespace ahpd::aio
