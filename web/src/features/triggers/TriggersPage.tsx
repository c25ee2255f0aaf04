import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { AlarmClock, CalendarClock, SearchX } from "lucide-react";
import { triggersQuery } from "@/api/queries/triggers";
import { Page } from "@/components/page";
import { buttonLook, EmptyState, Listing } from "@/components/ui";
import { browserTimeZone } from "@/lib/i18n/format";
import { Agenda } from "./Agenda";
import { TriggerFilters, useTriggerFilter } from "./TriggerFilters";
import { TriggerItem } from "./TriggerItem";
import { useTriggerTexts } from "./texts";

/** Every trigger of the user's spaces, and what will start in the next days. */
export function TriggersPage() {
  const t = useTriggerTexts();
  const filter = useTriggerFilter();
  const filtered = Object.keys(filter).length > 0;
  const triggers = useQuery({ ...triggersQuery(filter), placeholderData: keepPreviousData });
  return (
    <Page title={t("triggers")} about={t("about_all")}>
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-8 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {(filtered || (triggers.data?.length ?? 0) > 0) && <TriggerFilters />}
          <Listing label={t("triggers")} query={triggers} empty={filtered ? <NoneMatches /> : <None />}>
            {(trigger) => <TriggerItem key={trigger.id} trigger={trigger} ofFlow={false} />}
          </Listing>
        </div>
        <section aria-label={t("coming_up")} className="flex min-w-0 flex-col gap-3">
          <h2 className="flex items-center gap-2 font-semibold">
            <CalendarClock aria-hidden className="size-4.5 text-faint" />
            {t("coming_up")}
          </h2>
          <p className="text-muted text-xs">{t("your_time", { zone: browserTimeZone() })}</p>
          <Agenda />
        </section>
      </div>
    </Page>
  );
}

function None() {
  const t = useTriggerTexts();
  return (
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
  );
}

function NoneMatches() {
  const t = useTriggerTexts();
  return (
    <EmptyState
      icon={<SearchX />}
      title={t("filter_none")}
      action={
        <Link to="/triggers" search={{}} className={buttonLook()}>
          {t("filter_clear")}
        </Link>
      }
    >
      {t("filter_none_more")}
    </EmptyState>
  );
}
