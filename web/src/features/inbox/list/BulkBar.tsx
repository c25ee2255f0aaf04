import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { useState } from "react";
import { type ApprovalSummary, approvalKeys, type DecisionResult, decideApprovals } from "@/api/queries/approvals";
import { SelectionBar } from "@/components/lists";
import { Button, Callout, Dialog, Field, Problem, Textarea } from "@/components/ui";
import { questionOf } from "../model/question";
import { useInboxTexts } from "../texts";

/** More cannot be sent together. */
const MOST = 100;
type Choice = "approve" | "reject";

interface BulkBarProps {
  chosen: readonly ApprovalSummary[];
  onClear: () => void;
}

/** What can be done with the selected approvals, and what became of each. */
export function BulkBar({ chosen, onClear }: BulkBarProps) {
  const t = useInboxTexts();
  const [asked, setAsked] = useState<{ choice: Choice; approvals: readonly ApprovalSummary[] } | null>(null);
  const ask = (choice: Choice) => setAsked({ choice, approvals: chosen.slice(0, MOST) });
  return (
    <>
      <SelectionBar count={chosen.length} onClear={onClear} className="shrink-0 border-t">
        <Button kind="danger" onClick={() => ask("reject")}>
          {t("reject")}
        </Button>
        <Button kind="primary" icon={<Check />} onClick={() => ask("approve")}>
          {t("approve")}
        </Button>
      </SelectionBar>
      {asked && (
        <BulkDialog
          {...asked}
          onClose={() => {
            setAsked(null);
            onClear();
          }}
          onCancel={() => setAsked(null)}
        />
      )}
    </>
  );
}

interface BulkDialogProps {
  choice: Choice;
  approvals: readonly ApprovalSummary[];
  onClose: () => void;
  onCancel: () => void;
}

function BulkDialog({ choice, approvals, onClose, onCancel }: BulkDialogProps) {
  const t = useInboxTexts();
  const queries = useQueryClient();
  const [comment, setComment] = useState("");
  const decide = useMutation({
    mutationFn: () =>
      decideApprovals(
        approvals.map(({ id, content_hash }) => ({
          ...{ approval_id: id, decision: choice, comment, content_hash },
        })),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: approvalKeys.all }),
  });
  const results = decide.data;
  const leave = results ? onClose : onCancel;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && leave()}
      title={results ? t("decisions") : t(`bulk_${choice}`, { count: approvals.length })}
      description={results ? undefined : t("bulk_about")}
      footer={
        results ? (
          <Button kind="primary" onClick={onClose}>
            {t("close")}
          </Button>
        ) : (
          <>
            <Button onClick={onCancel}>{t("cancel")}</Button>
            <Button
              kind={choice === "approve" ? "primary" : "danger"}
              busy={decide.isPending}
              onClick={() => decide.mutate()}
            >
              {t(choice)}
            </Button>
          </>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {decide.error && <Problem error={decide.error} />}
        {results && <Stored results={results} />}
        <ul className="flex flex-col gap-1.5">
          {approvals.map((approval) => (
            <Item
              key={approval.id}
              approval={approval}
              result={results?.find((one) => one.approval_id === approval.id)}
            />
          ))}
        </ul>
        {!results && (
          <Field label={t("comment")} help={t("comment_help")}>
            {(control) => (
              <Textarea
                {...control}
                maxLength={10_000}
                value={comment}
                onChange={(event) => setComment(event.target.value)}
              />
            )}
          </Field>
        )}
      </div>
    </Dialog>
  );
}

function Stored({ results }: { results: readonly DecisionResult[] }) {
  const t = useInboxTexts();
  const stored = results.filter((one) => one.stored).length;
  const title = t("bulk_stored", { count: stored, total: results.length });
  return <Callout tone={stored === results.length ? "ok" : "warn"} title={title} />;
}

function Item({ approval, result }: { approval: ApprovalSummary; result: DecisionResult | undefined }) {
  const t = useInboxTexts();
  return (
    <li className="text-sm">
      <span className="line-clamp-2 break-words">
        {questionOf(t, approval)} <span className="text-muted">· {approval.flow_name}</span>
      </span>
      {result?.problem && <span className="text-bad">{t("bulk_not_stored", { why: result.problem.detail })}</span>}
    </li>
  );
}
