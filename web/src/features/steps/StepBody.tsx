import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { FieldTemplate } from "@/api/types";
import { NodeField } from "@/components/fields";
import { ContractFields, FailureFields, InputFields, OutputFields, PolicyFields, policyOf } from "@/components/policy";
import { cx } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { placeholderFields } from "@/lib/ports";
import { AssistantChoice } from "./AssistantChoice";
import { useStepTexts } from "./texts";

const LINKED = new Set(["assistant", "model", "system", "instructions", "temperature"]);

/** What a step does: prompt, model and tools in place, the rest folded. */
export function StepBody({ id }: { id: string }) {
  const t = useStepTexts();
  const node = useDraft((state) => state.document.nodes[id]);
  const template = useDraft((state) => state.templates[node?.type ?? ""]);
  const policy = policyOf(node);
  const fields = template ? [...(template.fields ?? []), ...(node ? placeholderFields(node, template) : [])] : [];
  const links = fields.some((field) => field.name === "assistant");
  const shown = fields.filter((field) => !field.advanced && !(links && LINKED.has(field.name)));
  const advanced = fields.filter((field) => field.advanced && !(links && LINKED.has(field.name)));
  const specialist = fields.filter((field) => links && LINKED.has(field.name) && field.name !== "assistant");
  return (
    <div className="flex flex-col gap-4 border-line border-t px-4 py-4">
      {shown.filter(isPrompt).map((field) => (
        <NodeField key={field.name} nodeId={id} field={field} bare />
      ))}
      {links && <AssistantChoice nodeId={id} fields={specialist} />}
      {shown
        .filter((field) => !isPrompt(field))
        .map((field) => (
          <NodeField key={field.name} nodeId={id} field={field} bare />
        ))}
      <div className="flex flex-col border-line border-t">
        {advanced.length > 0 && (
          <Folded title={t("advanced")}>
            {advanced.map((field) => (
              <NodeField key={field.name} nodeId={id} field={field} />
            ))}
          </Folded>
        )}
        <Folded title={t("input")} note={policy.input_source === "previous_step" ? "" : policy.input_source}>
          <InputFields nodeId={id} />
        </Folded>
        <Folded title={t("output")} note={policy.output_type === "text" ? "" : policy.output_type}>
          <OutputFields nodeId={id} />
        </Folded>
        <Folded title={t("contract")}>
          <ContractFields nodeId={id} />
        </Folded>
        <Folded title={t("failure")} note={policy.on_error === "fail" ? "" : policy.on_error}>
          <FailureFields nodeId={id} />
        </Folded>
        <Folded title={t("policy")}>
          <PolicyFields nodeId={id} />
        </Folded>
      </div>
    </div>
  );
}

const isPrompt = (field: FieldTemplate) => field.kind === "multiline" || field.main === true;

function Folded({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <section className="border-line border-b last:border-b-0">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex h-9 w-full items-center gap-1.5 font-medium text-muted text-sm hover:text-ink"
      >
        <ChevronRight aria-hidden className={cx("size-4 transition-transform", open && "rotate-90")} />
        {title}
        {note && <span className="ml-auto font-mono text-faint text-xs">{note}</span>}
      </button>
      {open && <div className="flex flex-col gap-4 pt-1 pb-4 pl-5.5">{children}</div>}
    </section>
  );
}
