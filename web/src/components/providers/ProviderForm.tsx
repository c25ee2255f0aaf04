import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { providersQuery, testProvider } from "@/api/queries/providers";
import { setVariable } from "@/api/queries/variables";
import { Problem, Skeleton } from "@/components/ui";
import { Connected } from "./Connected";
import { ProviderList } from "./ProviderList";
import { ProviderSetup } from "./ProviderSetup";
import { MODELS_TOUCHED } from "./touched";
import { inOrder, type Provider, toWrite, wrongValue } from "./values";

type ProviderFormState = ReturnType<typeof useProviderForm>;

/** A provider that is being connected: which, what was typed, and the outcome of its test. */
export function useProviderForm(provider?: string, offered: (one: Provider) => boolean = () => true) {
  const providers = useQuery(providersQuery);
  const [chosen, choose] = useState(provider);
  const [values, setValues] = useState<Record<string, string>>({});
  const [tried, setTried] = useState(false);
  const sorted = inOrder(providers.data ?? []).filter(offered);
  const current = sorted.find(({ id }) => id === chosen) ?? sorted[0];
  const connect = useConnect();
  const pick = (id: string) => {
    choose(id);
    setValues({});
    setTried(false);
    connect.reset();
  };
  const submit = () => {
    if (!current) return;
    setTried(true);
    const wrong = current.settings.some((one) => wrongValue(one, values[one.variable] ?? ""));
    if (!wrong) connect.mutate({ provider: current, values }, { onSuccess: () => setValues({}) });
  };
  return {
    providers,
    sorted,
    current,
    pick,
    values,
    setValue: (variable: string, value: string) => setValues((before) => ({ ...before, [variable]: value })),
    tried,
    connect,
    submit,
    canTest: current?.installed === true,
    isTyped: Object.values(values).some(Boolean),
    works: connect.data?.ok === true,
  };
}

/** Choose a provider, give its key, and see the outcome of its test. */
export function ProviderForm({ form }: { form: ProviderFormState }) {
  const { providers, current, connect } = form;
  return (
    <>
      {providers.isError && <Problem error={providers.error} retry={() => void providers.refetch()} />}
      {providers.isPending && <Skeleton className="h-72" />}
      {current && (
        <div className="grid gap-5 sm:grid-cols-[14rem_1fr]">
          <ProviderList providers={form.sorted} chosen={current.id} onChoose={form.pick} />
          <form
            className="flex min-w-0 flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              form.submit();
            }}
          >
            <ProviderSetup provider={current} values={form.values} tried={form.tried} onChange={form.setValue} />
            <button type="submit" hidden />
            {connect.isError && <Problem error={connect.error} />}
            {connect.data && <Connected name={current.label} found={connect.data} />}
          </form>
        </div>
      )}
    </>
  );
}

/** Write what was typed, then ask the provider. */
function useConnect() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async ({ provider, values }: { provider: Provider; values: Record<string, string> }) => {
      for (const { name, body } of toWrite(provider.settings, values)) await setVariable(null, name, body);
      return testProvider(provider.id);
    },
    onSettled: () => Promise.all(MODELS_TOUCHED.map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}
