import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Suspense, useState } from "react";
import { type Trigger, triggersQuery } from "@/api/queries/triggers";
import { useRights } from "@/api/rights";
import { cx, Dialog } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { dateTime } from "@/lib/i18n/format";
import { part } from "@/lib/part";
import { KIND_ICONS } from "../model/icons";
import { stateOf, type TriggerState } from "../model/state";
import { triggerWords, zoneOf } from "../model/words";
import { useTriggerTexts } from "../texts";

const TriggerDialog = part(async () => ({ default: (await import("../add/TriggerDialog")).TriggerDialog }));
const TriggerItem = part(async () => ({ default: (await import("../TriggerItem")).TriggerItem }));

const DOTS: Record<TriggerState, string> = { on: "bg-ok", off: "bg-faint", failing: "bg-bad", unpublished: "bg-warn" };
const MOST = 4;

/** What starts the open flow, drawn at its start on the canvas. One opens its details, the button adds one. */
export function FlowStart() {
  const t = useTriggerTexts();
  const { may } = useRights();
  const flowId = useDraft((state) => state.flowId);
  const spaceId = useDraft((state) => state.spaceId);
  const { data: triggers = [] } = useQuery(triggersQuery({ flow_id: flowId }));
  const [open, setOpen] = useState<string | null>(null);
  const [all, setAll] = useState(false);
  const [adding, setAdding] = useState(false);
  const manages = may("triggers.manage", spaceId);
  const drawn = all ? triggers : triggers.slice(0, MOST);
  const trigger = triggers.find((one) => one.id === open);
  if (triggers.length === 0 && !manages) return null;
  return (
    <section aria-label={t("triggers")} className="flex w-64 flex-col gap-1.5">
      {manages && (
        <button type="button" className={ADD} onClick={() => setAdding(true)}>
          <Plus aria-hidden className="size-4" />
          {t("add")}
        </button>
      )}
      {drawn.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line-strong bg-surface shadow-low">
          {drawn.map((one) => (
            <li key={one.id}>
              <Start trigger={one} onOpen={() => setOpen(one.id)} />
            </li>
          ))}
          {triggers.length > drawn.length && (
            <li>
              <button type="button" className={MORE} onClick={() => setAll(true)}>
                {t("start_more", { amount: triggers.length - drawn.length })}
              </button>
            </li>
          )}
        </ul>
      )}
      <Dialog open={trigger !== undefined} onOpenChange={() => setOpen(null)} title={t("start_title")} side>
        <Suspense>
          {trigger && (
            <ul aria-label={t("triggers")}>
              <TriggerItem key={trigger.id} trigger={trigger} ofFlow shown />
            </ul>
          )}
        </Suspense>
      </Dialog>
      <Suspense>
        {adding && <TriggerDialog flowId={flowId} spaceId={spaceId} onClose={() => setAdding(false)} />}
      </Suspense>
    </section>
  );
}

const MORE = "w-full px-3 py-1.5 text-left text-accent text-sm hover:bg-hover";
const ADD =
  "inline-flex items-center gap-1.5 self-start rounded-md border border-line-strong border-dashed bg-canvas px-2.5 py-1 text-muted text-sm hover:bg-hover hover:text-ink";

function Start({ trigger, onOpen }: { trigger: Trigger; onOpen: () => void }) {
  const t = useTriggerTexts();
  const state = stateOf(trigger);
  const Icon = KIND_ICONS[trigger.kind];
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      onClick={onOpen}
      className={cx("flex w-full items-start gap-2.5 px-3 py-2 text-left text-sm hover:bg-hover")}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{trigger.name}</span>
        <span className="block truncate text-muted text-xs" title={triggerWords(t, trigger)}>
          {triggerWords(t, trigger)}
        </span>
        <span className="flex items-center gap-1.5 text-muted text-xs">
          <span aria-hidden className={cx("size-2 shrink-0 rounded-full", DOTS[state])} />
          <span className="truncate">
            {t(`start_${state}`)}
            {trigger.next_at && ` · ${t("next", { when: dateTime(trigger.next_at, zoneOf(trigger)) })}`}
          </span>
        </span>
      </span>
    </button>
  );
}
