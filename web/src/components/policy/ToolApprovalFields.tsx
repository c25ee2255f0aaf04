import type { StepPolicy } from "@/api/types";
import { Field, Segments, Toggle } from "@/components/ui";
import { LinesField } from "./LinesField";
import { NumberBox } from "./NumberBox";
import { ToolList } from "./ToolList";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

type Approval = NonNullable<StepPolicy["tool_approval"]>;
const ALL = "*";

/** Of which tools users approve each call before it is made, and who decides. */
export function ToolApprovalFields({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  const approval = policy.tool_approval ?? null;
  const which = approval === null ? "none" : approval.tools?.includes(ALL) ? "all" : "some";
  const change = (next: Partial<Approval>) => approval && set({ tool_approval: { ...approval, ...next } });
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("approval")} help={t("approval_about")} error={issue("tool_approval")}>
        {() => (
          <span>
            <Segments
              aria-label={t("approval")}
              size="sm"
              value={which}
              options={[
                { value: "none", label: t("approval_none") },
                { value: "some", label: t("approval_some") },
                { value: "all", label: t("approval_all") },
              ]}
              onChange={(next) =>
                set({ tool_approval: next === "none" ? null : { ...approval, tools: next === "all" ? [ALL] : [] } })
              }
            />
          </span>
        )}
      </Field>
      {approval !== null && which === "some" && (
        <ToolList
          nodeId={nodeId}
          list={approval.tools ?? []}
          empty={t("approval_nothing")}
          onChange={(tools) => change({ tools })}
        />
      )}
      {approval !== null && <Deciders approval={approval} onChange={change} />}
    </div>
  );
}

function Deciders({ approval, onChange }: { approval: Approval; onChange: (next: Partial<Approval>) => void }) {
  const t = usePolicyTexts();
  const needed = approval.needed ?? 1;
  return (
    <>
      <LinesField
        label={t("approval_assignees")}
        help={t("approval_assignees_about")}
        placeholder="role:publisher"
        list={approval.assignees ?? []}
        onChange={(assignees) => onChange({ assignees })}
      />
      <div className="grid grid-cols-2 gap-3">
        <NumberBox
          label={t("approval_needed")}
          value={needed}
          least={1}
          most={20}
          whole
          required
          onChange={(next) => onChange({ needed: next ?? 1, ...((next ?? 1) > 1 ? { editable: false } : {}) })}
        />
        <NumberBox
          label={t("approval_timeout")}
          placeholder={t("no_limit")}
          value={approval.timeout_hours ?? null}
          least={0.001}
          most={87_600}
          onChange={(timeout_hours) => onChange({ timeout_hours })}
        />
      </div>
      <Toggle
        label={t("approval_editable")}
        checked={approval.editable ?? false}
        disabled={needed > 1}
        onChange={(editable) => onChange({ editable })}
      />
      <Toggle
        label={t("approval_not_starter")}
        checked={approval.not_starter ?? false}
        onChange={(not_starter) => onChange({ not_starter })}
      />
    </>
  );
}
