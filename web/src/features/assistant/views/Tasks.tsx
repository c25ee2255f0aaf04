import { Check, Link as LinkIcon, type LucideIcon, Minus, PencilLine, Plus, Settings2, Unlink } from "lucide-react";
import { useDraft } from "@/lib/draft";
import type { BuildTask, TaskKind } from "../model/message";
import { useAssistantTexts } from "../texts";

const ICONS: Record<TaskKind, LucideIcon> = {
  add: Plus,
  remove: Minus,
  connect: LinkIcon,
  disconnect: Unlink,
  configure: Settings2,
  rename: PencilLine,
};

/** What was done to the canvas, a line each, as it was done. */
export function Tasks({ tasks }: { tasks: BuildTask[] }) {
  const t = useAssistantTexts();
  return (
    <ul aria-label={t("tasks")} className="flex flex-col gap-0.5">
      {tasks.map((task) => (
        <Task key={task.key} task={task} />
      ))}
    </ul>
  );
}

function Task({ task }: { task: BuildTask }) {
  const t = useAssistantTexts();
  const Icon = ICONS[task.kind];
  const type = useDraft((state) => state.templates[task.subject]?.label);
  const subject = (task.kind === "add" && type) || task.subject;
  return (
    <li className="flex min-h-6 items-center gap-2 text-sm">
      <Icon aria-hidden className="size-3.5 shrink-0 text-faint" />
      <span className="min-w-0 flex-1 truncate">{t(`task_${task.kind}`, { subject, object: task.object })}</span>
      <Check aria-hidden className="size-3.5 shrink-0 text-ok" />
    </li>
  );
}
