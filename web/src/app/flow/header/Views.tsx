import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { useEffect, useRef } from "react";
import { useDraft } from "@/lib/draft";
import { useAppTexts } from "../../texts";
import { useFlowView } from "../place";

const VIEW =
  "inline-flex h-7 items-center gap-1.5 whitespace-nowrap rounded-sm px-2.5 text-sm text-muted transition-colors hover:text-ink data-[status=active]:bg-raised data-[status=active]:text-ink data-[status=active]:shadow-low";

/** The views of one flow. */
export function Views({ flowId }: { flowId: string }) {
  const t = useAppTexts();
  const published = useDraft((state) => state.publishedVersion !== null);
  const params = { flowId };
  const bar = useRef<HTMLElement>(null);
  const view = useFlowView();
  // On a narrow screen not all stand in the bar at once: the one that is shown does.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view is another active link
  useEffect(() => {
    const active = bar.current?.querySelector<HTMLElement>("[data-status=active]");
    if (active && bar.current)
      bar.current.scrollLeft = active.offsetLeft + active.offsetWidth - bar.current.clientWidth;
  }, [view]);
  return (
    <nav
      ref={bar}
      aria-label={t("views")}
      className="relative order-last flex w-full justify-center-safe overflow-x-auto rounded-md border border-line bg-sunken p-0.5 @4xl:order-none @4xl:w-auto"
    >
      <Link className={VIEW} to="/flows/$flowId" params={params} activeOptions={{ exact: true, includeSearch: false }}>
        {t("canvas")}
      </Link>
      <Link className={VIEW} to="/flows/$flowId/steps" params={params}>
        {t("steps")}
      </Link>
      <Link className={VIEW} to="/flows/$flowId/overview" params={params}>
        {t("overview")}
      </Link>
      <Link className={VIEW} to="/flows/$flowId/runs" params={params}>
        {t("runs")}
      </Link>
      <Link className={VIEW} to="/flows/$flowId/tests" params={params}>
        {t("tests")}
      </Link>
      <Link className={VIEW} to="/flows/$flowId/publish" params={params}>
        {t("publish")}
        {published && (
          <span aria-label={t("is_published")} title={t("is_published")} role="img">
            <Check className="size-3.5 text-ok" />
          </span>
        )}
      </Link>
    </nav>
  );
}
