import { useQuery } from "@tanstack/react-query";
import { graphQuery } from "@/api/queries/graph";
import { modelClassesQuery } from "@/api/queries/models";
import { Callout, Field, Select } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { wiringOf } from "@/lib/wiring";
import { OutsideFields } from "./OutsideFields";
import { ToolPolicyFields } from "./ToolPolicyFields";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

const INHERIT = "inherit";

/** The rules of a step: the class of what it gives, the tools it may call, and what content from outside may decide. */
export function PolicyFields({ nodeId }: { nodeId: string }) {
  return (
    <div className="flex flex-col gap-6">
      <ClassFields nodeId={nodeId} />
      <ToolPolicyFields nodeId={nodeId} />
      <OutsideFields nodeId={nodeId} />
    </div>
  );
}

function ClassFields({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  const classes = useQuery(modelClassesQuery);
  const { now, reaches } = useClasses(nodeId);
  const { levels = [], external_max: most = 0, enabled = false } = classes.data ?? {};
  const chosen = policy.output_classification_override ?? null;
  const told = [
    t("class_about"),
    ...(reaches === null ? [] : [t("class_reaches", { name: levels[reaches] ?? `K${reaches}` })]),
    ...(now === null || chosen !== null ? [] : [t("class_now", { name: levels[now] ?? `K${now}` })]),
  ];
  const given = chosen ?? now;
  return (
    <div className="flex flex-col gap-2">
      <Field label={t("class")} help={told.join(" ")} error={issue("output_classification_override")}>
        {(control) => (
          <Select
            {...control}
            value={chosen === null ? INHERIT : String(chosen)}
            options={[
              { value: INHERIT, label: t("class_inherit") },
              ...levels.map((name, level) => ({ value: String(level), label: name })),
            ]}
            onChange={(next) => set({ output_classification_override: next === INHERIT ? null : Number(next) })}
          />
        )}
      </Field>
      {classes.isSuccess && !enabled && <p className="text-muted text-xs">{t("class_off")}</p>}
      {enabled && chosen !== null && reaches !== null && chosen < reaches && (
        <Callout tone="warn">{t("class_lowers")}</Callout>
      )}
      {enabled && given !== null && given > most && (
        <Callout tone="info">{t("class_blocks", { name: levels[most] ?? `K${most}` })}</Callout>
      )}
    </div>
  );
}

/** The class that a step of the saved draft gives, and the highest of what reaches it over edges. */
function useClasses(nodeId: string): { now: number | null; reaches: number | null } {
  const flowId = useDraft((state) => state.flowId);
  const revision = useDraft((state) => state.revision);
  const graph = useQuery(graphQuery(flowId, revision));
  const parents = useDraft((state) => (wiringOf(state.document, state.templates).parents[nodeId] ?? []).join(" "));
  const level = (id: string) => graph.data?.nodes.find((node) => node.id === id)?.classification?.level;
  const reaching = parents.split(" ").flatMap((id) => level(id) ?? []);
  return { now: level(nodeId) ?? null, reaches: reaching.length > 0 ? Math.max(...reaching) : null };
}
