import { Link, useParams } from "@tanstack/react-router";
import { Play, Sparkles } from "lucide-react";
import { Button } from "@/components/ui";
import { SaveState } from "@/features/editing";
import { useDraft } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { useAppTexts } from "../texts";

const VIEW =
  "inline-flex h-7 items-center rounded-sm px-2.5 text-sm text-muted hover:text-ink data-[status=active]:bg-raised data-[status=active]:text-ink data-[status=active]:shadow-low";

/** The flow's name, its views, whether it is saved, and what is done most. */
export function FlowHeader() {
  const t = useAppTexts();
  const { flowId } = useParams({ from: "/inside/flows/$flowId" });
  const name = useDraft((state) => state.document.name);
  const { toggle } = usePanels.getState();
  const params = { flowId };
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-3 py-1.5">
      <h1 className="min-w-0 max-w-64 truncate font-semibold">{name}</h1>
      <SaveState />
      <nav
        aria-label={t("views")}
        className="flex overflow-x-auto rounded-md border border-line bg-sunken p-0.5 lg:mx-auto"
      >
        <Link
          className={VIEW}
          to="/flows/$flowId"
          params={params}
          activeOptions={{ exact: true, includeSearch: false }}
        >
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
        <Link className={VIEW} to="/flows/$flowId/publish" params={params}>
          {t("publish")}
        </Link>
      </nav>
      <div className="ml-auto flex items-center gap-2 lg:ml-0">
        <Button icon={<Sparkles />} onClick={() => toggle("assistant")}>
          {t("assistant")}
        </Button>
        <Button kind="primary" icon={<Play />} onClick={() => toggle("run")}>
          {t("run")}
        </Button>
      </div>
    </header>
  );
}
