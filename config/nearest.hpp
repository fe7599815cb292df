#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ahpd::config {

/// The word that was probably meant, or an empty text when none is near. Letters that are missing,
/// too many, wrong or exchanged with their neighbour count one each.
std::string nearest(std::string_view word, const std::vector<std::string_view>& words);

} // namespace ahpd::config
