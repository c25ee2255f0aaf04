import { useId } from "react";
import type { RingKey } from "@/api/queries/keyring";
import { Button, Chip, Row, type Tone } from "@/components/ui";
import { dateTime, number } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";
import { byKind, isValueKind } from "./valueKinds";

const TONES: Record<RingKey["state"], Tone> = {
  prepared: "info",
  current: "ok",
  old: "neutral",
  retired: "neutral",
  revoked: "bad",
};

interface KeyRowProps {
  ringKey: RingKey;
  /** Whether a rotation is encrypting values again. */
  reencrypting: boolean;
  onRetire: () => void;
  onRevoke: () => void;
}

/** One key: its state, dates, the values that it encrypts, and what can be done with it. */
export function KeyRow({ ringKey, reencrypting, onRetire, onRevoke }: KeyRowProps) {
  const t = useSettingsTexts();
  const reasonId = useId();
  const { id, purpose, state, values } = ringKey;
  const total = Object.values(values).reduce((sum, count) => sum + count, 0);
  const gone = state === "retired" || state === "revoked";
  // Values that are left when no rotation runs are encrypted again once the server has refused to retire the key.
  const inUse = total > 0 && reencrypting;
  const revocable = purpose === "evidence" && (state === "old" || state === "retired");
  return (
    <Row
      muted={gone}
      title={
        <>
          <code className="font-mono text-sm">{id}</code>
          <Chip tone={TONES[state]}>{t(`key_${state}`)}</Chip>
          {!ringKey.readable && !gone && <Chip tone="bad">{t("key_missing")}</Chip>}
        </>
      }
      detail={dates(t, ringKey)}
      aside={
        <>
          {state === "old" && (
            <Button
              size="sm"
              aria-label={t("retire_key", { key: id })}
              aria-describedby={inUse ? reasonId : undefined}
              disabled={inUse}
              onClick={onRetire}
            >
              {t("retire")}
            </Button>
          )}
          {revocable && (
            <Button size="sm" kind="danger" aria-label={t("revoke_what", { what: id })} onClick={onRevoke}>
              {t("revoke")}
            </Button>
          )}
        </>
      }
    >
      {ringKey.reason && <p className="mt-1 break-words text-sm text-bad">{ringKey.reason}</p>}
      {purpose === "secrets" && !gone && (
        <div className="mt-1 text-sm text-muted">
          {total === 0 ? t("key_no_values") : t("key_values", { count: total, shown: number(total) })}
          {total > 0 && (
            <ul className="mt-1 flex flex-wrap gap-1.5">
              {byKind(values).map(([kind, count]) => (
                <li
                  key={kind}
                  className="flex max-w-full gap-1.5 rounded-sm border border-line bg-sunken px-1.5 text-xs"
                >
                  <span className="truncate">{isValueKind(kind) ? t(`values_${kind}`) : kind}</span>
                  <span className="tabular-nums text-ink">{number(count)}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      {state === "old" && inUse && (
        <p id={reasonId} className="mt-1 text-sm text-muted">
          {t("retire_in_use")}
        </p>
      )}
    </Row>
  );
}

function dates(t: ReturnType<typeof useSettingsTexts>, key: RingKey): string {
  return [
    key.created_at ? t("key_created", { when: dateTime(key.created_at) }) : t("key_first"),
    key.activated_at && t("key_since", { when: dateTime(key.activated_at) }),
    key.replaced_at && t("key_replaced", { when: dateTime(key.replaced_at) }),
    key.retired_at && t("key_retired_at", { when: dateTime(key.retired_at) }),
    key.revoked_at && t("key_revoked_at", { when: dateTime(key.revoked_at) }),
  ]
    .filter(Boolean)
    .join(" · ");
}
