import { useQuery } from "@tanstack/react-query";
import { Plug, Plus, Wrench, X } from "lucide-react";
import { mcpServersQuery } from "@/api/queries/mcpServers";
import type { FieldTemplate, Template } from "@/api/types";
import { Button, IconButton, Menu, type MenuItem } from "@/components/ui";
import { type Document, edgeId, useDraft, useDraftStore } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import { useFieldTexts } from "./texts";

/** What an agent may call: the nodes connected here, and a way to connect more. */
export function ToolsControl({ field, nodeId, label }: { field: FieldTemplate; nodeId: string; label: string }) {
  const t = useFieldTexts();
  const store = useDraftStore();
  const editable = useDraft((state) => state.editable);
  const document = useDraft((state) => state.document);
  const attached = Object.values(document.edges).filter((edge) => edge.target === nodeId && edge.input === field.name);
  return (
    <fieldset aria-label={label} className="flex flex-col gap-1.5">
      {attached.length === 0 && <p className="text-muted text-sm">{t("tools_empty")}</p>}
      <ul className="flex flex-col gap-1">
        {attached.map((edge) => {
          const name = toolTitle(document, store.getState().templates, edge.source, t);
          return (
            <li key={edgeId(edge)} className="flex items-center gap-2 rounded-md border border-line px-2 py-1">
              <Wrench aria-hidden className="size-3.5 shrink-0 text-port-tool" />
              <button
                type="button"
                className="min-w-0 flex-1 truncate text-left hover:text-accent"
                onClick={() => store.getState().focusNode(edge.source)}
              >
                {name}
              </button>
              {editable && (
                <IconButton
                  size="sm"
                  label={t("disconnect", { step: name })}
                  onClick={() => store.getState().disconnect([edgeId(edge)])}
                >
                  <X />
                </IconButton>
              )}
            </li>
          );
        })}
      </ul>
      {editable && <AddTool field={field} nodeId={nodeId} />}
    </fieldset>
  );
}

function AddTool({ field, nodeId }: { field: FieldTemplate; nodeId: string }) {
  const t = useFieldTexts();
  const store = useDraftStore();
  const space = useDraft((state) => state.spaceId);
  const servers = useQuery(mcpServersQuery(space));
  const { templates, document } = store.getState();
  const add = (type: string, output: string, more: { label?: string; params?: Record<string, string> } = {}) => {
    const { addNode, connect, document: now } = store.getState();
    const place = now.nodes[nodeId]?.position ?? { x: 0, y: 0 };
    const count = Object.values(now.edges).filter((edge) => edge.target === nodeId && edge.input === field.name).length;
    const source = addNode(type, { x: (place.x ?? 0) - 320, y: (place.y ?? 0) + 160 + count * 120 }, more);
    connect({ source, output, target: nodeId, input: field.name });
  };
  const tools = Object.values(templates).filter((one) => one.fields?.some((inner) => inner.tool_mode));
  const items: MenuItem[] = [
    { kind: "heading", id: "servers", label: t("tools_servers") },
    ...(servers.data ?? []).map(
      (server): MenuItem => ({
        id: server.id,
        label: server.name,
        icon: <Plug />,
        onSelect: () => add("McpTools", "tools", { label: server.name, params: { server: server.name } }),
      }),
    ),
    ...(servers.data?.length
      ? []
      : [{ id: "no-server", label: t("tools_no_server"), disabled: true, onSelect: () => {} }]),
    { kind: "heading", id: "components", label: t("tools_components") },
    ...tools.map(
      (one): MenuItem => ({ id: one.type, label: one.label, icon: <Wrench />, onSelect: () => add(one.type, "tool") }),
    ),
  ];
  return document ? (
    <Menu items={items} align="start">
      <Button size="sm" icon={<Plus />} className="self-start">
        {t("tools_add")}
      </Button>
    </Menu>
  ) : null;
}

function toolTitle(
  document: Document,
  templates: Record<string, Template>,
  id: string,
  t: ReturnType<typeof useFieldTexts>,
): string {
  const node = document.nodes[id];
  if (!node) return id;
  if (node.type === "McpTools" && node.params?.server) return t("tools_of", { server: String(node.params.server) });
  return nodeName(node, templates);
}
