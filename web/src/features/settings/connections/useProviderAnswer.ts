import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Connection, connectionKeys, finishAuthorization } from "@/api/queries/connections";
import { mcpServerKeys, mcpServersQuery } from "@/api/queries/mcpServers";
import { meQuery } from "@/api/queries/me";
import { mayIn } from "@/api/rights";
import { refreshServer } from "../mcp/calls";

/**
 * Completes an authorization: the provider sends the browser here with a code. It is used once and leaves the URL.
 * Then the tools of the MCP servers that send the new token are listed, where the user may do that.
 */
export function useProviderAnswer() {
  const queries = useQueryClient();
  const tools = useMutation({
    mutationFn: async ({ name, space_id }: Connection) => {
      if (!mayIn(await queries.ensureQueryData(meQuery), space_id, "mcp_servers.manage")) return [];
      const servers = await queries.fetchQuery({ ...mcpServersQuery(space_id), staleTime: 0 });
      const signed = servers.filter((server) => server.enabled && server.connection === name);
      return Promise.all(
        signed.map(async (server) => ({ name: server.name, count: (await refreshServer(server.id)).tools.length })),
      );
    },
    onSettled: () => queries.invalidateQueries({ queryKey: mcpServerKeys.all }),
  });
  const finish = useMutation({
    mutationFn: finishAuthorization,
    onSuccess: (connection) => tools.mutate(connection),
    onSettled: () => queries.invalidateQueries({ queryKey: connectionKeys.all }),
  });
  const { mutate } = finish;
  useEffect(() => {
    const query = new URLSearchParams(window.location.search);
    const state = query.get("state");
    if (!state) return;
    window.history.replaceState(window.history.state, "", window.location.pathname);
    mutate({ state, code: query.get("code") ?? "", error: query.get("error") ?? "", iss: query.get("iss") ?? "" });
  }, [mutate]);
  return { finish, tools };
}
