import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type AgendaEntry, agendaQuery } from "@/api/queries/triggers";
import { Chip, Problem, Skeleton } from "@/components/ui";
import { dayName, number } from "@/lib/i18n/format";
import { i18next } from "@/lib/i18n/i18n";
import { everyWords, noteWords } from "./model/words";
import { useTriggerTexts } from "./texts";

const DAYS = 7;

/** What schedules will start in the next days. A frequent one is one line a day. */
export function Agenda() {
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
              <Entry key={`${entry.trigger_id} ${entry.due_at}`} entry={entry} />
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

function Entry({ entry }: { entry: AgendaEntry }) {
  const t = useTriggerTexts();
  const { until, every_seconds: seconds, count = 1 } = entry;
  return (
    <li className="flex flex-col gap-1 px-3 py-2 text-sm">
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
      {until && seconds && (
        <span className="text-muted text-xs">
          {t("folded", { every: everyWords(t, seconds), count: number(count), until: untilWords(entry.due_at, until) })}
        </span>
      )}
      {(entry.notes ?? []).map((note) => (
        <Chip key={note.text} tone="warn">
          {noteWords(t, note)}
        </Chip>
      ))}
    </li>
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

/** A time of day, with its day where that is another one in this browser's time zone. */
const untilWords = (from: string, until: string) =>
  dayName(from) === dayName(until) ? clock(until) : `${dayName(until)} ${clock(until)}`;
