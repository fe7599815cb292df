#include "protocol/docker/auth.hpp"

#include "protocol/docker/text.hpp"
#include "protocol/json.hpp"

namespace ahpd::docker {

namespace {

/// The key under which `docker login` keeps Docker Hub.
constexpr std::string_view hub_key = "https://index.docker.io/v1/";

/// A key of the file as the registry it is for: without a scheme and without a path.
std::string_view registry_of(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (key.starts_with(scheme))
      key.remove_prefix(scheme.size());
  key = key.substr(0, key.find('/'));
  return key == "index.docker.io" || key == "registry-1.docker.io" ? "docker.io" : key;
}

/// The entry for `registry`, or null. The key written in full goes before one with a scheme or a
/// path.
const json::value* entry_for(const json::value* entries, std::string_view registry) {
  if (!entries || !entries->is_object())
    return nullptr;
  const auto& all = entries->get_object();
  if (const auto* exact = all.if_contains(registry == "docker.io" ? hub_key : registry))
    return exact;
  for (const auto& entry : all)
    if (registry_of(entry.key()) == registry)
      return &entry.value();
  return nullptr;
}

std::string header_for(const json::object& credentials) {
  return encode_base64(json::serialize(credentials), base64_alphabet::url);
}

std::string helper_refusal(std::string_view registry, std::string_view helper) {
  return "The Docker configuration leaves the sign-in to " + std::string(registry) +
         " to docker-credential-" + std::string(helper) +
         ", and this host asks no credential helper yet; keep it under auths instead";
}

} // namespace

sign_in find_sign_in(std::string_view config, std::string_view registry) {
  std::string error;
  const auto parsed = json::parse_text(config, 16, error);
  if (!parsed || !parsed->is_object())
    return {{}, "The Docker configuration is not a JSON object, so its sign-ins cannot be read"};
  const std::string server(registry == "docker.io" ? hub_key : registry);

  if (const auto* helper = entry_for(json::member(*parsed, "credHelpers"), registry);
      helper && helper->is_string())
    return {{}, helper_refusal(registry, helper->get_string())};

  const auto* entry = entry_for(json::member(*parsed, "auths"), registry);
  if (!entry)
    return {};
  if (const auto token = json::string_member(*entry, "identitytoken"); token && !token->empty())
    return {header_for({{"identitytoken", *token}, {"serveraddress", server}}), {}};
  auto user = std::string(json::string_member(*entry, "username").value_or(""));
  auto password = std::string(json::string_member(*entry, "password").value_or(""));
  if (const auto packed = json::string_member(*entry, "auth"); packed && !packed->empty()) {
    const auto both = decode_base64(*packed);
    const auto colon = both ? both->find(':') : std::string::npos;
    if (colon == std::string::npos)
      return {{},
              "auths[\"" + server +
                "\"].auth in the Docker configuration is not a name and a password in base64"};
    user = both->substr(0, colon);
    password = both->substr(colon + 1);
  }
  if (!user.empty())
    return {header_for({{"username", user}, {"password", password}, {"serveraddress", server}}),
            {}};
  // `docker login` leaves an empty entry behind when it gave the secret to its store.
  if (const auto store = json::string_member(*parsed, "credsStore"); store && !store->empty())
    return {{}, helper_refusal(registry, *store)};
  return {};
}

} // namespace ahpd::docker
