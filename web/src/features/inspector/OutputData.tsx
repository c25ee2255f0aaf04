import { useQuery } from "@tanstack/react-query";
import { stepQuery } from "@/api/queries/runs";
import { CopyButton } from "@/components/ui";
import { asText } from "@/components/values/shape";
import { ValueView } from "@/components/values/ValueView";
import type { NodeRun } from "@/lib/draft";
import { useInspectorTexts } from "./texts";

/** Everything that the node gave in a run; its beginning until that is read. */
export function OutputData({ runId, nodeId, run }: { runId: string; nodeId: string; run: NodeRun }) {
  const t = useInspectorTexts();
  const step = useQuery({
    ...stepQuery(runId, nodeId, run.status),
    enabled: run.status === "completed",
    retry: false,
  }).data;
  const outputs = Object.entries((step?.output?.outputs ?? {}) as Record<string, unknown>);
  const values = outputs.length > 0 ? outputs : run.preview ? [["", run.preview] as const] : [];
  return values.map(([name, value]) => (
    <section key={name}>
      <div className="mb-1 flex items-center gap-2">
        <h4 className="font-medium text-sm">{values.length > 1 ? name : t("gave")}</h4>
        <CopyButton text={asText(value)} />
      </div>
      <ValueView value={value} />
    </section>
  ));
}
