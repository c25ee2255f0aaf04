import { useMutation } from "@tanstack/react-query";
import { Check, Puzzle } from "lucide-react";
import { useState } from "react";
import { CodeEditor } from "@/components/code/CodeEditor";
import { Button, Callout, Chip, toastError } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import type { AssistantMessage, MadeComponent } from "../model/message";
import { useAssistantTexts } from "../texts";
import { Card } from "./Card";
import { useAssistant, useConversation } from "./context";

/** A component that was written: what it may reach, its code, and whether it is to be saved. */
export function ComponentCard({ message, made }: { message: AssistantMessage; made: MadeComponent }) {
  const t = useAssistantTexts();
  const [open, setOpen] = useState(made.state === "pending");
  const [code, setCode] = useState<string | null>(null);
  const diagnostics = made.findings.map(({ line, message: text }) => ({ line: line ?? 1, message: text }));
  const editing = code !== null && made.state === "pending";
  return (
    <Card
      icon={<Puzzle />}
      title={`${t("component")} ${made.className}`}
      aside={<State made={made} />}
      footer={
        <Choices
          message={message}
          made={made}
          open={open}
          setOpen={setOpen}
          code={editing ? code : null}
          setCode={setCode}
        />
      }
    >
      <ReachList made={made} />
      {made.note && made.state === "pending" && <p className="mt-1 text-sm text-muted">{made.note}</p>}
      {made.notKept && <Callout tone="warn">{made.notKept}</Callout>}
      {made.findings.length > 0 && <Findings made={made} />}
      {(open || editing) && (
        <div className="mt-2.5">
          <CodeEditor
            readOnly={!editing}
            language="python"
            value={editing ? code : made.code}
            {...(editing ? { onChange: setCode } : {})}
            label={t("component_code", { name: made.className })}
            minLines={6}
            maxLines={18}
            diagnostics={diagnostics}
          />
        </div>
      )}
      {made.state === "pending" && made.proposalId && (
        <p className="mt-2 text-xs text-muted">
          {message.continues ? t("component_unsaved_continues") : t("component_unsaved")}
        </p>
      )}
    </Card>
  );
}

function State({ made }: { made: MadeComponent }) {
  const t = useAssistantTexts();
  if (made.state === "dismissed") return <Chip className="line-through">{t("dismissed")}</Chip>;
  if (!made.validated) return <Chip tone="bad">{t("component_failed")}</Chip>;
  const passed = made.attempts > 1 ? t("component_passed_after", { count: made.attempts }) : t("component_passed");
  return (
    <Chip tone="ok" icon={<Check />}>
      {made.state === "saved" ? t("component_saved") : passed}
    </Chip>
  );
}

/** Everything that the code may reach, as a plain list: what it does not reach is said too. */
function ReachList({ made: { reach } }: { made: MadeComponent }) {
  const t = useAssistantTexts();
  if (!reach) return null;
  const rows: [string, string][] = [
    [t("component_hosts"), reach.hosts.join(", ") || t("component_no_hosts")],
    [t("component_secrets"), reach.secrets.join(", ") || t("component_no_secrets")],
    [t("component_files"), reach.files ? t("component_files_of_run") : t("component_no_files")],
    [t("component_imports"), reach.imports.join(", ") || t("component_no_imports")],
  ];
  return (
    <section aria-label={t("component_reach")}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-sm">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
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
  /** The code while it is edited. */
  code: string | null;
  setCode: (code: string | null) => void;
}

function Choices(props: ChoicesProps) {
  const { made, open, setOpen, code } = props;
  const t = useAssistantTexts();
  if (code !== null) return <Editing {...props} code={code} />;
  return (
    <>
      {made.state === "pending" && <Deciding {...props} />}
      {made.state === "saved" && <Adding {...props} />}
      <Button size="sm" kind="ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? t("component_hide") : t("component_show")}
      </Button>
      {made.added && <Chip tone="ok">{t("component_added")}</Chip>}
    </>
  );
}

function Deciding({ message, made, setOpen, setCode }: ChoicesProps) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const working = useAssistant((state) => state.working !== null);
  const save = useMutation({
    mutationFn: () => conversation.saveComponent(message.id),
    onMutate: () => setOpen(false),
    onError: (error) => {
      setOpen(true);
      toastError(t("component_not_saved"), error);
    },
  });
  const busy = working || save.isPending;
  return (
    <>
      {made.proposalId && (
        <Button size="sm" kind="primary" busy={save.isPending} disabled={busy} onClick={() => save.mutate()}>
          {t("component_save")}
        </Button>
      )}
      <Button size="sm" disabled={busy} onClick={() => setCode(made.code)}>
        {t("component_edit")}
      </Button>
      <Button size="sm" kind="ghost" disabled={busy} onClick={() => conversation.dismissComponent(message.id)}>
        {t("dismiss")}
      </Button>
    </>
  );
}

/** The code is edited: it is checked again, and what it may reach is shown again, before it can be saved. */
function Editing({ message, code, setCode }: ChoicesProps & { code: string }) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const check = useMutation({
    mutationFn: () => conversation.editComponent(message.id, code),
    onSuccess: () => setCode(null),
    onError: (error) => toastError(t("component_not_checked"), error),
  });
  return (
    <>
      <Button size="sm" kind="primary" busy={check.isPending} disabled={!code.trim()} onClick={() => check.mutate()}>
        {t("component_check")}
      </Button>
      <Button size="sm" kind="ghost" disabled={check.isPending} onClick={() => setCode(null)}>
        {t("component_undo_edit")}
      </Button>
    </>
  );
}

function Adding({ message }: ChoicesProps) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const editable = useDraft((state) => state.editable);
  const add = useMutation({
    mutationFn: () => conversation.addComponent(message.id),
    onError: (error) => toastError(t("component_refused"), error),
  });
  return (
    <Button size="sm" kind="primary" busy={add.isPending} disabled={!editable} onClick={() => add.mutate()}>
      {t("component_add")}
    </Button>
  );
}
