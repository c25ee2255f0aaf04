import { ChevronLeft, ChevronRight, PencilLine } from "lucide-react";
import { useState } from "react";
import { DiffView } from "@/components/diff/DiffView";
import { Button, Chip, IconButton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import { pendingEdits } from "../model/edits";
import type { AssistantMessage, FieldEdit } from "../model/message";
import { useAssistantTexts } from "../texts";
import { Card } from "./Card";
import { useAssistant, useConversation } from "./context";

/** Values that are proposed for fields, one after the other, each with what it would change. */
export function EditCards({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  const [at, setAt] = useState(0);
  const { edits } = message;
  const edit = edits[Math.min(at, edits.length - 1)];
  if (!edit) return null;
  const go = (by: number) => setAt((edits.indexOf(edit) + by + edits.length) % edits.length);
  const toNextOpen = () => {
    const open = edits.findIndex((one) => one.state === "pending" && one.id !== edit.id);
    if (open >= 0) setAt(open);
  };
  return (
    <Card
      icon={<PencilLine />}
      title={t("edits")}
      aside={edits.length > 1 && <Walk at={edits.indexOf(edit)} all={edits.length} go={go} />}
      footer={<Choices message={message} edit={edit} onDecided={toNextOpen} />}
    >
      <Edit edit={edit} />
      {message.continues && pendingEdits(message).length > 0 && (
        <p className="mt-2 text-xs text-muted">{t("continuing")}</p>
      )}
    </Card>
  );
}

function Walk({ at, all, go }: { at: number; all: number; go: (by: number) => void }) {
  const t = useAssistantTexts();
  return (
    <span className="flex items-center gap-0.5">
      <IconButton size="sm" label={t("previous")} onClick={() => go(-1)}>
        <ChevronLeft />
      </IconButton>
      <span className="text-xs text-muted tabular-nums">{t("edit_of", { at: at + 1, all })}</span>
      <IconButton size="sm" label={t("next")} onClick={() => go(1)}>
        <ChevronRight />
      </IconButton>
    </span>
  );
}

function Edit({ edit }: { edit: FieldEdit }) {
  const t = useAssistantTexts();
  const node = useDraft(({ document, templates }) => {
    const known = document.nodes[edit.nodeId];
    return known ? nodeName(known, templates) : edit.nodeId;
  });
  const field = useDraft(
    (state) => state.templates[edit.nodeType]?.fields?.find((one) => one.name === edit.field)?.label || edit.field,
  );
  return (
    <>
      <p className="mb-1.5">
        <span className="font-medium">{node}</span> <span className="text-muted">{field}</span>
      </p>
      {edit.description && <p className="mb-1.5 text-sm text-muted">{edit.description}</p>}
      <DiffView before={shown(edit.before)} after={shown(edit.after)} label={t("edit_diff", { field, node })} />
    </>
  );
}

/** A value as text a person reads: long texts by line, everything else as it is written. */
function shown(value: FieldEdit["before"]): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function Choices({ message, edit, onDecided }: { message: AssistantMessage; edit: FieldEdit; onDecided: () => void }) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const busy = useAssistant((state) => state.working !== null);
  const editable = useDraft((state) => state.editable);
  const open = pendingEdits(message).map((one) => one.id);
  const accept = (ids: string[]) => void conversation.acceptEdits(message.id, ids).then(onDecided);
  const dismiss = (ids: string[]) => void conversation.dismissEdits(message.id, ids).then(onDecided);
  const decided = edit.state !== "pending";
  return (
    <>
      {decided ? (
        <Chip tone={edit.state === "applied" ? "ok" : edit.state === "stale" ? "warn" : "neutral"}>
          {t(edit.state as "applied" | "stale" | "dismissed")}
        </Chip>
      ) : (
        <>
          <Button size="sm" kind="primary" disabled={busy || !editable} onClick={() => accept([edit.id])}>
            {t("accept")}
          </Button>
          <Button size="sm" kind="ghost" disabled={busy} onClick={() => dismiss([edit.id])}>
            {t("dismiss")}
          </Button>
        </>
      )}
      {open.length > 1 && (
        <span className="ml-auto flex gap-2">
          <Button size="sm" disabled={busy || !editable} onClick={() => accept(open)}>
            {t("accept_all")}
          </Button>
          <Button size="sm" kind="ghost" disabled={busy} onClick={() => dismiss(open)}>
            {t("dismiss_all")}
          </Button>
        </span>
      )}
    </>
  );
}
