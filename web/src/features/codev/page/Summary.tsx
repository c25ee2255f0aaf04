import { useQuery } from "@tanstack/react-query";
import { Download, FileCheck } from "lucide-react";
import { type CodevSession, codevSummaryQuery, readCodevEvidence } from "@/api/queries/codev";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, CopyButton, Dialog, Problem, Skeleton, toastError } from "@/components/ui";
import { download, fileNameOf } from "@/lib/download";
import { useCodevTexts } from "../texts";

/** The session as a document: to read, to copy, to keep. */
export function Summary({ session, onClose }: { session: CodevSession; onClose: () => void }) {
  const t = useCodevTexts();
  const { data, error, refetch } = useQuery(codevSummaryQuery(session.thread_id));
  const keep = () => {
    const name = fileNameOf(`${session.flow_name || t("development")} ${session.thread_id.slice(0, 8)}`, "md");
    download(name, new Blob([data ?? ""], { type: "text/markdown;charset=utf-8" }));
  };
  const sign = () =>
    void readCodevEvidence(session.thread_id)
      .then((record) => download(`session-${session.thread_id}.json`, record))
      .catch((problem: unknown) => toastError(t("download_evidence_failed"), problem));
  return (
    <Dialog
      open
      size="lg"
      onOpenChange={(open) => !open && onClose()}
      title={t("summary")}
      footer={
        data !== undefined && (
          <>
            <Button icon={<FileCheck />} onClick={sign}>
              {t("download_evidence")}
            </Button>
            <CopyButton text={data} label={t("copy_summary")} />
            <Button icon={<Download />} onClick={keep}>
              {t("download_md")}
            </Button>
          </>
        )
      }
    >
      {error && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton className="h-80" />}
      {data !== undefined && <Markdown text={data} className="[&_pre]:whitespace-pre-wrap [&_pre]:break-words" />}
    </Dialog>
  );
}
