import { Link, useNavigate } from "@tanstack/react-router";
import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { IssueLine } from "@/components/readiness";
import { cx } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { type Check, type Found, hasErrors } from "./checks";
import { usePublishTexts } from "./texts";

/** What was checked, and what was found, with a link to where it is. */
export function CheckList({ checks, lookedAhead }: { checks: Check[]; lookedAhead: boolean }) {
  const t = usePublishTexts();
  return (
    <div>
      <ul className="flex flex-col gap-1.5">
        {checks.map((check) => (
          <Row key={check.name} check={check} />
        ))}
      </ul>
      <p className="mt-2 text-xs text-muted">{lookedAhead ? t("looked_ahead") : t("not_looked_ahead")}</p>
    </div>
  );
}

function Row({ check }: { check: Check }) {
  const t = usePublishTexts();
  const bad = hasErrors(check);
  const Icon = check.found.length === 0 ? CircleCheck : bad ? CircleAlert : TriangleAlert;
  const state = check.found.length === 0 ? "fine" : bad ? "wrong" : "warned";
  return (
    <li>
      <div className="flex items-center gap-2">
        <Icon
          aria-hidden
          className={cx("size-4 shrink-0", state === "fine" ? "text-ok" : bad ? "text-bad" : "text-warn")}
        />
        <span className="font-medium">{t(check.name)}</span>
        <span className="text-sm text-muted">{t(state, { count: check.found.length })}</span>
        {check.name === "tests" && <ToTests />}
      </div>
      {check.found.length > 0 && (
        <ul className="mt-1 mb-2 ml-6 flex flex-col gap-1.5">
          {check.found.map((found, at) => (
            <Finding key={`${found.nodeId}:${at}`} found={found} />
          ))}
        </ul>
      )}
    </li>
  );
}

function ToTests() {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  return (
    <Link to="/flows/$flowId/tests" params={{ flowId }} className="text-sm font-medium text-accent hover:underline">
      {t("run_tests")}
    </Link>
  );
}

function Finding({ found }: { found: Found }) {
  const store = useDraftStore();
  const navigate = useNavigate();
  const flowId = useDraft((state) => state.flowId);
  const show = (nodeId: string) => {
    store.getState().focusNode(nodeId);
    void navigate({ to: "/flows/$flowId", params: { flowId } });
  };
  return (
    <li>
      <IssueLine issue={found} onNode={show} />
    </li>
  );
}
