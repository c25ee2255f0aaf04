import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, Trash2 } from "lucide-react";
import { useState } from "react";
import { deleteState, setState, stateKeys, stateQuery } from "@/api/queries/flowState";
import { Button, Field, IconButton, Problem, Skeleton, Textarea, toast } from "@/components/ui";
import { ValueView } from "@/components/values/ValueView";
import { dateTime } from "@/lib/i18n/format";
import { asData, inText } from "@/lib/jsonText";
import { StateClass, StateType } from "./StateClass";
import { useStateTexts } from "./texts";

interface StateValueProps {
  flowId: string;
  name: string;
  draft: boolean;
  editable: boolean;
  onBack: () => void;
}

/** One value: changed with compare-and-swap, deleted, and what it was before. */
export function StateValue({ flowId, name, draft, editable, onBack }: StateValueProps) {
  const t = useStateTexts();
  const queries = useQueryClient();
  const { data, error } = useQuery(stateQuery(flowId, name, draft));
  const [text, setText] = useState<string | null>(null);
  const again = () => void queries.invalidateQueries({ queryKey: stateKeys.all(flowId) });
  const save = useMutation({
    mutationFn: () => setState(flowId, name, draft, asData(text ?? ""), data?.version ?? 0),
    onSuccess: () => {
      setText(null);
      toast({ title: t("saved", { name }), tone: "ok" });
    },
    onSettled: again,
  });
  const remove = useMutation({
    mutationFn: () => deleteState(flowId, name, draft),
    onSuccess: () => {
      toast({ title: t("removed", { name }), tone: "ok" });
      onBack();
    },
    onSettled: again,
  });
  const failed = save.error ?? remove.error ?? error;
  return (
    <section aria-label={name} className="flex flex-col gap-3">
      <div className="flex items-center gap-2">
        <IconButton label={t("back")} size="sm" onClick={onBack}>
          <ArrowLeft />
        </IconButton>
        <h3 className="min-w-0 flex-1 truncate font-mono text-sm">{name}</h3>
        {data && <StateType type={data.type} />}
        {data && <StateClass level={data.classification} />}
        {editable && (
          <IconButton label={t("remove", { name })} size="sm" onClick={() => remove.mutate()}>
            <Trash2 />
          </IconButton>
        )}
      </div>
      {failed && <Problem error={failed} />}
      {!data && !error && <Skeleton className="h-24" />}
      {data && (
        <>
          <Field label={t("value")} {...(editable ? { help: t("value_help") } : {})}>
            {(control) => (
              <Textarea
                {...control}
                rows={5}
                className="font-mono"
                readOnly={!editable}
                value={text ?? inText(data.value)}
                onChange={(event) => setText(event.target.value)}
              />
            )}
          </Field>
          {text !== null && (
            <Button kind="primary" className="self-start" busy={save.isPending} onClick={() => save.mutate()}>
              {t("save")}
            </Button>
          )}
          <h4 className="text-sm font-medium">{t("history")}</h4>
          <ol aria-label={t("history")} className="flex flex-col gap-2">
            {data.history.map((entry) => (
              <li key={entry.version} className="rounded-md border border-line px-3 py-2">
                <p className="flex flex-wrap items-center gap-1 text-xs text-muted">
                  {`${t("version", { version: entry.version, when: dateTime(entry.written_at) })} `}
                  {t(entry.run_id ? "by_run" : "by_user")}
                  <StateClass level={entry.classification} />
                </p>
                <ValueView value={entry.value} />
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
