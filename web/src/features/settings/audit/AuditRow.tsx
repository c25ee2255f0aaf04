import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { AuditEntry } from "@/api/queries/audit";
import { cx } from "@/components/ui";
import { ValueView } from "@/components/values/ValueView";
import { dateTime } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";
import { nameOf, purposeOf, spelledOut, textOf } from "./saidOf";

/** One entry: who, what, when; opened it shows what was asked for. */
export function AuditRow({ entry }: { entry: AuditEntry }) {
  const t = useSettingsTexts();
  const [open, setOpen] = useState(false);
  const { actor, resource } = entry;
  const said = textOf(entry.action);
  const purpose = purposeOf(entry);
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        className="grid w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 px-4 py-2 text-left hover:bg-hover md:grid-cols-[auto_11rem_1fr_minmax(0,8rem)_auto]"
        onClick={() => setOpen(!open)}
      >
        <ChevronRight
          aria-hidden
          className={cx("size-4 shrink-0 text-faint transition-transform", open && "rotate-90")}
        />
        <span className="truncate font-medium">{said ? t(said) : spelledOut(entry.action)}</span>
        <span className="truncate max-md:order-1 max-md:col-span-2 max-md:col-start-2">{nameOf(resource, t)}</span>
        <span className="truncate text-sm text-muted max-md:order-2 max-md:col-start-2 md:text-right">
          {actor.name || actor.kind}
        </span>
        <time className="text-sm text-muted tabular-nums max-md:order-3" dateTime={entry.at}>
          {dateTime(entry.at)}
        </time>
      </button>
      {open && (
        <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 border-t border-line bg-canvas px-4 py-3 text-sm [&_dt]:text-muted">
          <dt>{t("entry")}</dt>
          <dd className="tabular-nums">{entry.seq}</dd>
          {actor.address && (
            <>
              <dt>{t("from_address")}</dt>
              <dd>{actor.address}</dd>
            </>
          )}
          {actor.key_prefix && (
            <>
              <dt>{t("with_key")}</dt>
              <dd className="font-mono text-xs">{actor.key_prefix}…</dd>
            </>
          )}
          {purpose && (
            <>
              <dt>{t("read_for")}</dt>
              <dd>{t(purpose)}</dd>
            </>
          )}
          <dt>{t("hash")}</dt>
          <dd className="break-all font-mono text-xs">{entry.hash}</dd>
          {entry.payload !== null && (
            <>
              <dt>{t("asked_for")}</dt>
              <dd className="min-w-0 overflow-x-auto">
                <ValueView value={entry.payload} />
              </dd>
            </>
          )}
        </dl>
      )}
    </li>
  );
}
