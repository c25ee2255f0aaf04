import { Field, Segments } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { ToolApprovalFields } from "./ToolApprovalFields";
import { ToolList } from "./ToolList";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

/** Which of its tools a step may call, all or only those on its list, and which calls users approve. */
export function ToolPolicyFields({ nodeId }: { nodeId: string }) {
  const { policy } = usePolicy(nodeId);
  const takesTools = useDraft((state) =>
    state.templates[state.document.nodes[nodeId]?.type ?? ""]?.fields?.some((one) => one.types?.includes("Tool")),
  );
  if (!takesTools && policy.tool_policy === "inherit" && !policy.tool_approval) return null;
  return (
    <>
      <AllowedTools nodeId={nodeId} />
      <ToolApprovalFields nodeId={nodeId} />
    </>
  );
}

function AllowedTools({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  return (
    <Field label={t("tools")} error={issue("tool_policy") ?? issue("tool_allowlist")}>
      {() => (
        <div className="flex flex-col gap-2">
          <span>
            <Segments
              aria-label={t("tools")}
              size="sm"
              value={policy.tool_policy}
              options={[
                { value: "inherit", label: t("tools_inherit") },
                { value: "restricted", label: t("tools_restricted") },
              ]}
              onChange={(tool_policy) => set({ tool_policy })}
            />
          </span>
          {policy.tool_policy === "restricted" && (
            <ToolList
              nodeId={nodeId}
              list={policy.tool_allowlist ?? []}
              empty={t("tools_none_allowed")}
              onChange={(list) => set({ tool_allowlist: list })}
            />
          )}
        </div>
      )}
    </Field>
  );
}
