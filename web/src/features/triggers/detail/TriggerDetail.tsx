import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { nextFiringsQuery, type Trigger } from "@/api/queries/triggers";
import { dateTime } from "@/lib/i18n/format";
import { isPoll } from "../add/polls";
import { useTriggerTexts } from "../texts";
import { AddressPanel } from "./AddressPanel";
import { FiringList } from "./FiringList";
import { FormPanel } from "./FormPanel";
import { OccurrenceList } from "./OccurrenceList";
import { OwnerLine } from "./OwnerLine";
import { PollPanel } from "./PollPanel";
import { TriggerFigures } from "./TriggerFigures";

/** What a trigger will do, has done, and where it is called. */
export function TriggerDetail({ trigger, manages }: { trigger: Trigger; manages: boolean }) {
  const t = useTriggerTexts();
  const scheduled = trigger.kind === "schedule" && trigger.enabled;
  const { data: firings = [] } = useQuery({ ...nextFiringsQuery(trigger.id), enabled: scheduled });
  return (
    <div className="mt-3 flex flex-col gap-4 border-t border-line pt-3">
      <OwnerLine trigger={trigger} manages={manages} />
      {scheduled && trigger.polled_at && !trigger.poll_error && (
        <p className="text-sm text-muted">
          {t("calendar_read", { when: dateTime(trigger.polled_at), amount: trigger.calendar_days?.length ?? 0 })}
        </p>
      )}
      {trigger.kind === "webhook" && (
        <Part title={t("address")}>
          <AddressPanel trigger={trigger} manages={manages} />
        </Part>
      )}
      {trigger.kind === "form" && (
        <Part title={t("form")}>
          <FormPanel trigger={trigger} manages={manages} />
        </Part>
      )}
      {isPoll(trigger.kind) && (
        <Part title={t("poll")}>
          <PollPanel trigger={trigger} manages={manages} />
        </Part>
      )}
      <Part title={t("figures")}>
        <TriggerFigures triggerId={trigger.id} />
      </Part>
      <div className="grid gap-4 lg:grid-cols-2">
        {scheduled && (
          <Part title={t("next_firings")}>
            <FiringList firings={firings} />
          </Part>
        )}
        <Part title={t("occurrences")}>
          <OccurrenceList triggerId={trigger.id} flowId={trigger.flow_id} manages={manages} />
        </Part>
      </div>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-1.5">
      <h3 className="font-medium text-sm">{title}</h3>
      {children}
    </section>
  );
}
