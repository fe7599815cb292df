#include "protocol/docker/image.hpp"

#include <algorithm>

namespace ahpd::docker {

namespace {

constexpr std::size_t most_name = 255;
constexpr std::size_t most_tag = 128;
constexpr std::string_view hub = "docker.io";

bool small(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool letter_or_digit(char c) {
  return small(c) || (c >= 'A' && c <= 'Z');
}

/// One component of a path: small letters and digits, single separators between them.
bool component(std::string_view text) {
  if (text.empty() || !small(text.front()) || !small(text.back()))
    return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (small(text[i]))
      continue;
    const auto end = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), small);
    const auto run = text.substr(i, static_cast<std::size_t>(end - text.begin()) - i);
    const bool dashes = run.find_first_not_of('-') == std::string_view::npos;
    if (!dashes && run != "." && run != "_" && run != "__")
      return false;
    i += run.size();
  }
  return true;
}

bool components(std::string_view path) {
  while (true) {
    const auto slash = path.find('/');
    if (!component(path.substr(0, slash)))
      return false;
    if (slash == std::string_view::npos)
      return true;
    path.remove_prefix(slash + 1);
  }
}

bool host_with_port(std::string_view text) {
  const auto colon = text.find(':');
  const auto host = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    const auto port = text.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != port.npos)
      return false;
  }
  return !host.empty() && letter_or_digit(host.front()) && letter_or_digit(host.back()) &&
         host.find("..") == host.npos && std::all_of(host.begin(), host.end(), [](char c) {
           return letter_or_digit(c) || c == '.' || c == '-';
         });
}

bool tag_text(std::string_view text) {
  return !text.empty() && text.size() <= most_tag && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return letter_or_digit(c) || c == '_' || c == '.' || c == '-'; });
}

bool digest_text(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0)
    return false;
  const auto hex = text.substr(colon + 1);
  return hex.size() >= 32 && hex.size() <= 256 &&
         hex.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
           return letter_or_digit(c) || c == '+' || c == '.' || c == '_' || c == '-';
         });
}

/// Whether the first part of a name is a registry and not a part of a path.
bool names_registry(std::string_view first) {
  return first == "localhost" || first.find_first_of(".:") != std::string_view::npos;
}

bool under(std::string_view name, std::string_view above) {
  return name == above ||
         (name.size() > above.size() && name.starts_with(above) && name[above.size()] == '/');
}

} // namespace

std::string image_name::identity() const {
  return digest.empty() ? repository() + ":" + tag : repository() + "@" + digest;
}

std::optional<image_name> read_image(std::string_view text, std::string& error) {
  const std::string all(text);
  image_name out;
  if (const auto at = text.find('@'); at != std::string_view::npos) {
    out.digest = text.substr(at + 1);
    if (!digest_text(out.digest)) {
      error = all + " ends in no digest";
      return std::nullopt;
    }
    text = text.substr(0, at);
  }
  const auto slash = text.rfind('/');
  const auto colon = text.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    out.tag = text.substr(colon + 1);
    if (!tag_text(out.tag)) {
      error = all + " ends in no tag";
      return std::nullopt;
    }
    text = text.substr(0, colon);
  }
  if (out.tag.empty() && out.digest.empty())
    out.tag = "latest";

  const auto first = text.substr(0, text.find('/'));
  if (first.size() < text.size() && names_registry(first)) {
    out.registry = first == "index.docker.io" || first == "registry-1.docker.io" ? hub : first;
    text.remove_prefix(first.size() + 1);
  } else {
    out.registry = hub;
  }
  out.path = text;
  if (out.registry == hub && text.find('/') == std::string_view::npos)
    out.path.insert(0, "library/");
  if (!host_with_port(out.registry) || !components(text) || out.repository().size() > most_name) {
    error = all + " is not the name of an image";
    return std::nullopt;
  }
  return out;
}

std::optional<image_scope> image_scope::read(std::string_view text, std::string& error) {
  const auto refuse = [&](std::string_view why) {
    error = std::string(text) + " " + std::string(why);
    return std::nullopt;
  };
  image_scope out;
  out.text_ = text;
  if (text.starts_with("*.")) {
    const auto domain = text.substr(2);
    if (!host_with_port(domain) || domain.find(':') != domain.npos)
      return refuse("is not a domain after \"*.\"");
    return out;
  }
  const auto slash = text.find('/');
  const auto registry = text.substr(0, slash);
  if (!names_registry(registry) || !host_with_port(registry))
    return refuse("does not start with a registry, such as docker.io/library/node");
  if (registry == "index.docker.io" || registry == "registry-1.docker.io")
    return refuse("spells docker.io in another way");
  if (slash == std::string_view::npos) {
    // "node:22" has the shape of a registry and its port, but no such name is one.
    if (registry.find('.') == registry.npos && !registry.starts_with("localhost"))
      return refuse("does not start with a registry, such as docker.io/library/node");
    return out;
  }
  const auto path = text.substr(slash + 1);
  if (registry == hub && path.find('/') == path.npos && path != "library")
    return refuse("is a short form; Docker Hub's own images are docker.io/library/<name>");
  std::string why;
  const auto image = read_image(text, why);
  if (!image)
    return refuse("is neither an image, a repository, a namespace, a registry nor *.<domain>");
  out.one_image_ = path.find_first_of(":@") != path.npos;
  return out;
}

bool image_scope::allows(const image_name& image) const {
  if (text_.starts_with("*.")) {
    const auto host = image.registry.substr(0, image.registry.find(':'));
    return host.ends_with(text_.substr(1));
  }
  if (one_image_)
    return text_ == image.identity(); // a tag beside a digest says nothing of what is run
  return under(image.repository(), text_);
}

} // namespace ahpd::docker
