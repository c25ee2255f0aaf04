import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { attentionQuery } from "@/api/queries/attention";
import { meQuery } from "@/api/queries/me";
import { approvalCountQuery, codevWaitingQuery } from "@/api/queries/waitingCounts";
import { maySomewhere } from "@/api/rights";
import { cx, Tip } from "@/components/ui";
import { usePalette } from "@/lib/commands/commands";
import { keysOf, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { alsoHolds, PLACES, type StudioPlace, shortText } from "../places";
import { useAppTexts } from "../texts";
import { AccountMenu } from "./AccountMenu";
import { Badge } from "./Badge";
import { MorePlaces } from "./MorePlaces";

const PLACE =
  "flex h-12 w-full min-w-0 max-w-20 flex-col items-center justify-center gap-0.5 rounded-md text-2xs text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent";

/** The way to every place: at the left, or at the bottom of a narrow screen. */
export function Sidebar() {
  const t = useAppTexts();
  const changed = useShortcutKeys((state) => state.changed);
  const { data: me } = useQuery(meQuery);
  const sees = me !== undefined && maySomewhere(me, "flows.view");
  const waiting = useQuery({ ...codevWaitingQuery, enabled: sees }).data?.length ?? 0;
  const approvals = useQuery({
    ...approvalCountQuery,
    enabled: me !== undefined && maySomewhere(me, "runs.start"),
  }).data;
  const attention = useQuery({
    ...attentionQuery(),
    enabled: me !== undefined && maySomewhere(me, "runs.view"),
  }).data?.items.filter(({ kind }) => kind !== "approvals").length;
  const counts = { approvals: approvals ?? 0, attention: attention ?? 0, sessions: waiting };
  const countOf = (place: StudioPlace) => ("counts" in place ? counts[place.counts] : 0);
  return (
    <nav
      aria-label={t("main_navigation")}
      className="flex shrink-0 items-center justify-around gap-1 border-t border-line bg-surface p-1.5 pb-[max(0.375rem,env(safe-area-inset-bottom))] sm:w-18 sm:flex-col sm:justify-start sm:border-t-0 sm:border-r sm:px-0.5 sm:py-3"
    >
      <Link to="/" aria-label={t("go_home")} tabIndex={-1} className="mb-2 hidden rounded-md sm:block">
        <img src="/icon.svg" alt="" width={28} height={28} />
      </Link>
      {PLACES.map((place) => (
        <PlaceLink
          key={place.id}
          place={place}
          count={countOf(place)}
          className={cx(!("primary" in place) && "max-sm:hidden")}
        />
      ))}
      <MorePlaces countOf={countOf} className={cx(PLACE, "sm:hidden")} />
      <div className="hidden flex-1 sm:block" />
      <Tip text={t("commands")} keys={keysOf("commands", changed)} side="right">
        <button
          type="button"
          aria-label={t("commands")}
          onClick={() => usePalette.getState().setOpen(true)}
          className="hidden size-9 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink sm:flex"
        >
          <Search aria-hidden className="size-4.5" />
        </button>
      </Tip>
      <AccountMenu />
    </nav>
  );
}

interface PlaceLinkProps {
  place: StudioPlace;
  count: number;
  className?: string;
}

function PlaceLink({ place, count, className }: PlaceLinkProps) {
  const t = useAppTexts();
  const Icon = place.icon;
  const first = useLocation({ select: ({ pathname }) => pathname.split("/")[1] ?? "" });
  const also = alsoHolds(place, first);
  return (
    <Link
      to={place.to}
      {...(also ? { "data-status": "active", "aria-current": "true" } : {})}
      activeOptions={{ exact: place.to === "/", includeSearch: false }}
      className={cx(PLACE, className)}
    >
      <span className="relative">
        <Icon aria-hidden className="size-4.5" />
        {count > 0 && <Badge count={count} />}
      </span>
      <span className="max-w-full truncate">{t(shortText(place))}</span>
    </Link>
  );
}
