import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { signIn } from "@/api/queries/signIn";
import { type Refusal, refusalOf, said } from "./refusal";

/** What the sign-in form holds, and what came of sending it. */
export function useSignIn(onDone: (missing: boolean) => void) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [organisation, setOrganisation] = useState<string>();
  const [organisations, setOrganisations] = useState<string[]>([]);
  const [code, setCode] = useState("");
  const [coded, setCoded] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const sending = useMutation({
    mutationFn: signIn,
    onSuccess: (welcome) => onDone(welcome.second_factor_missing),
    onError: (error) => {
      const found = refusalOf(error);
      setRefusal(found);
      if (found.organisations.length > 0) setOrganisations(found.organisations);
      if (found.text === "error_second_factor_needed") setCoded(true);
    },
  });
  // The names belong to one address and password: another asks anew.
  const changed = (set: (value: string) => void) => (value: string) => {
    set(value);
    setOrganisations([]);
    setOrganisation(undefined);
    setCoded(false);
    setCode("");
  };
  const submit = () => {
    setRefusal(null);
    if (!email.trim() || !password) setRefusal(said("empty"));
    else sending.mutate({ email, password, organisation: organisation ?? null, code: code.trim() || null });
  };
  return {
    email,
    setEmail: changed(setEmail),
    password,
    setPassword: changed(setPassword),
    organisation,
    setOrganisation,
    organisations,
    /** Whether the account has a second factor. */
    coded,
    code,
    setCode,
    refusal,
    refuse: setRefusal,
    busy: sending.isPending || sending.isSuccess,
    submit,
  };
}
