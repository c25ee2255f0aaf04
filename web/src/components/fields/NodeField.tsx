import { RotateCcw, Unplug } from "lucide-react";
import type { FieldTemplate } from "@/api/types";
import { Field, IconButton } from "@/components/ui";
import { edgeId, useDraft, useDraftStore } from "@/lib/draft";
import { FieldControl } from "./FieldControl";
import { issueOf } from "./issues";
import { inWords } from "./simpleControls";
import { useFieldTexts } from "./texts";

/** A node's field with its label, help, default, and what the server says is wrong with it. */
export function NodeField({ nodeId, field, bare }: { nodeId: string; field: FieldTemplate; bare?: boolean }) {
  const t = useFieldTexts();
  const store = useDraftStore();
  const value = useDraft((state) => state.document.nodes[nodeId]?.params?.[field.name]);
  const linked = useDraft((state) => state.document.nodes[nodeId]?.linked?.[field.name]);
  const error = useDraft((state) => issueOf(state.issues, nodeId, field.name, t("fill_in")));
  const sources = useSources(nodeId, field.name);
  const editable = useDraft((state) => state.editable);
  const set = (next: typeof value) => store.getState().setParam(nodeId, field.name, next);
  const isSet = value !== undefined && value !== null;
  const shownDefault = inWords(field.default).slice(0, 60);
  const reset = isSet && field.default !== undefined && field.default !== null && editable && (
    <IconButton
      size="sm"
      label={shownDefault ? t("reset_to", { value: shownDefault }) : t("reset")}
      onClick={() => set(undefined)}
    >
      <RotateCcw />
    </IconButton>
  );
  const connected = sources.length > 0 && field.kind !== "tools";
  return (
    <Field
      label={field.label || field.name}
      help={bare ? undefined : field.help}
      error={error}
      required={(field.required ?? false) && !field.default_model}
      aside={reset || undefined}
    >
      {(control) =>
        connected ? (
          <Connected sources={sources} />
        ) : (
          <fieldset disabled={!editable} className="contents">
            <FieldControl {...control} field={field} value={value ?? linked} onChange={set} nodeId={nodeId} />
          </fieldset>
        )
      }
    </Field>
  );
}

/** A field that edges fill: where its value comes from. */
function Connected({ sources }: { sources: Source[] }) {
  const t = useFieldTexts();
  const store = useDraftStore();
  return (
    <ul className="flex flex-col gap-1">
      {sources.map((one) => (
        <li key={one.edge} className="flex min-h-8 items-center gap-2 rounded-md bg-sunken py-0.5 pr-1 pl-2.5 text-sm">
          <button
            type="button"
            className="min-w-0 flex-1 truncate text-left text-muted hover:text-ink"
            onClick={() => store.getState().focusNode(one.node)}
          >
            {t("from_step", { step: t("from_output", { step: one.name, output: one.output }) })}
          </button>
          <IconButton
            size="sm"
            label={t("disconnect", { step: one.name })}
            onClick={() => store.getState().disconnect([one.edge])}
          >
            <Unplug />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

interface Source {
  edge: string;
  node: string;
  name: string;
  output: string;
}

/** What is connected to a field. Compared as text: an edge elsewhere draws nothing anew here. */
function useSources(nodeId: string, input: string): Source[] {
  const told = useDraft(({ document, templates }) => {
    const found = Object.values(document.edges).filter((edge) => edge.target === nodeId && edge.input === input);
    if (found.length === 0) return "";
    const sources = found.map((edge): Source => {
      const node = document.nodes[edge.source];
      const template = node && templates[node.type];
      const output = template?.outputs?.find((one) => one.name === edge.output)?.label;
      return {
        edge: edgeId(edge),
        node: edge.source,
        name: node?.label || template?.label || edge.source,
        output: output || edge.output,
      };
    });
    return JSON.stringify(sources);
  });
  return told ? (JSON.parse(told) as Source[]) : [];
}
