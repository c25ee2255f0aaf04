import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { signIn } from "@/api/queries/signIn";
import { type Refusal, refusalOf, said } from "./refusal";

/** What the sign-in form holds, and what came of sending it. */
export function useSignIn(onDone: () => void) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [organisation, setOrganisation] = useState<string>();
  const [organisations, setOrganisations] = useState<string[]>([]);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const sending = useMutation({
    mutationFn: signIn,
    onSuccess: onDone,
    onError: (error) => {
      const found = refusalOf(error);
      setRefusal(found);
      setOrganisations(found.organisations);
    },
  });
  // The names belong to one address and password: another asks anew.
  const changed = (set: (value: string) => void) => (value: string) => {
    set(value);
    setOrganisations([]);
    setOrganisation(undefined);
  };
  const submit = () => {
    setRefusal(null);
    if (!email.trim() || !password) setRefusal(said("empty"));
    else sending.mutate({ email, password, organisation: organisation ?? null });
  };
  return {
    email,
    setEmail: changed(setEmail),
    password,
    setPassword: changed(setPassword),
    organisation,
    setOrganisation,
    organisations,
    refusal,
    busy: sending.isPending || sending.isSuccess,
    submit,
  };
}
