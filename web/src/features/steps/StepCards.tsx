import { ChevronsDownUp, ChevronsUpDown, ListTree } from "lucide-react";
import { useMemo, useState } from "react";
import { Button, EmptyState } from "@/components/ui";
import { useDraft, useDraftParts } from "@/lib/draft";
import { wiringOf } from "@/lib/wiring";
import { AddStep } from "./AddStep";
import { FormCard, ResultCard } from "./EndCards";
import { lanesOf } from "./lanes";
import { StepCard } from "./StepCard";
import { useStepTexts } from "./texts";

/** The draft as cards in order: the form, the steps, the result. */
export function StepCards() {
  const t = useStepTexts();
  const { nodes, order, edges, templates, editable } = useDraftParts(({ document, templates, editable }) => ({
    nodes: document.nodes,
    order: document.order,
    edges: document.edges,
    templates,
    editable,
  }));
  const wiring = useMemo(() => wiringOf({ nodes, order, edges }, templates), [nodes, order, edges, templates]);
  const lanes = useMemo(() => lanesOf(wiring), [wiring]);
  const first = useDraft((state) => state.selectedNodes[0]);
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(first ? [first] : []));
  const setOne = (id: string, on: boolean) =>
    setOpen((now) => new Set(on ? [...now, id] : [...now].filter((one) => one !== id)));
  const splits = lanes.some((lane) => lane.depth > 0);
  const anyOpen = lanes.some((lane) => open.has(lane.id));
  return (
    <div className="h-full overflow-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-3 px-3 py-5 sm:px-6">
        <header className="flex flex-wrap items-center gap-2">
          <div className="min-w-0 flex-1">
            <h2 className="font-semibold text-lg">{t("title")}</h2>
            <p className="text-muted text-sm">{t("about")}</p>
          </div>
          {lanes.length > 0 && (
            <Button
              size="sm"
              kind="ghost"
              icon={anyOpen ? <ChevronsDownUp /> : <ChevronsUpDown />}
              onClick={() => setOpen(anyOpen ? new Set() : new Set(lanes.map((lane) => lane.id)))}
            >
              {t(anyOpen ? "collapse_all" : "expand_all")}
            </Button>
          )}
        </header>
        <FormCard />
        {splits && <p className="text-muted text-xs">{t("branch_about")}</p>}
        {lanes.length === 0 && (
          <EmptyState icon={<ListTree />} title={t("empty")}>
            {t("empty_about")}
          </EmptyState>
        )}
        <ol className="flex flex-col gap-3">
          {lanes.map((lane, index) => (
            <StepCard
              key={lane.id}
              lane={lane}
              number={index + 1}
              wiring={wiring}
              open={open.has(lane.id)}
              onOpen={(on) => setOne(lane.id, on)}
              onAdded={(id) => setOne(id, true)}
            />
          ))}
        </ol>
        {editable && <AddStep after={lanes.at(-1)?.id ?? null} onAdded={(id) => setOne(id, true)} />}
        <ResultCard wiring={wiring} />
      </div>
    </div>
  );
}
