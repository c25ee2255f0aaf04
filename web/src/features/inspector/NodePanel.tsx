import { useState } from "react";
import { Comments } from "@/components/comments";
import { ContractFields, FailureFields, InputFields, OutputFields, PolicyFields } from "@/components/policy";
import { Tabs } from "@/components/ui";
import { useDraft, useDraftParts } from "@/lib/draft";
import { CodeTab } from "./CodeTab";
import { LastRunTab } from "./LastRunTab";
import { NodeHead } from "./NodeHead";
import { SettingsTab } from "./SettingsTab";
import { useInspectorTexts } from "./texts";

const TABS = ["settings", "last_run", "input", "output", "contract", "failure", "policy", "code", "comments"] as const;
type Tab = (typeof TABS)[number];

/** The tab that was open stays open from node to node. */
let lastTab: Tab = "settings";

export function NodePanel({ nodeId }: { nodeId: string }) {
  const t = useInspectorTexts();
  const [tab, setTab] = useState<Tab>(lastTab);
  const editable = useDraft((state) => state.editable);
  const tabs = useTabs(nodeId);
  const shown = tabs.includes(tab) ? tab : "settings";
  const contents: Record<Tab, React.ReactNode> = {
    settings: <SettingsTab nodeId={nodeId} />,
    input: <InputFields nodeId={nodeId} />,
    output: <OutputFields nodeId={nodeId} />,
    contract: <ContractFields nodeId={nodeId} />,
    failure: <FailureFields nodeId={nodeId} />,
    policy: <PolicyFields nodeId={nodeId} />,
    code: <CodeTab nodeId={nodeId} />,
    last_run: <LastRunTab nodeId={nodeId} />,
    comments: <Comments nodeId={nodeId} />,
  };
  return (
    <>
      <NodeHead nodeId={nodeId} />
      <Tabs
        aria-label={t("parts")}
        className="shows-more flex-1"
        value={shown}
        onChange={(next) => {
          lastTab = next;
          setTab(next);
        }}
        tabs={tabs.map((one) => ({
          value: one,
          label: t(one),
          content: (
            <fieldset disabled={!editable && one !== "comments"} className="flex min-w-0 flex-col p-4">
              {contents[one]}
            </fieldset>
          ),
        }))}
      />
    </>
  );
}

/** The tabs that a node has: a note has no input, a model no contract. */
function useTabs(nodeId: string): readonly Tab[] {
  return useDraftParts(({ document, templates }) => {
    const node = document.nodes[nodeId];
    const template = templates[node?.type ?? ""];
    if (template?.annotation) return ["settings", "comments"];
    const runs = !template || (template.outputs ?? []).some((one) => one.type !== "Model" && one.type !== "Tool");
    return TABS.filter(
      (tab) => tab === "settings" || tab === "comments" || (tab === "code" ? Boolean(node?.code) : runs),
    );
  });
}
