import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mcpServerKeys, mcpToolsQuery } from "@/api/queries/mcpServers";
import { Difference } from "@/components/connections";
import { Button, Callout, Chip, Problem, Skeleton, Switch } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { visible } from "@/lib/visible";
import { useSettingsTexts } from "../texts";
import { acceptTools, type McpTool, switchTool } from "./calls";

/** The tools of a server. One whose description changed is refused until its difference was accepted. */
export function McpTools({ server, manage }: { server: string; manage: boolean }) {
  const t = useSettingsTexts();
  const tools = useQuery(mcpToolsQuery(server));
  const touches = [mcpServerKeys.tools(server)];
  const enable = useChange({
    change: ({ name, on }: { name: string; on: boolean }) => switchTool(server, name, on),
    touches,
    failed: t("save_failed"),
  });
  const accept = useChange({
    change: (seen: readonly McpTool[]) =>
      acceptTools(server, Object.fromEntries(seen.map(({ name, sha256 }) => [name, sha256]))),
    touches,
    failed: t("save_failed"),
  });
  if (tools.isPending) return <Skeleton className="h-16" />;
  if (tools.isError) return <Problem error={tools.error} />;
  if (tools.data.length === 0) return <p className="text-sm text-muted">{t("no_tools")}</p>;
  const changed = tools.data.filter((tool) => tool.changed);
  return (
    <>
      {changed.length > 0 && <Callout tone="warn">{t("tools_changed", { count: changed.length })}</Callout>}
      <ul aria-label={t("tools")} className="divide-y divide-line rounded-md border border-line bg-canvas">
        {tools.data.map((tool) => (
          <li key={tool.name} className="flex items-start gap-3 px-3 py-2">
            <div className="min-w-0 flex-1">
              <div className="break-all font-mono text-sm">
                {visible(tool.name)} {tool.changed && <Chip tone="warn">{t("tool_changed")}</Chip>}
              </div>
              {/* The server's own words: text, whatever they are. */}
              <p className="line-clamp-3 whitespace-pre-wrap break-words text-xs text-muted">
                {visible(tool.description)}
              </p>
              {tool.changed && (
                <Changed tool={tool} manage={manage} busy={accept.isPending} onAccept={() => accept.mutate([tool])} />
              )}
            </div>
            <Switch
              aria-label={t("use_what", { what: tool.name })}
              checked={tool.enabled}
              disabled={!manage}
              onChange={(on) => enable.mutate({ name: tool.name, on })}
            />
          </li>
        ))}
      </ul>
      {accept.isError && <Problem error={accept.error} />}
    </>
  );
}

interface ChangedProps {
  tool: McpTool;
  manage: boolean;
  busy: boolean;
  onAccept: () => void;
}

/** The difference first: it is accepted where it is seen. */
function Changed({ tool, manage, busy, onAccept }: ChangedProps) {
  const t = useSettingsTexts();
  const [open, setOpen] = useState(false);
  if (!open)
    return (
      <Button size="sm" className="mt-1" onClick={() => setOpen(true)}>
        {t("view_change_of", { what: tool.name })}
      </Button>
    );
  return (
    <div className="mt-1 flex flex-col items-start gap-2">
      <Difference label={t("change_of", { what: tool.name })} lines={tool.difference} />
      {manage && (
        <Button size="sm" busy={busy} onClick={onAccept}>
          {t("accept_change_of", { what: tool.name })}
        </Button>
      )}
    </div>
  );
}
