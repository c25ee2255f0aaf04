import { useState } from "react";
import { mcpServerKeys, type RegistryServer } from "@/api/queries/mcpServers";
import { useRights } from "@/api/rights";
import { FormDialog } from "@/components/FormDialog";
import { type Pairs, PairsEditor, VariableSpace } from "@/components/fields";
import { Field, Input, Segments } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";
import { AccessFields } from "./AccessFields";
import {
  authorizeServer,
  createServer,
  type McpServerIn,
  NO_ACCESS,
  readCommand,
  refreshServer,
  type Sampling,
  withoutEmpty,
} from "./calls";
import { RegistrySearch } from "./RegistrySearch";
import { isComplete, SamplingFields } from "./SamplingFields";

/** Registers a server, and asks it for its tools at once. */
export function McpServerDialog({ spaceId, onClose }: { spaceId: string; onClose: () => void }) {
  const t = useSettingsTexts();
  const { may } = useRights();
  const [transport, setTransport] = useState<"http" | "stdio">("http");
  const [name, setName] = useState("");
  const [where, setWhere] = useState("");
  const [pairs, setPairs] = useState<Pairs>({});
  const [signIn, setSignIn] = useState(false);
  const [sampling, setSampling] = useState<Sampling | null>(null);
  const [access, setAccess] = useState(NO_ACCESS);
  const http = transport === "http";
  const byOAuth = http && signIn;
  const add = useChange({
    change: async () => {
      const made = await createServer({
        ...({ name: name.trim(), transport, space_id: spaceId, enabled: true, sampling } as McpServerIn),
        ...(http
          ? { url: where.trim(), headers: byOAuth ? {} : pairs }
          : { command: readCommand(where), env: pairs, access: withoutEmpty(access) }),
      });
      if (byOAuth) {
        const { url } = await authorizeServer(made.id);
        if (url) window.location.assign(url);
        return made;
      }
      // The server is registered even when it does not answer yet; its row says why.
      await refreshServer(made.id).catch(() => undefined);
      return made;
    },
    touches: [mcpServerKeys.all],
  });
  const ready = name.trim() !== "" && where.trim() !== "" && isComplete(sampling);
  const submit = () => add.mutate(undefined, { onSuccess: onClose });
  const choose = (server: RegistryServer) => {
    setName(server.suggested_name);
    setWhere(server.url);
    setPairs(Object.fromEntries(server.headers.map((header) => [header.name, ""])));
  };
  return (
    <FormDialog
      title={t("add_server")}
      description={t("add_server_more")}
      action={byOAuth ? t("add_and_sign_in") : t("add")}
      ready={ready}
      busy={add.isPending}
      error={add.error}
      onSubmit={submit}
      onClose={onClose}
    >
      {may("mcp_servers.programs") && (
        <div>
          <Segments
            aria-label={t("transport")}
            value={transport}
            options={[
              { value: "http", label: t("over_http") },
              { value: "stdio", label: t("as_program") },
            ]}
            onChange={setTransport}
          />
        </div>
      )}
      {http && <RegistrySearch chosen={where} onChoose={choose} />}
      <Field label={t("name")} help={t("server_name_help")} required>
        {(control) => (
          <Input {...control} value={name} placeholder="weather" onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <Field label={http ? t("address") : t("command")} help={http ? undefined : t("command_help")} required>
        {(control) => (
          <Input
            {...control}
            className="font-mono"
            spellCheck={false}
            value={where}
            placeholder={http ? "https://mcp.example.org/mcp" : "npx -y some-server"}
            onChange={(event) => setWhere(event.target.value)}
          />
        )}
      </Field>
      {http && (
        <Segments
          aria-label={t("authentication")}
          value={signIn ? "oauth" : "headers"}
          options={[
            { value: "headers", label: t("by_headers") },
            { value: "oauth", label: t("by_oauth") },
          ]}
          onChange={(value) => setSignIn(value === "oauth")}
        />
      )}
      {byOAuth && <p className="text-muted text-sm">{t("by_oauth_help")}</p>}
      {!byOAuth && (
        <Field label={http ? t("headers") : t("environment")} help={t("headers_help")}>
          {() => (
            <VariableSpace value={spaceId}>
              <PairsEditor label={http ? t("headers") : t("environment")} value={pairs} secrets onChange={setPairs} />
            </VariableSpace>
          )}
        </Field>
      )}
      {!http && (
        <>
          <p className="text-muted text-sm">{t("access_more")}</p>
          <AccessFields value={access} onChange={setAccess} />
        </>
      )}
      <SamplingFields value={sampling} onChange={setSampling} />
    </FormDialog>
  );
}
