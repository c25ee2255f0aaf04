import { useQueries, useQuery } from "@tanstack/react-query";
import { mcpServersQuery, mcpToolsQuery } from "@/api/queries/mcpServers";
import { Checkbox } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { offeredTools } from "./offeredTools";
import { usePolicyTexts } from "./texts";

interface ToolListProps {
  nodeId: string;
  list: string[];
  onChange: (list: string[]) => void;
  /** Shown while no tool is selected. */
  empty: string;
}

/** The tools of a step, each with a checkbox. */
export function ToolList({ nodeId, list, onChange, empty }: ToolListProps) {
  const t = usePolicyTexts();
  const document = useDraft((state) => state.document);
  const templates = useDraft((state) => state.templates);
  const { names, servers } = offeredTools(document, templates, nodeId);
  const ofServers = useServerTools(servers);
  const known = [...names, ...ofServers.flatMap(({ server, tools }) => tools.map((tool) => `${server}.${tool.name}`))];
  const gone = list.filter((name) => !known.includes(name));
  const toggle = (name: string, on: boolean) => onChange(on ? [...list, name] : list.filter((one) => one !== name));
  return (
    <div className="flex flex-col gap-3">
      {list.length === 0 && <p className="text-muted text-xs">{empty}</p>}
      {names.length === 0 && servers.length === 0 && <p className="text-muted text-sm">{t("tools_nothing")}</p>}
      {names.length > 0 && (
        <ToolGroup label={t("tools_connected")}>
          {names.map((name) => (
            <Tool key={name} name={name} on={list.includes(name)} onChange={(on) => toggle(name, on)} />
          ))}
        </ToolGroup>
      )}
      {ofServers.map(({ server, tools, waiting }) => (
        <ToolGroup key={server} label={t("tools_of", { server })}>
          {waiting && <p className="text-muted text-sm">{t("tools_loading")}</p>}
          {tools.map((tool) => (
            <Tool
              key={tool.name}
              name={tool.name}
              about={tool.enabled ? tool.description : t("tools_disabled")}
              on={list.includes(`${server}.${tool.name}`)}
              onChange={(on) => toggle(`${server}.${tool.name}`, on)}
            />
          ))}
        </ToolGroup>
      ))}
      {gone.map((name) => (
        <div key={name}>
          <Tool name={name} on onChange={() => toggle(name, false)} />
          <p className="text-warn text-xs">{t("tools_gone", { name })}</p>
        </div>
      ))}
    </div>
  );
}

function ToolGroup({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 font-medium text-faint text-xs">{label}</legend>
      {children}
    </fieldset>
  );
}

function Tool({
  name,
  about,
  on,
  onChange,
}: {
  name: string;
  about?: string;
  on: boolean;
  onChange: (on: boolean) => void;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox in it is a button, which a label may name
    <label className="flex items-start gap-2 py-0.5">
      <span className="flex h-5.5 items-center">
        <Checkbox aria-label={name} checked={on} onChange={onChange} />
      </span>
      <span className="min-w-0">
        <span className="break-all font-mono text-sm">{name}</span>
        {about && <span className="line-clamp-2 text-muted text-xs">{about}</span>}
      </span>
    </label>
  );
}

/** The tools of MCP servers by the servers' names. */
function useServerTools(names: string[]) {
  const space = useDraft((state) => state.spaceId);
  const servers = useQuery({ ...mcpServersQuery(space), enabled: names.length > 0 });
  const found = names.map((name) => ({ name, id: servers.data?.find((one) => one.name === name)?.id }));
  const answers = useQueries({
    queries: found.map(({ id }) => ({ ...mcpToolsQuery(id ?? ""), enabled: id !== undefined })),
  });
  return found.map(({ name }, index) => ({
    server: name,
    tools: answers[index]?.data ?? [],
    waiting: answers[index]?.isLoading ?? false,
  }));
}
