import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { assistantConfigQuery } from "@/api/queries/assistant";
import { codevDomainsQuery, codevKeys, codevSessionQuery, startSession } from "@/api/queries/codev";
import { Button, Callout, Field, Keys, Problem, Textarea } from "@/components/ui";
import { isErrorOfModel } from "../model/modelCodes";
import { EMPTY_START, type StartForm, startFaults, toStart } from "../model/startForm";
import { ConnectProvider } from "../page/ConnectProvider";
import { useCodevTexts } from "../texts";
import { Advanced } from "./Advanced";
import { Place } from "./Place";

/** What is wanted, and where: the way into a session. An address may say which flow. */
export function StartPage() {
  const t = useCodevTexts();
  const { flow, domain } = useSearch({ from: "/inside/develop/new" });
  return (
    <div className="mx-auto flex w-full max-w-2xl flex-col gap-5 px-4 py-6 sm:px-6">
      <header>
        <Link to="/develop" className="inline-flex items-center gap-1 text-sm text-muted hover:text-ink">
          <ArrowLeft aria-hidden className="size-3.5" />
          {t("development")}
        </Link>
        <h1 className="mt-1 text-xl font-semibold">{t("new_session")}</h1>
        <p className="mt-0.5 text-muted">{t("new_session_about")}</p>
      </header>
      <Form
        first={{ ...EMPTY_START, domain: domain ?? "headgate", flowId: flow ?? "", existing: flow !== undefined }}
      />
    </div>
  );
}

export function Form({ first }: { first: StartForm }) {
  const t = useCodevTexts();
  const [form, setForm] = useState(first);
  const [tried, setTried] = useState(false);
  const set = (more: Partial<StartForm>) => setForm((before) => ({ ...before, ...more }));
  const domains = useQuery(codevDomainsQuery);
  const faults = startFaults(form);
  const start = useStart();
  const submit = () => {
    setTried(true);
    if (faults.size === 0 && !start.isPending) start.mutate(toStart(form));
  };
  const shown = tried ? faults : new Set<never>();
  return (
    <form
      className="flex flex-col gap-5"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        submit();
      }}
    >
      <Field
        label={t("wanted")}
        help={t("wanted_help")}
        required
        error={shown.has("requirement") ? t("wanted_missing") : null}
      >
        {(control) => (
          <Textarea
            {...control}
            autoFocus
            rows={5}
            maxLength={20_000}
            placeholder={t("wanted_example")}
            className="min-h-32"
            value={form.requirement}
            onChange={(event) => set({ requirement: event.target.value })}
          />
        )}
      </Field>
      {domains.isError && <Problem error={domains.error} retry={() => void domains.refetch()} />}
      <Place form={form} domains={domains.data ?? []} faults={shown} onChange={set} />
      <Advanced form={form} faults={shown} onChange={set} />
      {!isErrorOfModel(start.error) && <NoModel chosen={form.model} />}
      {start.isError && (
        <div className="flex flex-col items-start gap-2">
          <Problem error={start.error} />
          {isErrorOfModel(start.error) && <ConnectProvider onDone={start.reset} />}
        </div>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" kind="primary" size="lg" busy={start.isPending}>
          {t("start")}
        </Button>
        <span className="flex items-center gap-2 text-sm text-muted max-sm:hidden">
          <Keys keys="$mod+Enter" />
          {t("start_note")}
        </span>
      </div>
    </form>
  );
}

function useStart() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: startSession,
    onSuccess: (session) => {
      queries.setQueryData(codevSessionQuery(session.thread_id).queryKey, session);
      void queries.invalidateQueries({ queryKey: codevKeys.lists });
      void navigate({ to: "/develop/$sessionId", params: { sessionId: session.thread_id } });
    },
  });
}

/** Said before anybody waits for nothing: no model can be asked yet. */
function NoModel({ chosen }: { chosen: string }) {
  const t = useCodevTexts();
  const config = useQuery(assistantConfigQuery);
  if (chosen || !config.data || config.data.configured) return null;
  return (
    <Callout tone="warn" title={t("no_model")} action={<ConnectProvider />}>
      {t("no_model_more")}
    </Callout>
  );
}
