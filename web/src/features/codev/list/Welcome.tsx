import { Link } from "@tanstack/react-router";
import { Hammer } from "lucide-react";
import { useRights } from "@/api/rights";
import { START_LINK } from "../start/startLink";
import { TEACH } from "../start/teach";
import { useCodevTexts } from "../texts";

/** No session yet: what the agent does, in four steps, and the way to begin. */
export function Welcome() {
  const t = useCodevTexts();
  const starts = useRights().may("flows.edit");
  return (
    <section aria-label={t("welcome")} className="mx-auto flex max-w-2xl flex-col items-center gap-6 py-8 text-center">
      <div>
        <div className="mx-auto mb-3 flex size-11 items-center justify-center rounded-lg bg-accent-soft text-accent">
          <Hammer aria-hidden className="size-5.5" />
        </div>
        <h2 className="text-lg font-semibold">{t("welcome")}</h2>
        <p className="mt-1 text-muted">{t("welcome_more")}</p>
      </div>
      <ol className="grid w-full gap-px overflow-hidden rounded-lg border border-line bg-line text-left sm:grid-cols-2">
        {TEACH.map(({ icon: Icon, text }, at) => (
          <li key={text} className="flex gap-3 bg-surface p-4">
            <Icon aria-hidden className="mt-0.5 size-4.5 shrink-0 text-accent" />
            <div className="min-w-0">
              <h3 className="font-medium">
                {at + 1}. {t(text)}
              </h3>
              <p className="mt-0.5 text-sm text-muted">{t(`${text}_more`)}</p>
            </div>
          </li>
        ))}
      </ol>
      {starts ? (
        <Link to="/develop/new" className={START_LINK}>
          {t("start_first")}
        </Link>
      ) : (
        <p className="text-sm text-muted">{t("start_not_allowed")}</p>
      )}
      <p className="max-w-prose text-sm text-muted">{t("not_assistant")}</p>
    </section>
  );
}
