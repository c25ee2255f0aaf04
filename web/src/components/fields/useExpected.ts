import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { operationQuery } from "@/api/queries/apis";
import { connectionsQuery } from "@/api/queries/connections";
import { useDraft, useDraftParts } from "@/lib/draft";
import { isSchema, promised, type Schema, schemaAt } from "@/lib/wiring";

/** What is known of the main outputs of nodes before a run: their contracts, and the responses that APIs describe. */
export function useExpected(): Record<string, Schema> {
  const space = useDraft((state) => state.spaceId);
  const contracts = useDraftParts(({ document }) =>
    Object.values(document.nodes).flatMap((node) => {
      const schema = promised(node);
      return schema ? [JSON.stringify([node.id, schema])] : [];
    }),
  );
  const calls = useDraftParts(({ document }) =>
    Object.values(document.nodes).flatMap(({ id, type, params }) => {
      const { connection, operation, pages = 1, paging } = params ?? {};
      const named = type === "ApiCall" && typeof connection === "string" && typeof operation === "string";
      const own = isSchema(paging) ? paging.items : undefined;
      return named && typeof pages === "number" ? [JSON.stringify([id, connection, operation, pages, own])] : [];
    }),
  );
  const connections = useQuery({ ...connectionsQuery(space), enabled: calls.length > 0 }).data;
  const responses = useQueries({
    queries: calls.map((call) => {
      const [, name, operation] = JSON.parse(call) as string[];
      return operationQuery(connections?.find((one) => one.name === name)?.id ?? "", operation ?? "");
    }),
    combine: (results) => results.map(({ data }) => data),
  });
  return useMemo(() => {
    const expected: Record<string, Schema> = {};
    responses.forEach((described, at) => {
      const [id, , , pages, own] = JSON.parse(calls[at] ?? "[]") as [string, string, string, number, unknown];
      const page = described?.response;
      if (!isSchema(page) || Object.keys(page).length === 0) return;
      const list = schemaAt(page, String(own ?? described?.paging?.items ?? ""));
      expected[id] = pages > 1 ? { type: "array", items: list?.items ?? {} } : page;
    });
    return Object.assign(expected, Object.fromEntries(contracts.map((one) => JSON.parse(one) as [string, Schema])));
  }, [contracts, calls, responses]);
}
