import { Link } from "@tanstack/react-router";
import { useDraft } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import { type Fix, fixOf, inNames, type Shown } from "./fixes";
import { useReadinessTexts } from "./texts";

const LINK = "ml-1.5 font-medium text-accent hover:underline";

/** One thing that prevents a flow from running: the same words and the same ways to fix it wherever it is shown. */
export function IssueLine({ issue, onNode }: { issue: Shown; onNode: (id: string) => void }) {
  const t = useReadinessTexts();
  const node = useDraft((state) => state.document.nodes[issue.nodeId]);
  const templates = useDraft((state) => state.templates);
  const name = node ? nodeName(node, templates) : "";
  const fix = fixOf(issue);
  const { about } = issue;
  return (
    <span className="text-sm">
      {fix && about && <span className="block font-medium">{t(fix.missing, { name: about })}</span>}
      <span className="break-words">{inNames(issue.message, issue.nodeId, name)}</span>
      {issue.remedy && <span className="text-muted"> {issue.remedy}</span>}
      {node && (
        <button type="button" className={LINK} onClick={() => onNode(issue.nodeId)}>
          {t("show_node", { name })}
        </button>
      )}
      {fix && <FixLink fix={fix} name={about} />}
    </span>
  );
}

function FixLink({ fix, name }: { fix: Fix; name: string }) {
  const t = useReadinessTexts();
  return (
    <Link to="/settings/{-$section}" params={{ section: fix.section }} className={LINK}>
      {t(fix.label, { name })}
    </Link>
  );
}
