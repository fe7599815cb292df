#include "actors/core/log.hpp"
#include "actors/hub/engines/acp_agent.hpp"
#include "actors/hub/services.hpp"

#include <caf/all.hpp>

namespace ahpd::hub::acp_agent {

json::array offer_tools(self_ptr self, const server_ptr& of) {
  auto& st = self->state;
  const auto& host = st.context.host;
  const auto& machine = st.context.where.machine;
  const auto listener = host->tools.listener();
  if (!of->facts.mcp_http || !st.agent->host_tools || listener.empty())
    return {};
  const auto origin = host->tools.origin(!machine.empty());
  if (!origin) {
    core::log::warning("host tools: computer://" + machine + " cannot reach the daemon at " +
                       listener + ", so they were left out");
    return {};
  }
  of->tools = open_tools_server(self->system(), host, st.context.chat, *origin, st.tools);
  return {acp::http_server("ahp", of->tools->url, of->tools->token)};
}

} // namespace ahpd::hub::acp_agent
