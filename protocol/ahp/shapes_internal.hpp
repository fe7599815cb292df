#pragma once

#include "protocol/ahp/shapes.hpp"

/// The composite values among `shapes::kind`, one function each.
namespace ahpd::ahp::shapes {

refusal check_items(const place& where, const json::value& v, kind what);

// shapes_chat.cpp
refusal check_message(const place& where, const json::value& v, std::string_view origin);
refusal check_tool_content(const place& where, const json::value& v);
refusal check_tool_result(const place& where, const json::value& v);
refusal check_answer(const place& where, const json::value& v);
refusal check_answers(const place& where, const json::value& v);

// shapes_other.cpp
refusal check_active_client(const place& where, const json::value& v);
refusal check_enablement(const place& where, const json::value& v);
refusal check_claim(const place& where, const json::value& v);
refusal check_range(const place& where, const json::value& v);
refusal check_annotation(const place& where, const json::value& v);
refusal check_annotation_origin(const place& where, const json::value& v);
refusal check_annotation_entry(const place& where, const json::value& v);
refusal check_automation(const place& where, const json::value& v, bool whole);

} // namespace ahpd::ahp::shapes
