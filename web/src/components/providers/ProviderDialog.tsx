import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { assistantKeys } from "@/api/queries/assistant";
import { modelKeys } from "@/api/queries/models";
import { providerKeys, providersQuery, testProvider } from "@/api/queries/providers";
import { setVariable, variableKeys } from "@/api/queries/variables";
import { Button, Dialog, Problem, Skeleton } from "@/components/ui";
import { Connected } from "./Connected";
import { ProviderList } from "./ProviderList";
import { ProviderSetup } from "./ProviderSetup";
import { useProviderTexts } from "./texts";
import { inOrder, type Provider, toWrite, wrongValue } from "./values";

interface ProviderDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** A provider answered, and the dialog was left with it. */
  onDone?: () => void;
  /** The provider to begin with. */
  provider?: string;
}

/** Connect a provider of models where one is missed: choose it, give its key, test it. */
export function ProviderDialog({ open, onOpenChange, ...rest }: ProviderDialogProps) {
  return open ? <Opened onOpenChange={onOpenChange} {...rest} /> : null;
}

function Opened({ onOpenChange, onDone, provider }: Omit<ProviderDialogProps, "open">) {
  const t = useProviderTexts();
  const providers = useQuery(providersQuery);
  const [chosen, choose] = useState(provider);
  const [values, setValues] = useState<Record<string, string>>({});
  const [tried, setTried] = useState(false);
  const sorted = inOrder(providers.data ?? []);
  const current = sorted.find(({ id }) => id === chosen) ?? sorted[0];
  const connect = useConnect();
  const pick = (id: string) => {
    choose(id);
    setValues({});
    setTried(false);
    connect.reset();
  };
  const done = () => {
    onOpenChange(false);
    onDone?.();
  };
  const submit = () => {
    if (!current) return;
    setTried(true);
    const wrong = current.settings.some((one) => wrongValue(one, values[one.variable] ?? ""));
    if (!wrong) connect.mutate({ provider: current, values }, { onSuccess: () => setValues({}) });
  };
  const canTest = current?.installed === true;
  const works = connect.data?.ok === true;
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={t("title")}
      description={t("about")}
      size="lg"
      footer={
        <>
          <Button kind={works ? "secondary" : "primary"} disabled={!canTest} busy={connect.isPending} onClick={submit}>
            {Object.values(values).some(Boolean) ? t("save_and_test") : t("test")}
          </Button>
          {works && (
            <Button kind="primary" onClick={done}>
              {t("done")}
            </Button>
          )}
        </>
      }
    >
      {providers.isError && <Problem error={providers.error} retry={() => void providers.refetch()} />}
      {providers.isPending && <Skeleton className="h-72" />}
      {current && (
        <div className="grid gap-5 sm:grid-cols-[14rem_1fr]">
          <ProviderList providers={sorted} chosen={current.id} onChoose={pick} />
          <form
            className="flex min-w-0 flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              submit();
            }}
          >
            <ProviderSetup
              provider={current}
              values={values}
              tried={tried}
              onChange={(variable, value) => setValues((before) => ({ ...before, [variable]: value }))}
            />
            <button type="submit" hidden />
            {connect.isError && <Problem error={connect.error} />}
            {connect.data && <Connected name={current.label} found={connect.data} />}
          </form>
        </div>
      )}
    </Dialog>
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
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: providerKeys.all }),
        queryClient.invalidateQueries({ queryKey: modelKeys.all }),
        queryClient.invalidateQueries({ queryKey: variableKeys.all }),
        queryClient.invalidateQueries({ queryKey: assistantKeys.config }),
      ]),
  });
}
