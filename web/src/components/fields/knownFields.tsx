import { useQuery } from "@tanstack/react-query";
import { assistantsQuery } from "@/api/queries/assistants";
import { mcpServersQuery, mcpToolsQuery } from "@/api/queries/mcpServers";
import { Select } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { ListEditor } from "./ListEditor";
import { useFieldTexts } from "./texts";
import type { ControlProps } from "./types";

const NONE = " ";

/** The shared assistant that a step links, by its name. */
export function AssistantControl({ value, onChange, label, nodeId: _, field: __, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const space = useDraft((state) => state.spaceId);
  const found = useQuery(assistantsQuery(space));
  const now = typeof value === "string" ? value : "";
  const names = (found.data ?? []).map((one) => one.name);
  const missing = now !== "" && found.isSuccess && !names.includes(now);
  return (
    <div className="flex flex-col gap-1">
      <Select
        {...ids}
        {...(ids.id ? {} : { "aria-label": label })}
        value={now || NONE}
        options={[
          { value: NONE, label: t("assistant_none") },
          ...[...new Set([...(now ? [now] : []), ...names])].map((name) => ({ value: name, label: name })),
        ]}
        onChange={(next) => onChange(next === NONE ? undefined : next)}
      />
      {missing && <p className="text-warn text-xs">{t("assistant_missing", { name: now })}</p>}
    </div>
  );
}

/** The MCP server of an `McpTools` node, by its name. */
export function ServerControl({ value, onChange, label, nodeId: _, field: __, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const space = useDraft((state) => state.spaceId);
  const servers = useQuery(mcpServersQuery(space));
  const now = typeof value === "string" ? value : "";
  const names = (servers.data ?? []).map((one) => one.name);
  const missing = now !== "" && servers.isSuccess && !names.includes(now);
  return (
    <div className="flex flex-col gap-1">
      <Select
        {...ids}
        {...(ids.id ? {} : { "aria-label": label })}
        value={now || undefined}
        placeholder={t("server_choose")}
        disabled={names.length === 0 && now === ""}
        options={[...new Set([...(now ? [now] : []), ...names])].map((name) => ({ value: name, label: name }))}
        onChange={onChange}
      />
      {servers.isSuccess && names.length === 0 && <p className="text-muted text-xs">{t("server_none")}</p>}
      {missing && <p className="text-warn text-xs">{t("server_missing", { name: now })}</p>}
    </div>
  );
}

/** The tools of the server that a node names. */
function useServerTools(nodeId: string | undefined) {
  const space = useDraft((state) => state.spaceId);
  const named = useDraft((state) => (nodeId ? state.document.nodes[nodeId]?.params?.server : undefined));
  const servers = useQuery(mcpServersQuery(space));
  const server = servers.data?.find((one) => one.name === named);
  return useQuery({ ...mcpToolsQuery(server?.id ?? ""), enabled: server !== undefined });
}

/** The tool of a server that an `McpCall` node calls. */
export function ServerToolControl({ value, onChange, label, nodeId, field: _, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const tools = useServerTools(nodeId);
  const now = typeof value === "string" ? value : "";
  const names = (tools.data ?? []).filter((tool) => tool.enabled).map((tool) => tool.name);
  return (
    <Select
      {...ids}
      {...(ids.id ? {} : { "aria-label": label })}
      value={now || undefined}
      placeholder={t("tool_choose")}
      disabled={names.length === 0 && now === ""}
      options={[...new Set([...(now ? [now] : []), ...names])].map((name) => ({ value: name, label: name }))}
      onChange={onChange}
    />
  );
}

/** Which of a server's tools an `McpTools` node brings; none named: all that are enabled. */
export function ServerToolsControl({ value, onChange, label, nodeId }: ControlProps) {
  const tools = useServerTools(nodeId);
  const now = Array.isArray(value) ? value.map(String) : [];
  return (
    <ListEditor
      label={label}
      value={now}
      suggestions={(tools.data ?? []).map((tool) => tool.name)}
      onChange={(next) => onChange(next.length > 0 ? next : undefined)}
    />
  );
}

/** The form field whose files a `FileInput` gives; none: every file of the run. */
export function FormFieldControl({ value, onChange, label, nodeId: _, field: __, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const form = useDraft((state) => state.document.form);
  const now = typeof value === "string" ? value : "";
  const fields = form.filter((one) => ["file", "image", "audio", "document"].includes(one.type ?? "text"));
  const options = fields.map((one) => ({ value: one.id, label: one.label || one.id }));
  if (now && !fields.some((one) => one.id === now)) options.push({ value: now, label: now });
  return (
    <Select
      {...ids}
      {...(ids.id ? {} : { "aria-label": label })}
      value={now || NONE}
      options={[{ value: NONE, label: t("field_any") }, ...options]}
      onChange={(next) => onChange(next === NONE ? undefined : next)}
    />
  );
}
