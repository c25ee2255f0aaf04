import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { AlarmClock, CalendarClock } from "lucide-react";
import { type AgendaEntry, agendaQuery, triggersQuery } from "@/api/queries/triggers";
import { buttonLook, Chip, EmptyState, Listing, Problem, Skeleton } from "@/components/ui";
import { browserTimeZone, dayName } from "@/lib/i18n/format";
import { i18next } from "@/lib/i18n/i18n";
import { noteWords } from "./model/words";
import { TriggerItem } from "./TriggerItem";
import { useTriggerTexts } from "./texts";

const DAYS = 7;

/** Every trigger of the user's spaces, and what will start in the next days. */
export function TriggersPage() {
  const t = useTriggerTexts();
  const triggers = useQuery(triggersQuery());
  return (
    <div className="mx-auto flex max-w-6xl flex-col gap-6 px-4 py-6 lg:px-8">
      <header>
        <h1 className="font-semibold text-2xl">{t("triggers")}</h1>
        <p className="mt-0.5 text-muted text-sm">{t("about_all")}</p>
      </header>
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-8 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Listing
          label={t("triggers")}
          query={triggers}
          empty={
            <EmptyState
              icon={<AlarmClock />}
              title={t("none")}
              action={
                <Link to="/" className={buttonLook()}>
                  {t("to_flows")}
                </Link>
              }
            >
              {t("none_all")}
            </EmptyState>
          }
        >
          {(trigger) => <TriggerItem key={trigger.id} trigger={trigger} ofFlow={false} />}
        </Listing>
        <section aria-label={t("coming_up")} className="flex min-w-0 flex-col gap-3">
          <h2 className="flex items-center gap-2 font-semibold">
            <CalendarClock aria-hidden className="size-4.5 text-faint" />
            {t("coming_up")}
          </h2>
          <p className="text-muted text-xs">{t("your_time", { zone: browserTimeZone() })}</p>
          <Agenda />
        </section>
      </div>
    </div>
  );
}

function Agenda() {
  const t = useTriggerTexts();
  const agenda = useQuery(agendaQuery(DAYS));
  if (agenda.isError) return <Problem error={agenda.error} retry={() => void agenda.refetch()} />;
  if (agenda.isPending) return <Skeleton className="h-40" />;
  if (agenda.data.length === 0) return <p className="text-muted text-sm">{t("nothing_up")}</p>;
  return (
    <div className="flex max-h-[70vh] flex-col gap-4 overflow-y-auto">
      {[...byDay(agenda.data)].map(([day, entries]) => (
        <section key={day} aria-label={day}>
          <h3 className="sticky top-0 bg-canvas py-1 font-medium text-muted text-sm first-letter:uppercase">{day}</h3>
          <ol className="divide-y divide-line rounded-lg border border-line bg-surface">
            {entries.map((entry) => (
              <li key={`${entry.trigger_id} ${entry.due_at}`} className="flex flex-col gap-1 px-3 py-2 text-sm">
                <div className="flex items-baseline gap-3">
                  <time dateTime={entry.due_at} className="text-muted tabular-nums">
                    {clock(entry.due_at)}
                  </time>
                  <Link
                    to="/flows/$flowId/triggers"
                    params={{ flowId: entry.flow_id }}
                    className="min-w-0 flex-1 truncate hover:underline"
                  >
                    {entry.flow_name} <span className="text-muted">· {entry.trigger_name}</span>
                  </Link>
                </div>
                {(entry.notes ?? []).map((note) => (
                  <Chip key={note.text} tone="warn">
                    {noteWords(t, note)}
                  </Chip>
                ))}
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

function byDay(entries: readonly AgendaEntry[]): Map<string, AgendaEntry[]> {
  const days = new Map<string, AgendaEntry[]>();
  for (const entry of entries) {
    const day = dayName(entry.due_at);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return days;
}

const clock = (at: string) =>
  new Intl.DateTimeFormat(i18next.language, { hour: "2-digit", minute: "2-digit", hour12: false }).format(new Date(at));
