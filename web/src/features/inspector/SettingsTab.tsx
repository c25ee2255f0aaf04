import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { issuesElsewhere, NodeField } from "@/components/fields";
import { FormBuilder } from "@/components/form-builder";
import { Callout, cx } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { placeholderFields } from "@/lib/ports";
import { CodeCheck } from "./CodeCheck";
import { InputData } from "./InputData";
import { useInspectorTexts } from "./texts";

/** A node's own fields: what is set often first, the rest folded. */
export function SettingsTab({ nodeId }: { nodeId: string }) {
  const t = useInspectorTexts();
  const node = useDraft((state) => state.document.nodes[nodeId]);
  const template = useDraft((state) => state.templates[node?.type ?? ""]);
  const issues = useDraft((state) => state.issues);
  const [open, setOpen] = useState(false);
  const fields = template ? [...(template.fields ?? []), ...(node ? placeholderFields(node, template) : [])] : [];
  const names = fields.map((field) => field.name);
  const others = issuesElsewhere(issues, nodeId, (name) => names.includes(name));
  const advanced = fields.filter((field) => field.advanced);
  // What is wrong is never folded away.
  const faulty = issues.some((issue) => advanced.some((field) => issue.field === field.name));
  if (!node) return null;
  return (
    <div className="flex flex-col gap-4">
      <InputData nodeId={nodeId} />
      {others.map((issue) => (
        <Callout key={issue.message} tone="warn" title={issue.message}>
          {issue.remedy}
        </Callout>
      ))}
      {!template && (
        <>
          <Callout tone="info">{t(node.code ? "unknown_type" : "unknown_gone", { type: node.type })}</Callout>
          {node.code && <CodeCheck nodeId={nodeId} code={node.code} />}
        </>
      )}
      <Questions type={node.type} />
      {template && fields.length === 0 && <p className="text-muted">{t("no_fields")}</p>}
      {fields
        .filter((field) => !field.advanced)
        .map((field) => (
          <NodeField key={field.name} nodeId={nodeId} field={field} />
        ))}
      {advanced.length > 0 && (
        <div className="flex flex-col gap-4 border-line border-t pt-3">
          <button
            type="button"
            aria-expanded={open || faulty}
            onClick={() => setOpen(!open)}
            className="flex items-center gap-1.5 self-start font-medium text-muted text-sm hover:text-ink"
          >
            <ChevronRight aria-hidden className={cx("size-4 transition-transform", (open || faulty) && "rotate-90")} />
            {t("advanced")}
          </button>
          {(open || faulty) && advanced.map((field) => <NodeField key={field.name} nodeId={nodeId} field={field} />)}
        </div>
      )}
    </div>
  );
}

/** The form of the flow, at the step that outputs its answers. */
function Questions({ type }: { type: string }) {
  const t = useInspectorTexts();
  if (type !== "FormInput") return null;
  return (
    <section aria-label={t("form")} className="flex flex-col gap-2 border-line border-b pb-4">
      <h3 className="font-medium text-sm">{t("form")}</h3>
      <FormBuilder />
    </section>
  );
}
