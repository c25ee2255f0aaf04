import { IssueLine, shownIssue } from "@/components/readiness";
import { Callout } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useRunTexts } from "../texts";

const MOST = 4;

/** What keeps the draft from running, with the way to each node. */
export function Blocked() {
  const t = useRunTexts();
  const store = useDraftStore();
  const issues = useDraft((state) => state.issues);
  const errors = issues.map(shownIssue).filter((one) => one.severity === "error");
  if (errors.length === 0) return null;
  return (
    <Callout tone="warn" title={t("cannot_run")}>
      <ul className="mt-1 flex flex-col gap-1">
        {errors.slice(0, MOST).map((one) => (
          <li key={`${one.code} ${one.nodeId} ${one.message}`}>
            <IssueLine issue={one} onNode={(node) => store.getState().focusNode(node)} />
          </li>
        ))}
      </ul>
    </Callout>
  );
}
