#include "protocol/aio/tar.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace ahpd::aio {

namespace {

constexpr std::size_t block = 512;
constexpr std::size_t longest_name = 100;
constexpr std::uint64_t most_octal = 077777777777; ///< of an eleven digit field
constexpr std::uint64_t longest_extension = 1u << 20;

// Fields of a header: offset and size.
struct slot {
  std::size_t at;
  std::size_t size;
};
constexpr slot name_slot{0, 100}, mode_slot{100, 8}, uid_slot{108, 8}, gid_slot{116, 8},
  size_slot{124, 12}, time_slot{136, 12}, sum_slot{148, 8}, type_slot{156, 1}, link_slot{157, 100},
  magic_slot{257, 8}, prefix_slot{345, 155};

std::string_view field(std::string_view header, slot where) {
  return header.substr(where.at, where.size);
}

std::string text(std::string_view header, slot where) {
  const auto whole = field(header, where);
  return std::string(whole.substr(0, whole.find('\0')));
}

/// Octal digits, or GNU's big-endian bytes behind a set bit.
std::optional<std::uint64_t> number(std::string_view header, slot where) {
  auto digits = field(header, where);
  if (static_cast<unsigned char>(digits.front()) == 0x80) {
    std::uint64_t out = 0;
    for (const char c : digits.substr(1)) {
      if (out >> 55 != 0)
        return std::nullopt;
      out = out << 8 | static_cast<unsigned char>(c);
    }
    return out;
  }
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find_first_of(std::string_view("\0 ", 2)));
  std::uint64_t out = 0;
  const auto end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, out, 8);
  return digits.empty() || (read.ec == std::errc() && read.ptr == end) ? std::optional(out)
                                                                       : std::nullopt;
}

/// The sum of a header's bytes, its own field taken as spaces.
std::uint64_t sum_of(std::string_view header) {
  std::uint64_t out = ' ' * sum_slot.size;
  for (std::size_t i = 0; i < header.size(); ++i)
    if (i < sum_slot.at || i >= sum_slot.at + sum_slot.size)
      out += static_cast<unsigned char>(header[i]);
  return out;
}

void put(std::string& header, slot where, std::string_view bytes) {
  header.replace(where.at, std::min(where.size, bytes.size()), bytes.substr(0, where.size));
}

void put_number(std::string& header, slot where, std::uint64_t value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%0*llo", static_cast<int>(where.size - 1),
                static_cast<unsigned long long>(value));
  put(header, where, digits);
}

std::string plain_header(char type, std::string_view path, std::string_view target,
                         std::uint64_t size, unsigned mode, std::uint64_t modified) {
  std::string out(block, '\0');
  put(out, name_slot, path);
  put_number(out, mode_slot, mode);
  put_number(out, uid_slot, 0);
  put_number(out, gid_slot, 0);
  put_number(out, size_slot, std::min(size, most_octal));
  put_number(out, time_slot, std::min(modified, most_octal));
  put(out, type_slot, std::string_view(&type, 1));
  put(out, link_slot, target);
  put(out, magic_slot, std::string_view("ustar\00000", 8));
  put(out, sum_slot, "        ");
  char sum[8];
  std::snprintf(sum, sizeof sum, "%06llo", static_cast<unsigned long long>(sum_of(out)));
  put(out, sum_slot, std::string_view(sum, 7));
  return out;
}

/// "LENGTH KEY=VALUE\n", whose length counts its own digits.
std::string record(std::string_view key, std::string_view value) {
  const auto rest = key.size() + value.size() + 3;
  auto size = rest + 1;
  while (size != rest + std::to_string(size).size())
    size = rest + std::to_string(size).size();
  return std::to_string(size) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

char type_of(tar_kind kind) {
  switch (kind) {
  case tar_kind::folder:
    return '5';
  case tar_kind::link:
    return '2';
  case tar_kind::hard_link:
    return '1';
  case tar_kind::file:
    break;
  }
  return '0';
}

} // namespace

std::string tar_header(const tar_member& what) {
  const auto path = what.kind == tar_kind::folder ? what.path + "/" : what.path;
  std::string records;
  if (path.size() > longest_name)
    records += record("path", path);
  if (what.target.size() > longest_name)
    records += record("linkpath", what.target);
  if (what.size > most_octal)
    records += record("size", std::to_string(what.size));
  std::string out;
  if (!records.empty())
    out =
      plain_header('x', "pax", {}, records.size(), 0644, 0) + records + tar_padding(records.size());
  return out + plain_header(type_of(what.kind), path, what.target,
                            what.kind == tar_kind::file ? what.size : 0, what.mode & 07777,
                            what.modified > 0 ? static_cast<std::uint64_t>(what.modified) : 0);
}

std::string tar_padding(std::uint64_t size) {
  return std::string((block - size % block) % block, '\0');
}

std::string tar_end() {
  return std::string(2 * block, '\0');
}

void tar_reader::fail(std::string why) {
  why_ = std::move(why);
}

std::string tar_reader::feed(std::string_view bytes) {
  while (!bytes.empty() && at_ != state::done && why_.empty()) {
    const auto wanted = at_ == state::header    ? block - buffer_.size()
                        : at_ == state::padding ? padding_
                                                : left_;
    const auto piece = bytes.substr(0, std::min<std::uint64_t>(wanted, bytes.size()));
    bytes.remove_prefix(piece.size());
    switch (at_) {
    case state::header:
      buffer_ += piece;
      if (buffer_.size() == block)
        take_header();
      break;
    case state::extension:
      buffer_ += piece;
      left_ -= piece.size();
      if (left_ == 0)
        take_extension();
      break;
    case state::data:
      to_.data(piece);
      left_ -= piece.size();
      if (left_ == 0)
        at_ = padding_ > 0 ? state::padding : state::header;
      break;
    case state::padding:
      padding_ -= piece.size();
      if (padding_ == 0)
        at_ = state::header;
      break;
    case state::done:
      break;
    }
  }
  return why_;
}

