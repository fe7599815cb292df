#include "runtimes/docker/manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ahpd::runtimes {

namespace {

constexpr std::size_t most_body = 64u << 10;
constexpr std::size_t most_mounts = 64;
constexpr std::size_t most_name = 63;

refusal refuse(std::string sentence) {
  return {fault::refused, std::move(sentence)};
}

/// A value as a sentence repeats it: text as it is, anything else as JSON, and never long.
std::string said(const json::value& v) {
  constexpr std::size_t most = 200;
  auto out = v.is_string() ? std::string(v.get_string()) : json::serialize(v);
  if (out.size() <= most)
    return out;
  auto cut = most;
  while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xc0U) == 0x80U)
    --cut; // not inside a character
  return out.substr(0, cut) + "…";
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool absolute(std::string_view path) {
  return path.starts_with('/') && std::none_of(path.begin(), path.end(), [](unsigned char c) {
           return c < 0x20 || c == 0x7f;
         });
}

/// A target as Docker compares it: no `.`, no `..`, no doubled and no last slash.
std::string normal(const std::string& path) {
  auto out = std::filesystem::path(path).lexically_normal().string();
  while (out.size() > 1 && out.ends_with('/'))
    out.pop_back();
  return out;
}

/// A mount and how a sentence calls it: "the body's mount /a:/b".
struct named_mount {
  mount what;
  std::string name;
};

using maybe = std::optional<refusal>;

/// Reads a manifest step by step; each step gives the refusal, or nothing.
class manifest_reader {
public:
  manifest_reader(const computer_options& options, const manifest_context& context)
      : options_(options), context_(context) {}

  std::variant<machine_spec, refusal> read(std::string_view text) {
    if (auto no = check_machine_name(context_.name))
      return *no;
    if (auto no = parse(text))
      return *no;
    using step = maybe (manifest_reader::*)();
    for (const step next :
         {&manifest_reader::runtime, &manifest_reader::profile, &manifest_reader::source,
          &manifest_reader::image, &manifest_reader::limits, &manifest_reader::mounts,
          &manifest_reader::folder, &manifest_reader::targets, &manifest_reader::workdir})
      if (auto no = (this->*next)())
        return *no;
    spec_.name = context_.name;
    if (!context_.owner.empty())
      spec_.labels["ahpd.owner"] = context_.owner;
    return std::move(spec_);
  }

private:
  /// The member, or null when it is absent or null.
  const json::value* field(std::string_view key) const { return json::member(body_, key); }

  maybe parse(std::string_view text) {
    if (text.size() > most_body)
      return refuse("A computer's manifest is at most " + std::to_string(most_body) +
                    " bytes, and that body has " + std::to_string(text.size()));
    std::string error;
    auto parsed = json::parse_text(blank(text) ? "{}" : text, 16, error);
    if (!parsed || !parsed->is_object())
      return refuse("A computer is made from a JSON object, and that body is not one");
    body_ = std::move(*parsed);
    return {};
  }

  maybe runtime() {
    const auto* v = field("runtime");
    if (v && *v != json::value("docker"))
      return refuse("This host runs docker, and that body asks for " + said(*v));
    if (const auto* kernel = field("ociRuntime"))
      return refuse("ociRuntime is the operator's to choose in a profile, and that body asks for " +
                    said(*kernel));
    return {};
  }

  maybe profile() {
    if (const auto* v = field("profile"))
      return refuse("This host defines no profiles, and that body asks for " + said(*v));
    return {};
  }

  maybe source() {
    const auto* kind = field("source");
    const bool wants_image = kind && *kind == json::value("image");
    const bool wants_folder = kind && *kind == json::value("devcontainer");
    if (kind && !wants_image && !wants_folder)
      return refuse(R"(source is "image" or "devcontainer", and that body says )" +
                    json::serialize(*kind).substr(0, 200));
    const auto* v = field("devcontainer");
    if (wants_image || (!v && !wants_folder))
      return {};
    const auto* folder = v && v->is_object() ? json::member(*v, "folder") : v;
    const bool text = folder && folder->is_string();
    if (folder && !text)
      return refuse("devcontainer is the path of a folder, and " + said(*folder) + " is not one");
    if (!folder || blank(folder->get_string()))
      return wants_folder
               ? maybe(
                   refuse("source says a dev container, and that body names no folder to read a "
                          "devcontainer.json from"))
               : maybe(); // a form's empty field
    return refuse("This host does not make dev containers yet, so " + said(*folder) +
                  " makes no computer");
  }

  maybe image() {
    const auto* v = field("image");
    if (!v) {
      spec_.image = options_.image;
      return {};
    }
    if (!v->is_string())
      return refuse("image is the name of an image, and " + said(*v) + " is not one");
    const std::string text(v->get_string());
    if (blank(text))
      return refuse("image is the name of an image, and that body's is blank");
    if (text.starts_with('-'))
      return refuse("image is the name of an image, and " + said(*v) + " is a flag");
    std::string error;
    const auto name = docker::read_image(text, error);
    if (!name)
      return refuse("image is the name of an image, and " + said(*v) + " is not one");
    const auto is_default =
      docker::read_image(options_.image, error)->identity() == name->identity();
    const auto allowed =
      options_.images.empty() || is_default ||
      std::any_of(options_.images.begin(), options_.images.end(),
                  [&](const docker::image_scope& scope) { return scope.allows(*name); });
    if (!allowed) {
      std::string list = options_.image;
      for (const auto& scope : options_.images)
        list += ", " + scope.text();
      return refuse("This host does not run " + said(*v) + "; it runs " + list);
    }
    spec_.image = text;
    return {};
  }

