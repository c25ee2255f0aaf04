import { useNavigate } from "@tanstack/react-router";
import { ChevronDown, ChevronRight, ChevronUp, EllipsisVertical, Play, Trash2, Workflow } from "lucide-react";
import { issueNode } from "@/components/fields";
import { KindIcon } from "@/components/icons/ComponentIcon";
import { modelName } from "@/components/models/modelValue";
import { Chip, cx, IconButton, Menu, toast } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useRequests } from "@/lib/requests";
import type { Wiring } from "@/lib/wiring";
import { AddStep } from "./AddStep";
import { swapped } from "./lanes";
import { useStepTexts } from "./texts";

interface StepHeadProps {
  id: string;
  name: string;
  number: number;
  wiring: Wiring;
  open: boolean;
  onOpen: (open: boolean) => void;
  onAdded: (id: string) => void;
  onMove: (up: boolean) => void;
}

/** A step's number, its name as a title that is written in place, and what is done with it. */
export function StepHead({ id, name, number, wiring, open, onOpen, onAdded, onMove }: StepHeadProps) {
  const t = useStepTexts();
  const store = useDraftStore();
  const node = useDraft((state) => state.document.nodes[id]);
  const template = useDraft((state) => state.templates[node?.type ?? ""]);
  const problems = useDraft(
    (state) => state.issues.filter((issue) => issue.severity !== "warning" && issueNode(issue) === id).length,
  );
  const editable = useDraft((state) => state.editable);
  if (!node) return null;
  const model = modelName(node.params?.model);
  return (
    <header className="flex items-center gap-1.5 py-2 pr-2 pl-2.5">
      <IconButton
        size="sm"
        label={t(open ? "collapse" : "expand", { name })}
        aria-expanded={open}
        onClick={() => onOpen(!open)}
      >
        <ChevronRight className={cx("transition-transform", open && "rotate-90")} />
      </IconButton>
      <span aria-hidden className="w-5 shrink-0 text-center font-medium text-faint text-sm">
        {number}
      </span>
      <KindIcon template={template} className="size-4.5 shrink-0" />
      <input
        aria-label={t("title_of", { number })}
        value={node.label ?? ""}
        placeholder={template?.label ?? node.type}
        maxLength={200}
        disabled={!editable}
        onChange={(event) => store.getState().setLabel(id, event.target.value)}
        className="h-7 min-w-0 flex-1 truncate rounded-md border border-transparent bg-transparent px-1.5 font-bold placeholder:text-ink hover:border-line focus:border-line-strong"
      />
      <span className="hidden min-w-0 items-center gap-1.5 sm:flex">
        {problems > 0 && <Chip tone="bad">{t("issues", { count: problems })}</Chip>}
        {model && <Chip className="max-w-40">{model.name}</Chip>}
        {node.label && <Chip className="max-w-32">{template?.label ?? node.type}</Chip>}
      </span>
      {editable && <Actions id={id} name={name} wiring={wiring} onMove={onMove} onAdded={onAdded} />}
    </header>
  );
}

function Actions({
  id,
  name,
  wiring,
  onMove,
  onAdded,
}: Pick<StepHeadProps, "id" | "name" | "wiring" | "onMove" | "onAdded">) {
  const t = useStepTexts();
  const store = useDraftStore();
  const navigate = useNavigate();
  const flowId = useDraft((state) => state.flowId);
  const above = (wiring.parents[id] ?? []).length === 1 ? wiring.parents[id]?.[0] : undefined;
  const canUp = useDraft(
    (state) => above !== undefined && swapped(state.document, state.templates, wiring, above) !== null,
  );
  const canDown = useDraft((state) => swapped(state.document, state.templates, wiring, id) !== null);
  const remove = () => {
    store.getState().removeNodes([id]);
    toast({ title: t("removed", { name }), action: { label: t("undo"), onClick: () => store.getState().undo() } });
  };
  const show = () => {
    store.getState().focusNode(id);
    void navigate({ to: "/flows/$flowId", params: { flowId }, search: { ask: undefined } });
  };
  return (
    <span className="flex shrink-0 items-center">
      {canUp && (
        <IconButton size="sm" label={t("up", { name })} onClick={() => onMove(true)}>
          <ChevronUp />
        </IconButton>
      )}
      {canDown && (
        <IconButton size="sm" label={t("down", { name })} onClick={() => onMove(false)}>
          <ChevronDown />
        </IconButton>
      )}
      <AddStep after={id} between={name} onAdded={onAdded} />
      <Menu
        items={[
          { id: "run", label: t("run"), icon: <Play />, onSelect: () => useRequests.getState().requestRun("node", id) },
          { id: "show", label: t("show"), icon: <Workflow />, onSelect: show },
          { kind: "line", id: "line" },
          { id: "remove", label: t("remove"), icon: <Trash2 />, danger: true, onSelect: remove },
        ]}
      >
        <IconButton size="sm" label={t("more", { name })}>
          <EllipsisVertical />
        </IconButton>
      </Menu>
    </span>
  );
}
