import { ExternalLink } from "lucide-react";
import type { Trigger } from "@/api/queries/triggers";
import { Chip, CopyButton } from "@/components/ui";
import { dateTime } from "@/lib/i18n/format";
import { useTriggerTexts } from "../texts";
import { LinkList } from "./LinkList";

/** The public page of a form, how often it was submitted, and its one-time links. */
export function FormPanel({ trigger, manages }: { trigger: Trigger; manages: boolean }) {
  const t = useTriggerTexts();
  const { config } = trigger;
  if (config.kind !== "form") return null;
  const address = trigger.path ? `${window.location.origin}${trigger.path}` : "";
  const most = config.max_submissions;
  const amount = trigger.submissions ?? 0;
  const closed = (config.closes_at && new Date(config.closes_at) <= new Date()) || (most && amount >= most);
  return (
    <div className="flex flex-col gap-3">
      {address && (
        <div className="flex items-center gap-2 rounded-md border border-line-strong bg-sunken py-1 pr-1 pl-3">
          <a
            href={address}
            target="_blank"
            rel="noopener"
            className="min-w-0 flex-1 break-all font-mono text-accent text-xs hover:underline"
          >
            {address} <ExternalLink aria-hidden className="inline size-3" />
          </a>
          <CopyButton text={address} label={t("copy_address")} />
        </div>
      )}
      <p className="flex flex-wrap items-center gap-2 text-muted text-sm">
        {closed && <Chip tone="warn">{t("form_closed")}</Chip>}
        {most ? t("form_submissions_of", { amount, most }) : t("form_submissions", { amount })}
        {config.closes_at && <span>· {t("form_closes_at", { when: dateTime(config.closes_at) })}</span>}
      </p>
      {manages && <LinkList trigger={trigger} />}
    </div>
  );
}
