import { useQuery } from "@tanstack/react-query";
import { ChevronDown, Workflow } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { api, unwrap } from "@/api/client";
import { calledFlowQuery } from "@/api/queries/calledFlow";
import type { FlowItem } from "@/api/queries/flowList";
import { flowKeys } from "@/api/queries/flows";
import { cx, Input, Popover, Problem } from "@/components/ui";
import { ago } from "@/lib/i18n/format";
import { useFlowPickerTexts } from "./texts";

interface Offered {
  /** Whether a flow is offered, and a name for that: part of the key of what was found. */
  fits: (flow: FlowItem) => boolean;
  offer: string;
}

interface FlowPickerProps extends Offered {
  /** Id or name of a flow. */
  value: string;
  /** The space whose flows a name means first. */
  space?: string;
  onChange: (flowId: string) => void;
  /** Text of the choice of no flow, where one may be chosen: the id is then empty. */
  none?: string;
  id?: string;
  "aria-label"?: string | undefined;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

const MOST_SHOWN = 30;
/** How many pages are read for them, where most of what somebody sees is not offered. */
const MOST_PAGES = 10;

/** Those that are found and offered, newest first. */
async function offered(search: string, fits: Offered["fits"], signal: AbortSignal) {
  const found: FlowItem[] = [];
  let cursor: string | null | undefined;
  for (let pages = 0; pages < MOST_PAGES && found.length < MOST_SHOWN && cursor !== null; pages += 1) {
    const query = { search, limit: MOST_SHOWN, ...(cursor ? { cursor } : {}) };
    const page = await unwrap(api.GET("/api/v1/flows", { params: { query }, signal }));
    found.push(...page.items.filter(fits));
    cursor = page.next_cursor ?? null;
  }
  return found.slice(0, MOST_SHOWN);
}

/** One of the flows that are offered, found by writing a part of its name. */
export function FlowPicker({ value, space = "", onChange, none, fits, offer, ...control }: FlowPickerProps) {
  const t = useFlowPickerTexts();
  const [open, setOpen] = useState(false);
  const chosen = useQuery(calledFlowQuery(value, space));
  const name = value ? (chosen.data?.name ?? (chosen.isError ? t("flow_gone") : "…")) : "";
  return (
    <Popover
      open={open}
      onOpenChange={setOpen}
      label={t("choose_flow")}
      className="w-96 max-w-[calc(100vw-1rem)] p-2"
      trigger={
        <button
          type="button"
          {...control}
          className="inline-flex h-8 w-full items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 text-left hover:border-faint aria-invalid:border-bad sm:max-w-96"
        >
          <Workflow aria-hidden className="size-4 shrink-0 text-faint" />
          <span className={cx("min-w-0 flex-1 truncate", !name && "text-faint")}>
            {name || (none ?? t("choose_flow"))}
          </span>
          <ChevronDown aria-hidden className="size-4 shrink-0 text-faint" />
        </button>
      }
    >
      <Found
        chosen={chosen.data?.id ?? value}
        none={none}
        fits={fits}
        offer={offer}
        onPick={(flowId) => {
          onChange(flowId);
          setOpen(false);
        }}
      />
    </Popover>
  );
}

interface FoundProps extends Offered {
  chosen: string;
  none: string | undefined;
  onPick: (flowId: string) => void;
}

function Found({ chosen, none, fits, offer, onPick }: FoundProps) {
  const t = useFlowPickerTexts();
  const [typed, setTyped] = useState("");
  const search = useDeferredValue(typed.trim());
  const flows = useQuery({
    queryKey: [...flowKeys.all, "picker", offer, search],
    queryFn: ({ signal }) => offered(search, fits, signal),
    placeholderData: (before) => before,
  });
  return (
    <div className="flex flex-col gap-2">
      <Input
        type="search"
        aria-label={t("find_flow")}
        placeholder={t("find_flow")}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {flows.isError && <Problem error={flows.error} />}
      {flows.data?.length === 0 && <p className="px-2 py-3 text-sm text-muted">{t("no_such_flow")}</p>}
      <ul className="max-h-72 overflow-y-auto">
        {none !== undefined && <Choice name={none} current={chosen === ""} onPick={() => onPick("")} />}
        {flows.data?.map((flow) => (
          <Choice
            key={flow.id}
            name={flow.name}
            about={ago(flow.updated_at, { brief: true })}
            current={flow.id === chosen}
            onPick={() => onPick(flow.id)}
          />
        ))}
      </ul>
    </div>
  );
}

interface ChoiceProps {
  name: string;
  about?: string;
  current: boolean;
  onPick: () => void;
}

function Choice({ name, about, current, onPick }: ChoiceProps) {
  return (
    <li>
      <button
        type="button"
        aria-current={current ? "true" : undefined}
        onClick={onPick}
        className="flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left hover:bg-hover aria-[current=true]:bg-accent-soft"
      >
        <span className="min-w-0 flex-1 truncate">{name}</span>
        {about && <span className="shrink-0 text-xs text-muted">{about}</span>}
      </button>
    </li>
  );
}
