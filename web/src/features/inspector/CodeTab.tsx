import { Undo2 } from "lucide-react";
import { useState } from "react";
import { CodeEditor } from "@/components/code";
import { Button, Callout, toast } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { CodeCheck, type CodeFinding, findingsOf } from "./CodeCheck";
import { useInspectorTexts } from "./texts";

const NO_FINDINGS: CodeFinding[] = [];

/** The code that a node carries: read, changed, checked. What came with the installation has none here. */
export function CodeTab({ nodeId }: { nodeId: string }) {
  const t = useInspectorTexts();
  const store = useDraftStore();
  const node = useDraft((state) => state.document.nodes[nodeId]);
  const saved = useDraft((state) => state.base.nodes[nodeId]?.code);
  const editable = useDraft((state) => state.editable);
  const [findings, setFindings] = useState(NO_FINDINGS);
  const [opened] = useState(node?.code ?? saved ?? null);
  if (!node?.code && !opened) return <Callout tone="info">{t("built_in")}</Callout>;
  const code = node?.code ?? "";
  const set = (next: string) => {
    const type = node?.type;
    setFindings(NO_FINDINGS);
    // In one flow one type has one code: the nodes of a type change together.
    store.getState().change({ label: "Edit code", merge: `code:${type}` }, (draft) => {
      for (const one of Object.values(draft.nodes)) if (one.type === type && one.code) one.code = next;
    });
  };
  const revert = () => {
    if (opened) set(opened);
    toast({ title: t("reverted"), action: { label: t("undo"), onClick: () => store.getState().undo() } });
  };
  return (
    <div className="flex flex-col gap-3">
      <p className="text-muted text-xs">{t("code_about")}</p>
      <CodeEditor
        language="python"
        label={t("code")}
        value={code}
        readOnly={!editable}
        minLines={14}
        maxLines={32}
        diagnostics={findings}
        {...(editable ? { onChange: (next: string) => next.trim() !== "" && set(next) } : {})}
      />
      <CodeCheck nodeId={nodeId} code={code} onChecked={(checked) => setFindings(findingsOf(checked))} />
      {opened !== null && opened !== code && (
        <Button size="sm" kind="ghost" icon={<Undo2 />} className="self-start" onClick={revert}>
          {t("revert")}
        </Button>
      )}
    </div>
  );
}
