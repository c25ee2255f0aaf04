import { Link, useNavigate } from "@tanstack/react-router";
import {
  AlarmClock,
  Check,
  Eye,
  FlaskConical,
  History,
  LayoutDashboard,
  ListOrdered,
  Network,
  Rocket,
} from "lucide-react";
import { useEffect, useRef } from "react";
import { KindIcon } from "@/components/icons";
import { runWhenOffered, useCommands } from "@/lib/commands/commands";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useAppTexts } from "../../texts";
import { useFlowView } from "../place";

const VIEW =
  "inline-flex h-7 items-center gap-0.5 whitespace-nowrap rounded-sm px-0.75 text-xs text-muted @4xl:gap-1.5 @4xl:px-2.5 @4xl:text-sm transition-colors hover:text-ink data-[status=active]:bg-raised data-[status=active]:text-ink data-[status=active]:shadow-low";

export const VIEWS = [
  { to: "/flows/$flowId", text: "canvas", icon: Network },
  { to: "/flows/$flowId/steps", text: "steps", icon: ListOrdered },
  { to: "/flows/$flowId/overview", text: "overview", icon: Eye },
  { to: "/flows/$flowId/runs", text: "runs", icon: History },
  { to: "/flows/$flowId/tests", text: "tests", icon: FlaskConical },
  { to: "/flows/$flowId/triggers", text: "triggers", icon: AlarmClock },
  { to: "/flows/$flowId/publish", text: "publish", icon: Rocket },
] as const;

/** The views of the open flow, for the command palette. */
export function useViewCommands(flowId: string): void {
  const t = useAppTexts();
  const navigate = useNavigate();
  useCommands("flow.views", () =>
    VIEWS.map(({ to, text, icon: Icon }) => ({
      id: `flow.view.${text}`,
      group: t("this_flow"),
      label: t(text),
      icon: <Icon />,
      run: () => void navigate({ to, params: { flowId } }),
    })),
  );
}

/** What only the canvas does, offered in the other views too: it opens the canvas first. */
export function useCanvasCommandsElsewhere(flowId: string): void {
  const t = useAppTexts();
  const navigate = useNavigate();
  const view = useFlowView();
  const store = useDraftStore();
  const go = (id: string) => {
    void navigate({ to: "/flows/$flowId", params: { flowId } });
    runWhenOffered(id);
  };
  useCommands("flow.canvas", () => {
    const { editable, templates } = store.getState();
    if (view === "" || !editable) return [];
    return [
      {
        id: "flow.layout",
        sameAs: "canvas.layout",
        group: t("this_flow"),
        label: t("auto_layout"),
        icon: <LayoutDashboard />,
        run: () => go("canvas.layout"),
      },
      ...Object.values(templates).map((template) => ({
        id: `flow.add.${template.type}`,
        sameAs: `canvas.add.${template.type}`,
        group: t("this_flow"),
        label: t("add_component", { what: template.label }),
        keywords: `${template.type} ${(template.keywords ?? []).join(" ")}`,
        icon: <KindIcon template={template} />,
        searchedOnly: true,
        run: () => go(`canvas.add.${template.type}`),
      })),
    ];
  });
}

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
      {VIEWS.map(({ to, text }) => (
        <Link
          key={text}
          className={VIEW}
          to={to}
          params={params}
          activeOptions={{ exact: text === "canvas", includeSearch: text !== "canvas" }}
        >
          {t(text)}
          {text === "publish" && published && (
            <span aria-label={t("is_published")} title={t("is_published")} role="img">
              <Check className="size-3.5 text-ok" />
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}
