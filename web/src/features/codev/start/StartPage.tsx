import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { isErrorOfModel } from "@/api/modelProblems";
import { codevDomainsQuery } from "@/api/queries/codev";
import { Page } from "@/components/page";
import { Button, Callout, Field, Keys, Problem, Textarea } from "@/components/ui";
import { EMPTY_START, type StartForm, startFaults, toStart } from "../model/startForm";
import { ConnectProvider } from "../page/ConnectProvider";
import { useCodevTexts } from "../texts";
import { Advanced } from "./Advanced";
import { Place } from "./Place";
import { TEACH } from "./teach";
import { useStart } from "./useStart";
import { keepWish, keptWish } from "./wish";

/** What is wanted, and where: the way into a session. An address may say which flow. */
export function StartPage() {
  const t = useCodevTexts();
  const { flow, domain } = useSearch({ from: "/inside/develop/new" });
  const first = { ...EMPTY_START, requirement: keptWish(), domain: domain ?? "headgate" };
  return (
    <Page
      title={t("new_session")}
      about={t("new_session_about")}
      back={
        <Link to="/develop" className="mb-1 inline-flex items-center gap-1 text-sm text-muted hover:text-ink">
          <ArrowLeft aria-hidden className="size-3.5" />
          {t("development")}
        </Link>
      }
    >
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_17rem]">
        <Form key={`${flow} ${domain}`} first={{ ...first, flowId: flow ?? "", existing: flow !== undefined }} />
        <HowItGoes />
      </div>
    </Page>
  );
}

/** For who has not seen one: what comes after the button, and what is better asked elsewhere. */
function HowItGoes() {
  const t = useCodevTexts();
  return (
    <section aria-label={t("how_it_goes")} className="rounded-lg border border-line bg-surface p-4">
      <h2 className="text-sm font-medium">{t("how_it_goes")}</h2>
      <ol className="mt-3 flex flex-col gap-3">
        {TEACH.map(({ icon: Icon, text }) => (
          <li key={text} className="flex gap-2.5">
            <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
            <div className="min-w-0 text-sm">
              <h3 className="font-medium">{t(text)}</h3>
              <p className="text-muted">{t(`${text}_more`)}</p>
            </div>
          </li>
        ))}
      </ol>
      <p className="mt-4 border-t border-line pt-3 text-sm text-muted">{t("not_assistant")}</p>
    </section>
  );
}

function Form({ first }: { first: StartForm }) {
  const t = useCodevTexts();
  const [form, setForm] = useState(first);
  /** How often it was tried: what is wrong is said from then on, and the first of it has the focus. */
  const [tried, setTried] = useState(0);
  const box = useRef<HTMLFormElement>(null);
  const set = (more: Partial<StartForm>) => setForm((before) => ({ ...before, ...more }));
  const domains = useQuery(codevDomainsQuery);
  const faults = startFaults(form);
  const start = useStart();
  const submit = () => {
    setTried((before) => before + 1);
    if (faults.size === 0 && !start.isPending) start.mutate(toStart(form));
  };
  useEffect(() => {
    if (tried === 0) return;
    const wrong = box.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    const held = wrong?.closest("details");
    if (held) held.open = true; // nothing in a closed one takes the focus
    wrong?.focus();
  }, [tried]);
  const shown = tried > 0 ? faults : new Set<never>();
  const noModel = domains.data?.model === "" && form.model === "";
  return (
    <form
      ref={box}
      className="flex min-w-0 flex-col gap-5"
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
            onChange={(event) => {
              set({ requirement: event.target.value });
              keepWish(event.target.value);
            }}
          />
        )}
      </Field>
      {domains.isError && <Problem error={domains.error} retry={() => void domains.refetch()} />}
      <Place form={form} domains={domains.data?.items ?? []} faults={shown} onChange={set} />
      <Advanced form={form} faults={shown} model={domains.data?.model ?? ""} onChange={set} />
      {noModel && !isErrorOfModel(start.error) && (
        <Callout tone="warn" title={t("no_model")} action={<ConnectProvider />}>
          {t("no_model_more")}
        </Callout>
      )}
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
