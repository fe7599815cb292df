#include "protocol/docker/auth.hpp"
#include "protocol/docker/image.hpp"
#include "protocol/docker/text.hpp"
#include "protocol/json.hpp"

#include <doctest/doctest.h>

using namespace ahpd;
using namespace ahpd::docker;

namespace {

image_name image(std::string_view text) {
  std::string error;
  const auto out = read_image(text, error);
  REQUIRE_MESSAGE(out, error);
  return *out;
}

bool allows(std::string_view scope, std::string_view name) {
  std::string error;
  const auto read = image_scope::read(scope, error);
  REQUIRE_MESSAGE(read, error);
  return read->allows(image(name));
}

std::string decoded(const sign_in& found) {
  REQUIRE(found.refused.empty());
  const auto out = decode_base64(found.header);
  REQUIRE(out);
  return *out;
}

} // namespace

TEST_CASE("the four spellings of one Hub image are one image") {
  for (const auto* text : {"node:22", "library/node:22", "docker.io/library/node:22",
                           "index.docker.io/library/node:22", "docker.io/node:22",
                           "registry-1.docker.io/library/node:22"})
    CHECK(image(text).identity() == "docker.io/library/node:22");
  CHECK(image("node").identity() == "docker.io/library/node:latest");
}

TEST_CASE("a registry is a first part with a dot, a colon, or localhost") {
  CHECK(image("ghcr.io/acme/x").identity() == "ghcr.io/acme/x:latest");
  CHECK(image("localhost:5000/x:1").identity() == "localhost:5000/x:1");
  CHECK(image("localhost/x").registry == "localhost");
  CHECK(image("acme/x").identity() == "docker.io/acme/x:latest");
}

TEST_CASE("a digest names the image and no tag is made up") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  CHECK(image("node@" + digest).identity() == "docker.io/library/node@" + digest);
  CHECK(image("node@" + digest).tag.empty());
  CHECK(image("node:22@" + digest).identity() == "docker.io/library/node@" + digest);
}

TEST_CASE("what is no image's name is refused with it") {
  for (const auto* text :
       {"", "-x", "Node", "a//b", "a/", "/a", "node:", "node:a b", "node@sha256:1", "a..b/c",
        "ghcr.io/", "x_-y", "a.b:port/c", "../x", "node:22:23"}) {
    std::string error;
    CHECK_FALSE_MESSAGE(read_image(text, error), text);
    CHECK(error.rfind(text, 0) == 0);
    CHECK(error.size() > std::string_view(text).size());
  }
}

TEST_CASE("scopes match whole names and never prefixes") {
  CHECK(allows("docker.io/library/node:22", "node:22"));
  CHECK_FALSE(allows("docker.io/library/node:22", "node:23"));
  CHECK_FALSE(allows("docker.io/library/node:22", "node"));
  CHECK(allows("docker.io/library/node", "node:23"));
  CHECK(allows("docker.io/library/node", "node@sha256:" + std::string(64, 'a')));
  CHECK_FALSE(allows("docker.io/library/node", "nodejs/node"));
  CHECK_FALSE(allows("docker.io/library/node", "node-evil/x"));
  CHECK(allows("ghcr.io/acme", "ghcr.io/acme/a/b:1"));
  CHECK_FALSE(allows("ghcr.io/acme", "ghcr.io/acme-evil/x"));
  CHECK(allows("ghcr.io", "ghcr.io/x/y"));
  CHECK_FALSE(allows("ghcr.io", "x/y"));
  CHECK(allows("docker.io", "x/y"));
  CHECK(allows("docker.io/library", "node"));
  CHECK(allows("localhost:5000", "localhost:5000/x"));
}

TEST_CASE("a domain scope takes any registry below it, on any port, and not the domain itself") {
  CHECK(allows("*.example.com", "r.example.com/x"));
  CHECK(allows("*.example.com", "a.b.example.com:5000/x"));
  CHECK_FALSE(allows("*.example.com", "example.com/x"));
  CHECK_FALSE(allows("*.example.com", "rexample.com/x"));
}

TEST_CASE("a tag beside a digest does not pass for the tagged image") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  CHECK_FALSE(allows("docker.io/library/node:22", "node:22@" + digest));
  CHECK(allows("docker.io/library/node@" + digest, "node:22@" + digest));
}

TEST_CASE("a scope in another form is refused when it is read") {
  for (const auto* text : {"node:22", "node", "docker.io/node", "docker.io/node:22",
                           "ghcr.io/acme/**", "*", "*.", "*.a:5", "index.docker.io/library/node",
                           "library/node", "", "ghcr.io/Acme", "ghcr.io/", "https://ghcr.io"}) {
    std::string error;
    CHECK_FALSE_MESSAGE(image_scope::read(text, error), text);
    CHECK_FALSE(error.empty());
  }
}

TEST_CASE("a scope knows whether it names one image") {
  std::string error;
  CHECK(image_scope::read("docker.io/library/node:22", error)->one_image());
  CHECK(image_scope::read("localhost:5000/x@sha256:" + std::string(64, 'a'), error)->one_image());
  CHECK_FALSE(image_scope::read("localhost:5000/x", error)->one_image());
  CHECK_FALSE(image_scope::read("*.example.com", error)->one_image());
}

TEST_CASE("a sign-in is found under each spelling of its registry") {
  const std::string auth = encode_base64("ada:s3cret:x", base64_alphabet::standard);
  const auto file =
    R"({"auths":{"https://index.docker.io/v1/":{"auth":")" + auth +
    R"("},"https://ghcr.io/v2/":{"username":"bob","password":"p"},"quay.io":{"identitytoken":"t"}}})";
  CHECK(
    decoded(find_sign_in(file, "docker.io")) ==
    R"({"username":"ada","password":"s3cret:x","serveraddress":"https://index.docker.io/v1/"})");
  CHECK(decoded(find_sign_in(file, "ghcr.io")) ==
        R"({"username":"bob","password":"p","serveraddress":"ghcr.io"})");
  CHECK(decoded(find_sign_in(file, "quay.io")) ==
        R"({"identitytoken":"t","serveraddress":"quay.io"})");
  CHECK(find_sign_in(file, "example.com").header.empty());
  CHECK(find_sign_in(file, "example.com").refused.empty());
}

TEST_CASE("what only a credential helper knows is said in one sentence") {
  const auto file =
    R"({"auths":{"ghcr.io":{}},"credsStore":"pass","credHelpers":{"gcr.io":"gcloud"}})";
  CHECK(
    find_sign_in(file, "gcr.io").refused ==
    "The Docker configuration leaves the sign-in to gcr.io to docker-credential-gcloud, and this "
    "host asks no credential helper yet; keep it under auths instead");
  CHECK(find_sign_in(file, "ghcr.io").refused.find("docker-credential-pass") != std::string::npos);
  CHECK(find_sign_in(file, "docker.io").refused.empty()); // nobody signed in there
}

TEST_CASE("a damaged sign-in is refused without repeating it") {
  const auto bad = find_sign_in(R"({"auths":{"ghcr.io":{"auth":"c2VjcmV0"}}})", "ghcr.io");
  CHECK(bad.header.empty());
  CHECK(bad.refused.find("auths[\"ghcr.io\"].auth") != std::string::npos);
  CHECK(bad.refused.find("secret") == std::string::npos);
  CHECK(bad.refused.find("c2VjcmV0") == std::string::npos);
  CHECK_FALSE(find_sign_in("[]", "ghcr.io").refused.empty());
  CHECK_FALSE(find_sign_in("{", "ghcr.io").refused.empty());
}
