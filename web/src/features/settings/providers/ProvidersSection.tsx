import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { providersQuery, testProvider } from "@/api/queries/providers";
import { useRights } from "@/api/rights";
import { ProviderDialog, providerName, useProviderTexts } from "@/components/providers";
import { Connected } from "@/components/providers/Connected";
import { inOrder, type Provider } from "@/components/providers/values";
import { Button, Chip, Listing, Row, toastError } from "@/components/ui";
import { AdminsOnly } from "../AdminsOnly";
import { Part, Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { FactsPart } from "./FactsPart";
import { LocalPart } from "./LocalPart";
import { ModelClasses } from "./ModelClasses";
import { RolesPart } from "./RolesPart";
import { ServersPart } from "./ServersPart";

/** Providers of models, the model that is used where nobody chose one, and the classes of models. */
export function ProvidersSection() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const providers = useQuery({ ...providersQuery, select: inOrder });
  const [connecting, setConnecting] = useState<string | true | null>(null);
  return (
    <Section
      title={t("models")}
      about={t("models_about")}
      action={
        may("variables.manage") && (
          <Button kind="primary" onClick={() => setConnecting(true)}>
            {t("connect_provider")}
          </Button>
        )
      }
    >
      <AdminsOnly />
      <RolesPart />
      <ServersPart />
      <Part title={t("providers")}>
        <Listing label={t("providers")} query={providers} empty={null}>
          {(one) => (
            <ProviderRow
              key={one.id}
              provider={one}
              manage={may("variables.manage")}
              onConnect={() => setConnecting(one.id)}
            />
          )}
        </Listing>
      </Part>
      <LocalPart />
      <FactsPart />
      <ModelClasses />
      <ProviderDialog
        open={connecting !== null}
        onOpenChange={(open) => !open && setConnecting(null)}
        {...(typeof connecting === "string" ? { provider: connecting } : {})}
      />
    </Section>
  );
}

interface ProviderRowProps {
  provider: Provider;
  manage: boolean;
  onConnect: () => void;
}

function ProviderRow({ provider, manage, onConnect }: ProviderRowProps) {
  const t = useSettingsTexts();
  const missing = ({ installed, id, settings }: Provider) => {
    if (!installed) return t("needs_package");
    if (id === "local") return t("needs_local");
    if (provider.reached === false) return t("needs_server");
    const names = settings.filter(({ required }) => required).map(({ variable }) => variable);
    return names.length > 0 ? t("needs_variable", { names: names.join(", ") }) : provider.reason;
  };
  const words = useProviderTexts();
  const test = useMutation({
    mutationFn: () => testProvider(provider.id),
    onError: (error) => toastError(t("test_failed"), error),
  });
  return (
    <Row
      title={
        <>
          {providerName(words, provider)}
          <Chip tone={provider.configured ? "ok" : "neutral"}>
            {provider.configured ? t("ready") : provider.installed ? t("not_connected") : t("not_installed")}
          </Chip>
        </>
      }
      detail={provider.configured ? (provider.default_model ?? provider.reason) : missing(provider)}
      aside={
        manage && (
          <>
            {provider.configured && (
              <Button size="sm" busy={test.isPending} onClick={() => test.mutate()}>
                {t("test")}
              </Button>
            )}
            <Button size="sm" kind="ghost" onClick={onConnect}>
              {t(provider.configured ? "change" : "set_up")}
            </Button>
          </>
        )
      }
    >
      {test.data && (
        <div className="mt-2">
          <Connected name={provider.label} found={test.data} />
        </div>
      )}
    </Row>
  );
}
