import type { RingKey } from "@/api/queries/keyring";
import { Callout, Progress } from "@/components/ui";
import { number } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";

interface RotationProps {
  /** The key that is being introduced. */
  running: RingKey;
  keys: readonly RingKey[];
}

/** How a rotation proceeds: the processes that it waits for, the values that are encrypted again, what blocks it. */
export function Rotation({ running, keys }: RotationProps) {
  const t = useSettingsTexts();
  const missing = Object.entries(running.unreadable);
  const processes = running.waiting_for.join(", ");
  const done = sum([running]);
  const all = sum(keys);
  if (missing.length > 0) {
    return (
      <Callout tone="warn" title={t("rotation_blocked")}>
        {missing.map(([key, count]) => (
          <p key={key}>{t("rotation_missing", { count, shown: number(count), key: key || t("key_unknown") })}</p>
        ))}
      </Callout>
    );
  }
  if (running.state === "prepared" || all === done) {
    return (
      <Callout title={t("rotation_runs")}>
        {processes ? t("rotation_waits", { processes }) : t("rotation_starts")}
      </Callout>
    );
  }
  return (
    <div className="flex flex-col gap-1.5 rounded-lg border border-line bg-surface px-4 py-3">
      <p role="status" className="text-sm">
        {t("rotation_encrypts", { done: number(done), all: number(all) })}
      </p>
      <Progress value={done / all} label={t("rotation_runs")} />
      {processes && <p className="text-sm text-muted">{t("rotation_waits", { processes })}</p>}
    </div>
  );
}

const sum = (keys: readonly RingKey[]) =>
  keys.flatMap((key) => Object.values(key.values)).reduce((total, count) => total + count, 0);
