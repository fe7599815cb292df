#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Names of images, and the scopes an operator allows them by.
namespace ahpd::docker {

/// The parts of an image's name, fully expanded: `node` is docker.io/library/node:latest.
struct image_name {
  std::string registry; ///< "docker.io", "localhost:5000"
  std::string path;     ///< "library/node"
  std::string tag; ///< "latest" where neither tag nor digest was named; empty with a digest alone
  std::string digest; ///< "sha256:…", or empty

  std::string repository() const { return registry + "/" + path; }
  /// Repository with the tag, or with the digest where one was named.
  std::string identity() const;
};

/// Nothing, and why in `error`, for what is no image's name.
std::optional<image_name> read_image(std::string_view text, std::string& error);

/// What an operator allows, spelt as the scopes of containers-policy.json's `docker:` transport: an
/// image, a repository, a namespace, a registry, or `*.domain`. Whole names, never string prefixes.
class image_scope {
public:
  /// Nothing, and why in `error`, for a scope that is not in its expanded form and so matches
  /// nothing.
  static std::optional<image_scope> read(std::string_view text, std::string& error);

  bool allows(const image_name& image) const;

  /// Whether it names one image and not a family of them.
  bool one_image() const { return one_image_; }
  const std::string& text() const { return text_; }

private:
  std::string text_;
  bool one_image_ = false;
};

} // namespace ahpd::docker
