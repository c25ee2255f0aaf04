import { useQuery } from "@tanstack/react-query";
import { Radio } from "lucide-react";
import { useState } from "react";
import { catchCall, caughtQuery, type Trigger, triggerKeys } from "@/api/queries/triggers";
import { Button, Chip, CopyButton } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useTriggerTexts } from "../texts";

/** The public address of a webhook, and its test mode. */
export function AddressPanel({ trigger, manages }: { trigger: Trigger; manages: boolean }) {
  const t = useTriggerTexts();
  const [asked, setAsked] = useState(trigger.catching ?? false);
  const begin = useChange({
    change: () => catchCall(trigger.id),
    touches: [triggerKeys.caught(trigger.id)],
    failed: t("failed"),
  });
  const { data } = useQuery({ ...caughtQuery(trigger.id), enabled: asked && manages && !begin.isPending });
  const address = `${window.location.origin}${trigger.path ?? ""}`;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center gap-2 rounded-md border border-line-strong bg-sunken py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 break-all font-mono text-xs">{address}</code>
        <CopyButton text={address} label={t("copy_address")} />
      </div>
      {manages && (
        <div className="flex flex-wrap items-center gap-2 text-sm">
          <Button
            size="sm"
            icon={<Radio />}
            busy={begin.isPending || (data?.waiting ?? false)}
            onClick={() => begin.mutate(undefined, { onSuccess: () => setAsked(true) })}
          >
            {t("catch")}
          </Button>
          <span className="text-muted" aria-live="polite">
            {data?.waiting ? t("catching") : t("catch_about")}
          </span>
        </div>
      )}
      {data?.call && <CaughtCall call={data.call} />}
    </div>
  );
}

function CaughtCall({ call }: { call: Record<string, unknown> }) {
  const t = useTriggerTexts();
  const verified = call.verified === true;
  const headers = Object.entries((call.headers ?? {}) as Record<string, string>);
  return (
    <section aria-label={t("caught")} className="flex flex-col gap-2 rounded-md border border-line bg-sunken p-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium text-sm">{t("caught")}</span>
        <Chip tone={verified ? "ok" : "bad"}>
          {verified ? t("verified") : t("not_verified", { reason: String(call.refusal ?? "") })}
        </Chip>
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 font-mono text-xs">
        {headers.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="break-all">{value}</dd>
          </div>
        ))}
      </dl>
      {call.text ? (
        <pre className="max-h-60 overflow-auto whitespace-pre-wrap break-all font-mono text-xs">
          {String(call.text)}
        </pre>
      ) : null}
    </section>
  );
}
