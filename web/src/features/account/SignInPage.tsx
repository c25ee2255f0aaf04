import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { signInOptionsQuery } from "@/api/queries/signIn";
import { Button, Callout, Field, Input, Select } from "@/components/ui";
import { AccountFrame } from "./AccountFrame";
import { ownPath } from "./ownPath";
import { PasskeyButton } from "./PasskeyButton";
import { PasswordInput } from "./PasswordInput";
import { said } from "./refusal";
import { SecondFactorStep } from "./SecondFactorStep";
import { useAccountTexts } from "./texts";
import { useSignIn } from "./useSignIn";

const route = getRouteApi("/sign-in");

/** Asks people in, and leads on to where they wanted to be. */
export function SignInPage() {
  const t = useAccountTexts();
  const { next, error, step } = route.useSearch();
  const [missing, setMissing] = useState(step === "second-factor");
  const home = ownPath(next);
  const options = useQuery(signInOptionsQuery);
  const enter = () => window.location.replace(home);
  const form = useSignIn((lacks) => (lacks ? setMissing(true) : enter()));
  const refused = form.refusal ?? (error ? said(error, "error_single_sign_on") : null);
  const wrong = form.refusal?.text === "error_sign_in_refused";
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  if (missing) return <SecondFactorStep onDone={enter} />;
  return (
    <AccountFrame title={t("welcome")} about={next && home !== "/" && !refused ? t("ended") : t("welcome_more")}>
      <form
        noValidate
        method="post"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <Field label={t("email")}>
          {(control) => (
            <Input
              {...control}
              ref={first}
              name="email"
              type="email"
              autoComplete="username"
              className="h-10"
              aria-invalid={wrong || undefined}
              value={form.email}
              onChange={(event) => form.setEmail(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("password")}>
          {(control) => (
            <PasswordInput
              {...control}
              name="password"
              autoComplete="current-password"
              aria-invalid={wrong || undefined}
              value={form.password}
              onChange={(event) => form.setPassword(event.target.value)}
            />
          )}
        </Field>
        {form.organisations.length > 0 && (
          <Field label={t("organisation")}>
            {(control) => (
              <Select
                {...control}
                value={form.organisation}
                placeholder={t("choose_organisation")}
                options={form.organisations.map((name) => ({ value: name, label: name }))}
                onChange={form.setOrganisation}
              />
            )}
          </Field>
        )}
        {form.coded && (
          <Field label={t("code")} help={t("code_help")}>
            {(control) => (
              <Input
                {...control}
                autoFocus
                name="code"
                autoComplete="one-time-code"
                className="h-10"
                maxLength={40}
                value={form.code}
                onChange={(event) => form.setCode(event.target.value)}
              />
            )}
          </Field>
        )}
        {refused && (
          <Callout
            tone={["error_organisation_needed", "error_second_factor_needed"].includes(refused.text) ? "info" : "bad"}
          >
            {t(refused.text, { seconds: refused.seconds })}
          </Callout>
        )}
        <Button type="submit" kind="primary" size="lg" busy={form.busy}>
          {t("sign_in")}
        </Button>
      </form>
      {(options.data?.single_sign_on || options.data?.passkeys) && (
        <div className="flex flex-col">
          <div className="my-4 flex items-center gap-3 text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
            {t("or")}
          </div>
          <div className="flex flex-col gap-2">
            {options.data.passkeys && <PasskeyButton onDone={enter} onRefused={form.refuse} />}
            {options.data.single_sign_on && (
              <a
                href={`/api/v1/sign-in/oidc?next=${encodeURIComponent(home)}`}
                className="flex h-10 items-center justify-center rounded-md border border-line-strong bg-raised font-medium shadow-low hover:bg-hover"
              >
                {t("with", { name: options.data.single_sign_on })}
              </a>
            )}
          </div>
        </div>
      )}
      <p className="mt-6 text-sm text-muted">{t("forgot")}</p>
    </AccountFrame>
  );
}
