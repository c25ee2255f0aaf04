import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { type CodevSession, codevKeys, codevSessionQuery, giveCredential } from "@/api/queries/codev";
import { providersQuery } from "@/api/queries/providers";
import { variableKeys } from "@/api/queries/variables";
import { Button, Field, Input, Problem, Skeleton } from "@/components/ui";
import { type Missing, readMissing } from "../model/known";
import { ConnectProvider } from "../page/ConnectProvider";
import { Continue } from "../page/Continue";
import { useCodevTexts } from "../texts";
import { Answering, CardBody, CardFoot } from "./CardParts";
import type { CardProps } from "./props";

/** Credentials that are missed, to be given here or where they belong. */
export function Credentials({ session, interrupt, answer }: CardProps) {
  const t = useCodevTexts();
  const queries = useQueryClient();
  const missing = readMissing(interrupt.data?.missing);
  const [added, setAdded] = useState<readonly string[]>([]);
  const [skipping, setSkipping] = useState(false);
  const all = missing.length === 0;
  const ofModel = interrupt.data?.of === "model";
  const reason = interrupt.data?.reason;
  /** What the server still lacks is what is listed: it is asked again, wherever the credential was added. */
  const onGiven = (label: string) => {
    setAdded((before) => [...before, label]);
    void queries.invalidateQueries({ queryKey: codevKeys.one(session.thread_id), exact: true });
    void queries.invalidateQueries({ queryKey: codevKeys.lists });
    void queries.invalidateQueries({ queryKey: codevKeys.waiting });
  };
  const send = (skip: boolean) => {
    setSkipping(skip);
    answer.mutate({ type: "credential_check", skip });
  };
  return (
    <>
      <CardBody>
        <p role="status" className="flex items-center gap-2 text-sm empty:hidden">
          {added.length > 0 && (
            <>
              <CircleCheck aria-hidden className="size-4 text-ok" />
              {t("credentials_added", { names: added.join(", ") })}
            </>
          )}
        </p>
        {ofModel && !all && typeof reason === "string" && <p className="break-words text-sm">{reason}</p>}
        <ul className="flex flex-col gap-3 empty:hidden">
          {missing.map((one) => (
            <li key={one.type} className="rounded-md border border-line p-3">
              <p className="flex flex-wrap items-center gap-2">
                <KeyRound aria-hidden className="size-4 text-faint" />
                <span className="font-medium">{one.label}</span>
                {!one.label.includes(one.type) && <span className="font-mono text-xs text-muted">{one.type}</span>}
              </p>
              <Answering>
                <Give
                  session={session}
                  missing={one}
                  own={ofModel || session.domain === "headgate"}
                  onGiven={() => onGiven(one.label)}
                />
              </Answering>
            </li>
          ))}
        </ul>
        <p className="text-xs text-muted">{t(ofModel ? "model_key_note" : "credentials_note")}</p>
        {ofModel && (
          <Answering>
            <Continue key={session.model} session={session} />
          </Answering>
        )}
      </CardBody>
      <CardFoot>
        <Button
          kind="primary"
          busy={answer.isPending && !skipping}
          disabled={answer.isPending}
          onClick={() => send(false)}
        >
          {t(all ? "go_on_given" : ofModel ? "try_again" : "check_again")}
        </Button>
        {!all && (
          <Button busy={answer.isPending && skipping} disabled={answer.isPending} onClick={() => send(true)}>
            {t(ofModel ? "stop_here" : "go_on_without_them")}
          </Button>
        )}
      </CardFoot>
    </>
  );
}

interface GiveProps {
  session: CodevSession;
  missing: Missing;
  /** Whether it is a variable here, and not of another server. */
  own: boolean;
  onGiven: () => void;
}

function Give({ session, missing, own, onGiven }: GiveProps) {
  const t = useCodevTexts();
  const providers = useQuery({ ...providersQuery, enabled: own });
  const provider = providers.data?.find(
    ({ id, settings }) => id === missing.type || settings.some(({ variable }) => variable === missing.type),
  );
  if (own && providers.isPending) return <Skeleton className="mt-2 h-8" />;
  if (own && provider) {
    return (
      <div className="mt-2 flex flex-wrap items-center gap-3">
        <ConnectProvider provider={provider.id} label={t("connect_this", { name: provider.label })} onDone={onGiven} />
        <span className="text-sm text-muted">{t("credential_elsewhere")}</span>
      </div>
    );
  }
  if (missing.fields.length === 0) return <p className="mt-1.5 text-sm text-muted">{missing.where}</p>;
  return <GiveForm session={session} missing={missing} own={own} onGiven={onGiven} />;
}

/** Fields whose values are read when they are sent, and are nowhere else before or after. */
function GiveForm({ session, missing, own, onGiven }: GiveProps) {
  const t = useCodevTexts();
  const queries = useQueryClient();
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set());
  const give = useMutation({
    mutationFn: (form: HTMLFormElement) => {
      const values = valuesOf(form, missing);
      return giveCredential(session.thread_id, missing.type, "", values);
    },
    gcTime: 0,
    onSuccess: (after, form) => {
      form.reset();
      queries.setQueryData(codevSessionQuery(session.thread_id).queryKey, after);
      onGiven();
      void queries.invalidateQueries({ queryKey: variableKeys.all });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = valuesOf(event.currentTarget, missing);
    const empty = missing.fields.filter(({ name, optional }) => !optional && !values[name]).map(({ name }) => name);
    setWrong(new Set(empty));
    if (empty.length === 0 && !give.isPending) give.mutate(event.currentTarget);
  };
  return (
    <form
      aria-label={missing.label}
      autoComplete="off"
      noValidate
      className="mt-3 flex flex-col gap-3"
      onSubmit={submit}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        {missing.fields.map((field) => (
          <Field
            key={field.name}
            label={field.label}
            required={!field.optional}
            error={wrong.has(field.name) ? t("fill_in") : null}
          >
            {(control) => (
              <Input
                {...control}
                name={field.name}
                type={field.secret ? "password" : "text"}
                autoComplete={field.secret ? "new-password" : "off"}
                spellCheck={false}
              />
            )}
          </Field>
        ))}
      </div>
      {give.isError && <Problem error={give.error} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" size="sm" busy={give.isPending}>
          {t("keep_credential")}
        </Button>
        {!own && missing.where && <span className="text-xs text-muted">{missing.where}</span>}
        {own && <span className="text-xs text-muted">{t("credential_elsewhere")}</span>}
      </div>
    </form>
  );
}

function valuesOf(form: HTMLFormElement, missing: Missing): Record<string, string> {
  const data = new FormData(form);
  return Object.fromEntries(
    missing.fields.flatMap(({ name }): [string, string][] => {
      const value = data.get(name);
      return typeof value === "string" && value !== "" ? [[name, value]] : [];
    }),
  );
}