  maybe limits() {
    if (options_.cpus)
      spec_.cpus = options_.cpus->value;
    if (options_.memory)
      spec_.memory = options_.memory->value;
    if (const auto* v = field("cpus")) {
      spec_.cpus = read_cpus(amount(*v));
      if (!spec_.cpus)
        return refuse("cpus is a number, and " + said(*v) + " is not one");
    }
    if (const auto* v = field("memory")) {
      spec_.memory = read_memory(amount(*v));
      if (!spec_.memory)
        return refuse("memory is a size such as 512m or 2g, and " + said(*v) + " is not one");
    }
    return {};
  }

  /// A limit's text; forms write text, people numbers too.
  static std::string amount(const json::value& v) {
    return v.is_string() ? std::string(v.get_string()) : v.is_number() ? json::serialize(v) : "";
  }

  maybe mounts() {
    for (const auto& text : options_.mounts)
      if (auto no = add_mount("the plugin's mount " + text, text))
        return no;
    const auto* v = field("mounts");
    if (!v || (v->is_array() && v->get_array().empty()))
      return {};
    if (!options_.body_mounts)
      return refuse(
        "This host takes its mounts from its configuration, and that body names its own");
    if (!v->is_array())
      return refuse(R"(mounts are "source:target" or "source:target:ro", and )" + said(*v) +
                    " is neither");
    if (v->get_array().size() > most_mounts)
      return refuse("mounts has at most " + std::to_string(most_mounts) +
                    " entries, and that body's has " + std::to_string(v->get_array().size()));
    for (const auto& item : v->get_array()) {
      const auto text = item.is_string() ? std::string(item.get_string()) : std::string();
      if (!read_mount(text))
        return refuse(R"(mounts are "source:target" or "source:target:ro", and )" + said(item) +
                      " is neither");
      if (auto no = add_mount("the body's mount " + text, text))
        return no;
    }
    return {};
  }

  maybe add_mount(std::string name, const std::string& text) {
    auto what = *read_mount(text);
    if (!absolute(what.source))
      return refuse(name + " names " + what.source +
                    ", which is not an absolute path on this host");
    if (!absolute(what.target))
      return refuse(name + " lands at " + what.target +
                    ", which is not an absolute path in the machine");
    if (!context_.path_exists(what.source))
      return refuse(name + " names " + what.source + ", and that path is not there");
    all_.push_back({std::move(what), std::move(name)});
    return {};
  }

  maybe folder() {
    const auto* v = field("folder");
    if (!v || (v->is_string() && v->get_string().empty()))
      return {};
    if (!options_.body_mounts)
      return refuse(
        "This host takes its folders from its configuration, and that body names its own");
    if (!v->is_string() || !absolute(v->get_string()))
      return refuse("folder names " + said(*v) + ", which is not an absolute path on this host");
    folder_ = v->get_string();
    if (!context_.path_exists(folder_))
      return refuse("folder names " + said(*v) + ", and that path is not there");
    all_.push_back({{folder_, folder_, false}, "the folder " + folder_});
    return {};
  }

  /// One of two mounts at one target would silently lose; one statement made twice is one mount.
  maybe targets() {
    for (auto& next : all_) {
      next.what.target = normal(next.what.target);
      if (next.what.target == "/")
        return refuse(next.name + " lands at /, which is the machine's own root");
      const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const named_mount& m) {
        return m.what.target == next.what.target;
      });
      if (same == kept_.end()) {
        kept_.push_back(next);
        spec_.mounts.push_back(next.what);
      } else if (same->what != next.what) {
        return refuse(same->name + " and " + next.name + " both land at " + next.what.target);
      }
    }
    return {};
  }

  maybe workdir() {
    const auto* v = field("workdir");
    if (!v || (v->is_string() && v->get_string().empty())) {
      spec_.workdir = folder_;
      return {};
    }
    if (!v->is_string() || !absolute(v->get_string()))
      return refuse("workdir is an absolute path in the machine, and " + said(*v) + " is not one");
    spec_.workdir = v->get_string();
    return {};
  }

  const computer_options& options_;
  const manifest_context& context_;
  json::value body_;
  machine_spec spec_;
  std::vector<named_mount> all_;
  std::vector<named_mount> kept_;
  std::string folder_;
};

} // namespace

std::optional<refusal> check_machine_name(std::string_view name) {
  constexpr std::string_view letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const auto shown = said(json::value(json::string(name)));
  if (name.find('.') != name.npos)
    return refuse(shown + " is not a name for a machine on this host: a dot in it reads as another "
                          "runtime's, and these machines are addressed by their name alone");
  const auto strange = name.find_first_not_of(std::string(letters) + "_-");
  if (name.size() < 2 || name.size() > most_name || strange != name.npos || name.front() == '_' ||
      name.front() == '-')
    return refuse((name.empty() ? "An empty name" : shown) +
                  " is not a name for a machine: it takes 2 to 63 letters, digits, _ and -, and "
                  "starts with a letter or a digit");
  return {};
}

std::variant<machine_spec, refusal> read_manifest(const computer_options& options,
                                                  const manifest_context& context,
                                                  std::string_view body) {
  return manifest_reader(options, context).read(body);
}

bool path_is_there(const std::string& path) {
  std::error_code ec;
  return std::filesystem::exists(path, ec);
}

} // namespace ahpd::runtimes
