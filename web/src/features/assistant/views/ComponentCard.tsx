import { useMutation } from "@tanstack/react-query";
import { Check, Puzzle } from "lucide-react";
import { useState } from "react";
import { CodeEditor } from "@/components/code/CodeEditor";
import { Button, Callout, Chip, toastError } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import type { AssistantMessage, MadeComponent } from "../model/message";
import { secretsOf } from "../model/secretsOf";
import { useAssistantTexts } from "../texts";
import { Card } from "./Card";
import { useConversation } from "./context";

/** A component that was written: whether it works, what it may reach, its code, and the way to the canvas. */
export function ComponentCard({ message, made }: { message: AssistantMessage; made: MadeComponent }) {
  const t = useAssistantTexts();
  const [open, setOpen] = useState(!made.validated);
  const passed = made.attempts > 1 ? t("component_passed_after", { count: made.attempts }) : t("component_passed");
  const diagnostics = made.findings.map(({ line, message: text }) => ({ line: line ?? 1, message: text }));
  return (
    <Card
      icon={<Puzzle />}
      title={`${t("component")} ${made.className}`}
      aside={
        <Chip tone={made.validated ? "ok" : "bad"} {...(made.validated ? { icon: <Check /> } : {})}>
          {made.validated ? passed : t("component_failed")}
        </Chip>
      }
      footer={<Choices message={message} made={made} open={open} setOpen={setOpen} />}
    >
      <Reach made={made} />
      {made.findings.length > 0 && <Findings made={made} />}
      {open && (
        <div className="mt-2.5">
          <CodeEditor
            readOnly
            language="python"
            value={made.code}
            label={t("component_code", { name: made.className })}
            minLines={6}
            maxLines={18}
            diagnostics={diagnostics}
          />
        </div>
      )}
    </Card>
  );
}

function Reach({ made }: { made: MadeComponent }) {
  const t = useAssistantTexts();
  const { manifest } = made;
  const secrets = secretsOf(made.code);
  if (!manifest) return null;
  const rows: [string, string][] = [
    [t("component_hosts"), manifest.hosts.join(", ") || t("component_no_hosts")],
    [t("component_imports"), manifest.imports.join(", ")],
  ];
  if (secrets.length > 0) rows.push([t("component_secrets"), secrets.join(", ")]);
  return (
    <>
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-sm">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-0.5 text-sm text-muted">{manifest.files ? t("component_files") : t("component_no_files")}</p>
    </>
  );
}

function Findings({ made }: { made: MadeComponent }) {
  const t = useAssistantTexts();
  return (
    <Callout tone="bad" title={t("findings")}>
      <ul>
        {made.findings.map((one) => (
          <li key={`${one.line}${one.message}`}>
            {one.line ? `${t("line", { line: one.line })}: ` : ""}
            {one.message} {one.remedy}
          </li>
        ))}
      </ul>
    </Callout>
  );
}

interface ChoicesProps {
  message: AssistantMessage;
  made: MadeComponent;
  open: boolean;
  setOpen: (open: boolean) => void;
}

function Choices({ message, made, open, setOpen }: ChoicesProps) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const editable = useDraft((state) => state.editable);
  const add = useMutation({
    mutationFn: () => conversation.addComponent(message.id),
    onError: (error) => toastError(t("component_refused"), error),
  });
  return (
    <>
      {made.validated && (
        <Button size="sm" kind="primary" busy={add.isPending} disabled={!editable} onClick={() => add.mutate()}>
          {t("component_add")}
        </Button>
      )}
      <Button size="sm" kind="ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? t("component_hide") : t("component_show")}
      </Button>
      {made.added && <Chip tone="ok">{t("component_added")}</Chip>}
    </>
  );
}