void tar_reader::take_header() {
  const auto header = std::exchange(buffer_, {});
  if (std::all_of(header.begin(), header.end(), [](char c) { return c == '\0'; })) {
    at_ = state::done;
    return;
  }
  const auto sum = number(header, sum_slot), size = number(header, size_slot);
  if (sum != sum_of(header))
    return fail("the body is not a tar archive: a header's sum is wrong");
  if (!size || *size > INT64_MAX)
    return fail("a member of the archive has a size that is no number");
  begun_ = true;
  const char type = header[type_slot.at];
  left_ = *size;
  if (type == 'x' || type == 'g' || type == 'L' || type == 'K') {
    if (*size > longest_extension)
      return fail("a name in the archive is too long");
    extension_ = type;
    at_ = state::extension;
    padding_ = tar_padding(*size).size();
    if (*size == 0)
      take_extension();
    return;
  }
  next_ = {};
  next_.path = text(header, name_slot);
  if (field(header, magic_slot).starts_with(std::string_view("ustar\0", 6)))
    if (const auto prefix = text(header, prefix_slot); !prefix.empty())
      next_.path = prefix + "/" + next_.path;
  next_.target = text(header, link_slot);
  next_.mode = static_cast<unsigned>(number(header, mode_slot).value_or(0644) & 07777);
  next_.modified = static_cast<std::int64_t>(number(header, time_slot).value_or(0));
  begin(type);
}

void tar_reader::begin(char type) {
  if (const auto path = std::exchange(path_, std::nullopt))
    next_.path = *path;
  if (const auto target = std::exchange(target_, std::nullopt))
    next_.target = *target;
  left_ = std::exchange(size_, std::nullopt).value_or(left_);
  switch (type) {
  case '0':
  case '\0':
  case '7':
    next_.kind = next_.path.ends_with('/') ? tar_kind::folder : tar_kind::file;
    break;
  case '1':
    next_.kind = tar_kind::hard_link;
    break;
  case '2':
    next_.kind = tar_kind::link;
    break;
  case '5':
    next_.kind = tar_kind::folder;
    break;
  default:
    return fail("the archive holds something that is no file, directory or link: " + next_.path);
  }
  if (next_.kind != tar_kind::file)
    left_ = 0; // some writers give links the size of their target, without its content
  next_.size = left_;
  padding_ = tar_padding(left_).size();
  at_ = left_ > 0 ? state::data : state::header;
  to_.begin(std::move(next_));
}

void tar_reader::take_extension() {
  const auto content = std::exchange(buffer_, {});
  at_ = padding_ > 0 ? state::padding : state::header;
  if (extension_ == 'g')
    return; // about all that follows; nothing that is asked of a member here
  if (extension_ == 'L')
    path_ = content.substr(0, content.find('\0'));
  if (extension_ == 'K')
    target_ = content.substr(0, content.find('\0'));
  if (extension_ != 'x')
    return;
  for (std::string_view rest = content; !rest.empty();) {
    std::size_t size = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    const auto digits = static_cast<std::size_t>(read.ptr - rest.data());
    if (read.ec != std::errc() || size > rest.size() || size < digits + 3 || rest[digits] != ' ' ||
        rest[size - 1] != '\n')
      return fail("the archive has a pax header that is not well formed");
    const auto pair = rest.substr(digits + 1, size - digits - 2);
    rest.remove_prefix(size);
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos)
      return fail("the archive has a pax header that is not well formed");
    const auto key = pair.substr(0, equals), value = pair.substr(equals + 1);
    if (key == "path")
      path_ = value;
    else if (key == "linkpath")
      target_ = value;
    else if (key.starts_with("GNU.sparse."))
      return fail("the archive holds a sparse file, which is not read here");
    else if (key == "size") {
      std::uint64_t number_there = 0;
      const auto got = std::from_chars(value.data(), value.data() + value.size(), number_there);
      if (got.ec != std::errc() || got.ptr != value.data() + value.size() ||
          number_there > INT64_MAX)
        return fail("a member of the archive has a size that is no number");
      size_ = number_there;
    }
  }
}

std::optional<std::string> inner_path(std::string_view path) {
  if (path.starts_with('/') || path.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::string out;
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (name == "..")
      return std::nullopt;
    if (!name.empty() && name != ".")
      out += (out.empty() ? "" : "/") + std::string(name);
  }
  return out;
}

bool stays_inside(std::string_view path, std::string_view target) {
  if (target.empty() || target.starts_with('/') || target.find('\0') != std::string_view::npos)
    return false;
  auto depth = std::count(path.begin(), path.end(), '/');
  bool goes_down = false;
  while (!target.empty()) {
    const auto name = target.substr(0, target.find('/'));
    target.remove_prefix(std::min(target.size(), name.size() + 1));
    if (name == ".." && (goes_down || depth-- == 0))
      return false;
    goes_down = goes_down || (!name.empty() && name != "." && name != "..");
  }
  return true;
}

} // namespace ahpd::aio
