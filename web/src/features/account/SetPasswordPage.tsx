import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { linkOwnerQuery, setPasswordByLink } from "@/api/queries/signIn";
import { Button, Callout, Field, Input, Skeleton } from "@/components/ui";
import { AccountFrame } from "./AccountFrame";
import { PasswordInput } from "./PasswordInput";
import { type Refusal, refusalOf, said, wrongPassword } from "./refusal";
import { useAccountTexts } from "./texts";

/** What a one-time link opens. Its token stands behind the `#`, which no server is sent. */
export function SetPasswordPage() {
  const t = useAccountTexts();
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get("token") ?? "");
  const owner = useQuery({ ...linkOwnerQuery(token), enabled: token !== "" });
  const refused = token === "" ? said("link_refused") : owner.isError ? lookRefusal(owner.error) : null;
  const who = owner.data && `${owner.data.email ?? owner.data.name} · ${owner.data.organisation}`;
  return (
    <AccountFrame title={t("set_password")} {...(who ? { about: t("set_for", { who }) } : {})}>
      {refused && <LinkRefused refusal={refused} />}
      {!refused && owner.isPending && <Skeleton className="h-56" />}
      {owner.data && <NewPassword token={token} username={owner.data.email ?? owner.data.name} />}
    </AccountFrame>
  );
}

function lookRefusal(error: unknown): Refusal {
  const found = refusalOf(error);
  return found.text === "error_general" ? said("link_refused") : found;
}

function LinkRefused({ refusal }: { refusal: Refusal }) {
  const t = useAccountTexts();
  return (
    <div className="flex flex-col gap-4">
      <Callout tone="bad">{t(refusal.text, { seconds: refusal.seconds })}</Callout>
      <Link to="/sign-in" className="self-start font-medium text-accent hover:underline">
        {t("to_sign_in")}
      </Link>
    </div>
  );
}

function NewPassword({ token, username }: { token: string; username: string }) {
  const t = useAccountTexts();
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [code, setCode] = useState("");
  const [coded, setCoded] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const sending = useMutation({
    mutationFn: () => setPasswordByLink(token, password, code.trim() || undefined),
    onSuccess: (welcome) =>
      window.location.replace(welcome.second_factor_missing ? "/sign-in?step=second-factor" : "/"),
    onError: (error) => {
      const found = refusalOf(error);
      setRefusal(found);
      if (found.text === "error_second_factor_needed") setCoded(true);
    },
  });
  if (refusal?.text === "error_link_refused") return <LinkRefused refusal={refusal} />;
  const submit = () => {
    const wrong = wrongPassword(password, again);
    setRefusal(wrong && { text: wrong, seconds: 0, organisations: [] });
    if (!wrong) sending.mutate();
  };
  return (
    <form
      noValidate
      method="post"
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
      <Field label={t("new_password")} help={t("rule")}>
        {(control) => (
          <PasswordInput
            {...control}
            name="password"
            autoComplete="new-password"
            autoFocus
            aria-invalid={refusal ? true : undefined}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("again")}>
        {(control) => (
          <PasswordInput
            {...control}
            name="again"
            autoComplete="new-password"
            value={again}
            onChange={(event) => setAgain(event.target.value)}
          />
        )}
      </Field>
      {coded && (
        <Field label={t("code")} help={t("code_help")}>
          {(control) => (
            <Input
              {...control}
              name="code"
              autoComplete="one-time-code"
              maxLength={40}
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
      )}
      {refusal && <Callout tone="bad">{t(refusal.text, { seconds: refusal.seconds })}</Callout>}
      <Button type="submit" kind="primary" size="lg" busy={sending.isPending || sending.isSuccess}>
        {t("save")}
      </Button>
    </form>
  );
}
