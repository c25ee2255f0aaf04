import { Link } from "@tanstack/react-router";
import type { QueueLimit } from "@/api/queries/queue";
import { Chip, Progress, Row, Rows } from "@/components/ui";
import { ago, number } from "@/lib/i18n/format";
import { type QueueTexts, useQueueTexts } from "./texts";

/** The limits in use: how much of each, who waits for it, and where it is changed. */
export function Limits({ limits, nameOf }: { limits: readonly QueueLimit[]; nameOf: (limit: QueueLimit) => string }) {
  const t = useQueueTexts();
  return (
    <section aria-label={t("limits")}>
      <h2 className="mb-2 font-semibold">{t("limits")}</h2>
      {limits.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-4 py-3 text-muted">{t("limits_none")}</p>
      ) : (
        <Rows label={t("limits")}>
          {limits.map((limit) => (
            <LimitRow key={limit.name} limit={limit} name={nameOf(limit)} />
          ))}
        </Rows>
      )}
    </section>
  );
}

/** What a limit is called, with the name of its space. */
export const limitName = (t: QueueTexts, { kind, title }: QueueLimit, space?: string) =>
  t(`limit_${kind}`, { title: kind === "space" ? (space ?? "") : title });

function LimitRow({ limit, name }: { limit: QueueLimit; name: string }) {
  const t = useQueueTexts();
  const { used, most, waiting, oldest_at } = limit;
  return (
    <Row
      title={
        <>
          <span>{name}</span>
          {waiting > 0 && <Chip tone="warn">{t("queued_for_it", { count: number(waiting) })}</Chip>}
        </>
      }
      detail={[
        t("used", { used: number(used), most: number(most) }),
        ...(oldest_at ? [t("oldest", { when: ago(oldest_at) })] : []),
      ].join(" · ")}
      aside={<Way limit={limit} name={name} />}
    >
      <div className="mt-2">
        <Progress value={Math.min(1, used / most)} label={name} />
      </div>
    </Row>
  );
}

const SECTIONS = { model: "models", connection: "connections", space: "limits", tenant: "limits" } as const;

/** The place where the limit is changed; that of a key is in the policy of each step that has it. */
function Way({ limit, name }: { limit: QueueLimit; name: string }) {
  const t = useQueueTexts();
  const look = "rounded-sm text-sm text-accent hover:underline";
  const label = t("change_limit_of", { name });
  if (limit.kind === "key" || (limit.kind === "flow" && !limit.flow_id)) return null;
  if (limit.flow_id) {
    return (
      <Link to="/flows/$flowId" params={{ flowId: limit.flow_id }} className={look} aria-label={label}>
        {t("change_limit")}
      </Link>
    );
  }
  const section = SECTIONS[limit.kind as keyof typeof SECTIONS];
  return (
    <Link to="/settings/{-$section}" params={{ section }} className={look} aria-label={label}>
      {t("change_limit")}
    </Link>
  );
}
