import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command as Cmdk } from "cmdk";
import { CornerDownLeft, Workflow } from "lucide-react";
import { Dialog as RadixDialog } from "radix-ui";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { api, unwrap } from "@/api/client";
import { flowKeys } from "@/api/queries/flows";
import { Keys } from "@/components/ui";
import { openerOf } from "@/components/ui/opener";
import { useSectionCommands } from "@/features/settings/useSectionCommands";
import { type Command, usePalette } from "@/lib/commands/commands";
import { fuzzyScore } from "@/lib/commands/fuzzy";
import { recentCommands, recentFlows, rememberCommand } from "@/lib/commands/recent";
import { ago } from "@/lib/i18n/format";
import { keysOf, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { useAppTexts } from "../texts";

const ITEM =
  "flex min-h-9 cursor-default select-none items-center gap-2.5 rounded-md px-2.5 text-base data-[selected=true]:bg-accent-soft data-[selected=true]:text-ink [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted";
const GROUP =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted";
const MOST_FLOWS = 8;

/** Every place, flow and command, found by writing a few letters of it. */
export default function CommandPalette() {
  const t = useAppTexts();
  const { setOpen } = usePalette.getState();
  const sources = usePalette((state) => state.sources);
  const changed = useShortcutKeys((state) => state.changed);
  const [typed, setTyped] = useState("");
  // Asked once: what a place offers does not change while the palette stands over it.
  const offered = useMemo(() => Object.values(sources).flatMap((source) => source()), [sources]);
  const sections = useSectionCommands();
  const every = [...offered, ...sections];
  const searched = typed.trim() !== "";
  const recent = searched ? [] : recentOf(every);
  const groups = byGroup(every.filter((command) => searched || !(command.searchedOnly || recent.includes(command))));
  const { flows, settled } = useFlows(typed.trim());
  const [chosen, setChosen] = useState("");
  const newest = settled ? flows[0]?.id : undefined;
  // Flows come a moment later than the commands below them: the first is chosen all the same.
  useEffect(() => {
    if (newest) setChosen(`flow ${newest}`);
  }, [newest]);
  const opener = useRef<Element | null>(null);
  const navigate = useNavigate();
  const act = (run: () => void, id?: string) => {
    if (id) rememberCommand(id);
    setOpen(false);
    // After the dialog has given the focus back, so that what the command opens may take it.
    setTimeout(run, 0);
  };
  return (
    <RadixDialog.Root open onOpenChange={setOpen}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-50 bg-overlay animate-fade" />
        <RadixDialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={() => {
            opener.current = document.activeElement;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            // The command may have put it somewhere already.
            if (document.activeElement === document.body) openerOf(opener.current)?.focus();
          }}
          className="fixed inset-x-2 top-[8vh] z-50 mx-auto max-w-xl overflow-hidden rounded-xl border border-line bg-raised shadow-modal outline-none animate-rise"
        >
          <RadixDialog.Title className="sr-only">{t("commands")}</RadixDialog.Title>
          <Cmdk label={t("commands")} loop filter={score} value={chosen} onValueChange={setChosen}>
            <Cmdk.Input
              value={typed}
              onValueChange={setTyped}
              placeholder={t("find_command")}
              className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none placeholder:text-faint"
            />
            <Cmdk.List className="max-h-[min(26rem,60vh)] scroll-py-2 overflow-y-auto p-1.5">
              <Cmdk.Empty className="px-4 py-8 text-center text-muted">{t("no_command")}</Cmdk.Empty>
              {flows.length > 0 && (
                <Cmdk.Group heading={t("flows")} className={GROUP}>
                  {flows.map((flow) => (
                    <Cmdk.Item
                      key={flow.id}
                      value={`flow ${flow.id}`}
                      keywords={settled ? [flow.name, typed] : [flow.name]}
                      className={ITEM}
                      onSelect={() => act(() => void navigate({ to: "/flows/$flowId", params: { flowId: flow.id } }))}
                    >
                      <Workflow aria-hidden />
                      <span className="min-w-0 flex-1 truncate">{flow.name}</span>
                      {flow.updated_at && <span className="shrink-0 text-xs text-muted">{ago(flow.updated_at)}</span>}
                    </Cmdk.Item>
                  ))}
                </Cmdk.Group>
              )}
              {[...(recent.length > 0 ? [[t("recent"), recent] as const] : []), ...groups].map(([group, commands]) => (
                <Cmdk.Group key={group} heading={group} className={GROUP}>
                  {commands.map((command) => (
                    <Cmdk.Item
                      key={command.id}
                      value={command.id}
                      keywords={[command.label, command.keywords ?? "", command.group]}
                      className={ITEM}
                      onSelect={() => act(command.run, command.sameAs ?? command.id)}
                    >
                      {command.icon}
                      <span className="min-w-0 flex-1 truncate">{command.label}</span>
                      {command.shortcut && <Keys keys={keysOf(command.shortcut, changed)} />}
                    </Cmdk.Item>
                  ))}
                </Cmdk.Group>
              ))}
            </Cmdk.List>
          </Cmdk>
          <footer className="flex items-center gap-1.5 border-t border-line px-4 py-2 text-xs text-muted">
            <CornerDownLeft aria-hidden className="size-3.5" />
            {t("palette_foot")}
          </footer>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

function useFlows(typed: string) {
  const search = useDeferredValue(typed);
  const { data, isPlaceholderData } = useQuery({
    queryKey: [...flowKeys.all, "palette", search],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flows", { params: { query: { search, limit: MOST_FLOWS, sort: "updated" } }, signal })),
    placeholderData: (before) => before,
  });
  const items: PaletteFlow[] = data?.items ?? [];
  // Before anything is typed: those that were opened last, then those that were changed last.
  const opened: PaletteFlow[] = typed ? [] : recentFlows();
  const others = items.filter((flow) => !opened.some((one) => one.id === flow.id));
  return { flows: [...opened, ...others].slice(0, MOST_FLOWS), settled: !isPlaceholderData };
}

interface PaletteFlow {
  id: string;
  name: string;
  updated_at?: string;
}

/** The commands that were used last and are offered here, newest first. */
function recentOf(commands: Command[]): Command[] {
  return recentCommands().flatMap((id) => commands.find((command) => command.id === id || command.sameAs === id) ?? []);
}

/** The first keyword is the name. */
function score(_value: string, typed: string, keywords: string[] = []): number {
  const [name = "", ...more] = keywords;
  return fuzzyScore(typed, name, more.join(" "));
}

function byGroup(commands: Command[]): [string, Command[]][] {
  const groups = new Map<string, Command[]>();
  for (const command of commands) groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  return [...groups];
}
