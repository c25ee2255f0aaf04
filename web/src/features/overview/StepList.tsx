import { Link, useNavigate } from "@tanstack/react-router";
import type { GraphNode, GraphOut } from "@/api/queries/overview";
import { ClassChip, StateChip } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { duration, number } from "@/lib/i18n/format";
import { nodeName, underName } from "@/lib/nodeName";
import { Badges } from "./Badges";
import { listed, tokensOf } from "./drawn";
import { useOverviewTexts } from "./texts";

/** Everything that the picture shows, as a list: for screen readers, and for all who read rather than look. */
export function StepList({ graph, runId }: { graph: GraphOut; runId: string | undefined }) {
  const t = useOverviewTexts();
  return (
    <section aria-label={t("as_list")} className="p-4">
      <h2 className="mb-2 font-semibold">{t("as_list")}</h2>
      <ol className="flex flex-col divide-y divide-line">
        {listed(graph).map((node) => (
          <Row key={node.id} node={node} graph={graph} runId={runId} />
        ))}
      </ol>
    </section>
  );
}

const LINK = "min-w-0 truncate text-left font-medium hover:underline";

function Row({ node, graph, runId }: { node: GraphNode; graph: GraphOut; runId: string | undefined }) {
  const t = useOverviewTexts();
  const store = useDraftStore();
  const navigate = useNavigate();
  const flowId = useDraft((state) => state.flowId);
  const templates = useDraft((state) => state.templates);
  const sources = new Set(graph.edges.filter((edge) => edge.target === node.id).map((edge) => edge.source));
  const names = graph.nodes.filter((one) => sources.has(one.id)).map((one) => nodeName(one, templates));
  const open = () => {
    store.getState().focusNode(node.id);
    void navigate({ to: "/flows/$flowId", params: { flowId } });
  };
  return (
    <li className="flex flex-col gap-1 py-2.5" data-step={node.id}>
      <div className="flex items-center gap-2">
        {node.order !== null && <span className="w-5 shrink-0 text-right text-faint text-sm">{node.order}.</span>}
        {runId && node.run ? (
          <Link className={LINK} to="/flows/$flowId/runs/$runId" params={{ flowId, runId }} search={{ step: node.id }}>
            {nodeName(node, templates)}
          </Link>
        ) : (
          <button type="button" className={LINK} onClick={open}>
            {nodeName(node, templates)}
          </button>
        )}
        <span className="ml-auto flex shrink-0 items-center gap-1.5 text-muted">
          <Badges badges={node.badges ?? []} />
          {node.classification && <ClassChip level={node.classification.level} />}
        </span>
      </div>
      <p className="pl-7 text-muted text-sm">
        {underName(node, templates)}
        {names.length > 0 && ` · ${t("after", { names: names.join(", ") })}`}
      </p>
      {node.run && (
        <p className="flex flex-wrap items-center gap-2 pl-7 text-muted text-sm">
          <StateChip state={node.run.status} label={t(node.run.status)} />
          {node.run.ms !== null && duration(node.run.ms)}
          {tokensOf(node) > 0 && t("tokens", { count: number(tokensOf(node)) })}
        </p>
      )}
      {node.run?.error && <p className="break-words pl-7 text-bad text-sm">{node.run.error.message}</p>}
    </li>
  );
}
