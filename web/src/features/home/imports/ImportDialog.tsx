import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { api, unwrap } from "@/api/client";
import { flowKeys } from "@/api/queries/flows";
import { importReport } from "@/api/queries/templates";
import { DropZone } from "@/components/files/DropZone";
import { Button, Callout, Dialog, Problem, Spinner, toast } from "@/components/ui";
import { bytes } from "@/lib/i18n/format";
import { useHomeTexts } from "../texts";
import { Report } from "./Report";
import { LARGEST_FILE, readFlowFile } from "./readFile";

interface ImportDialogProps {
  first: File | null;
  space: string | undefined;
  onClose: () => void;
}

/** A file, what is in it, and the question whether to open it. */
export default function ImportDialog({ first, space, onClose }: ImportDialogProps) {
  const t = useHomeTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [refused, setRefused] = useState<"large" | "binary" | null>(null);
  const content = useRef("");
  const look = useMutation({ mutationFn: importReport });
  const open = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/v1/flows/import", {
          body: { content: content.current, ...(space ? { space_id: space } : {}) },
        }),
      ),
    onSuccess: async (flow) => {
      client.setQueryData(flowKeys.one(flow.id), flow);
      void client.invalidateQueries({ queryKey: flowKeys.lists });
      if (flow.notes?.length) toast({ title: t("import_notes"), detail: flow.notes.join(" "), tone: "bad" });
      await navigate({ to: "/flows/$flowId", params: { flowId: flow.id } });
    },
  });
  const take = async (file: File | undefined) => {
    if (!file) return;
    open.reset();
    const found = await readFlowFile(file);
    setRefused("refused" in found ? found.refused : null);
    if ("content" in found) {
      content.current = found.content;
      look.mutate(found.content);
    }
  };
  const begin = useRef(take);
  begin.current = take;
  useEffect(() => void begin.current(first ?? undefined), [first]);
  const report = look.data;
  const again = () => {
    look.reset();
    setRefused(null);
  };
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title={report?.name || t("import_title")}
      description={report?.definition ? t("import_nothing_ran") : t("import_help")}
      size="md"
      footer={
        report && (
          <>
            <Button onClick={again}>{t("import_another")}</Button>
            {report.supported && (
              <Button kind="primary" busy={open.isPending} onClick={() => open.mutate()}>
                {t("import_go")}
              </Button>
            )}
          </>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {look.isError && <Problem error={look.error} />}
        {open.isError && <Problem error={open.error} />}
        {refused && (
          <Callout tone="bad" title={t("import_refused")}>
            {refused === "large" ? t("import_too_large", { size: bytes(LARGEST_FILE) }) : t("import_binary")}
          </Callout>
        )}
        {look.isPending && (
          <p className="flex items-center gap-2 text-muted">
            <Spinner /> {t("import_reading")}
          </p>
        )}
        {report ? (
          <Report report={report} />
        ) : (
          !look.isPending && (
            <DropZone
              accept=".json,.flow,.txt,.yaml,.yml"
              label={t("choose_file")}
              limit={LARGEST_FILE}
              onFiles={([file]) => void take(file)}
            />
          )
        )}
      </div>
    </Dialog>
  );
}
