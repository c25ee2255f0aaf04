import { Link, useRouterState } from "@tanstack/react-router";
import { Ellipsis, Search } from "lucide-react";
import { useState } from "react";
import { cx, Dialog } from "@/components/ui";
import { usePalette } from "@/lib/commands/commands";
import { alsoHolds, PLACES, type StudioPlace } from "../places";
import { useAppTexts } from "../texts";
import { Badge } from "./Badge";

const OTHERS = PLACES.filter((place) => !("primary" in place));
const ENTRY =
  "flex h-20 w-full flex-col items-center justify-center gap-1.5 rounded-lg border border-line bg-raised text-sm hover:bg-hover data-[status=active]:border-accent data-[status=active]:bg-accent-soft data-[status=active]:text-accent [&_svg]:size-5";

interface MorePlacesProps {
  countOf: (place: StudioPlace) => number;
  className: string;
}

/** The places that the bar of a narrow screen has no room for, in a sheet; its button is marked while one is open. */
export function MorePlaces({ countOf, className }: MorePlacesProps) {
  const t = useAppTexts();
  const [open, setOpen] = useState(false);
  const first = useRouterState({ select: ({ location }) => location.pathname.split("/")[1] ?? "" });
  const here = OTHERS.some((place) => place.id === first || alsoHolds(place, first));
  const waiting = OTHERS.reduce((sum, place) => sum + countOf(place), 0);
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
        className={className}
        {...(here ? { "data-status": "active" } : {})}
      >
        <span className="relative">
          <Ellipsis aria-hidden className="size-4.5" />
          {waiting > 0 && <Badge count={waiting} />}
        </span>
        <span className="max-w-full truncate">{t("more_places")}</span>
      </button>
      <Dialog open={open} onOpenChange={setOpen} title={t("more_places")} size="sm">
        <ul className="grid grid-cols-2 gap-2">
          {OTHERS.map((place) => (
            <li key={place.id}>
              <Link
                to={place.to}
                {...(alsoHolds(place, first) ? { "data-status": "active" } : {})}
                activeOptions={{ includeSearch: false }}
                onClick={() => setOpen(false)}
                className={ENTRY}
              >
                <span className="relative">
                  <place.icon aria-hidden />
                  {countOf(place) > 0 && <Badge count={countOf(place)} />}
                </span>
                {t(place.text)}
              </Link>
            </li>
          ))}
          <li>
            <button
              type="button"
              className={cx(ENTRY)}
              onClick={() => {
                setOpen(false);
                setTimeout(() => usePalette.getState().setOpen(true), 0);
              }}
            >
              <Search aria-hidden />
              {t("commands")}
            </button>
          </li>
        </ul>
      </Dialog>
    </>
  );
}
