import { useEffect, useState } from "react";
import { useRights } from "@/api/rights";
import { Tip } from "@/components/ui";
import { othersThere, usePresence } from "@/lib/presence";
import { useAppTexts } from "../../texts";

const MOST = 3;
const LOOK_AGAIN_MS = 10_000;

/** The other users who have this flow open, by their initials. */
export function PresentUsers() {
  const t = useAppTexts();
  const { me } = useRights();
  const readers = usePresence((state) => state.readers);
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  const others = othersThere(readers, me?.user.id);
  if (others.length === 0) return null;
  return (
    <ul aria-label={t("present")} className="flex -space-x-1.5">
      {others.slice(0, MOST).map(({ userId, name }) => (
        <li key={userId}>
          <Tip text={t("has_it_open", { who: name })}>
            <span className="flex size-7 items-center justify-center rounded-full border-2 border-surface bg-accent-soft font-semibold text-2xs text-accent">
              <span aria-hidden>{initials(name)}</span>
              <span className="sr-only">{t("has_it_open", { who: name })}</span>
            </span>
          </Tip>
        </li>
      ))}
      {others.length > MOST && (
        <li className="flex size-7 items-center justify-center rounded-full border-2 border-surface bg-sunken text-2xs text-muted">
          +{others.length - MOST}
        </li>
      )}
    </ul>
  );
}

const initials = (name: string) =>
  name
    .split(/[\s@.]+/)
    .slice(0, 2)
    .map((word) => word[0]?.toUpperCase() ?? "")
    .join("");
