import { Brain, ChevronDown, RefreshCw, Shield, Trash2 } from "lucide-react";
import { useState } from "react";
import { mcpServerKeys } from "@/api/queries/mcpServers";
import { useRights } from "@/api/rights";
import { Button, Callout, Chip, cx, IconButton, Problem, Row, Switch } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { duration } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";
import { AccessDialog } from "./AccessDialog";
import { authorizeServer, type McpServer, refreshServer, switchServer, testServer } from "./calls";
import { McpTools } from "./McpTools";
import { SamplingDialog } from "./SamplingDialog";

interface ServerRowProps {
  server: McpServer;
  manage: boolean;
  onRemove: () => void;
}

/** One server: whether it is used, whether it answers, and its tools. */
export function McpServerRow({ server, manage, onRemove }: ServerRowProps) {
  const t = useSettingsTexts();
  const [open, setOpen] = useState(false);
  const touches = [mcpServerKeys.all];
  const refresh = useChange({ change: () => refreshServer(server.id), touches, failed: t("refresh_failed") });
  const test = useChange({ change: () => testServer(server.id), touches: [], failed: t("test_failed") });
  const enable = useChange({ change: (on: boolean) => switchServer(server.id, on), touches, failed: t("save_failed") });
  const found = refresh.data;
  return (
    <Row
      muted={!server.enabled}
      title={
        <>
          {server.name}
          <Chip>{server.transport}</Chip>
        </>
      }
      detail={
        <>
          <span className="font-mono text-xs">{server.url || server.command?.join(" ")}</span>
          <Extras server={server} />
        </>
      }
      aside={
        <>
          <Button
            size="sm"
            kind="ghost"
            aria-expanded={open}
            icon={<ChevronDown className={cx("transition-transform", open && "rotate-180")} />}
            onClick={() => setOpen(!open)}
          >
            {t("tools")}
          </Button>
          {manage && (
            <>
              {mayNeedSignIn(server) && <SignIn server={server} />}
              <Button size="sm" busy={test.isPending} onClick={() => test.mutate()}>
                {t("test")}
              </Button>
              <ModelOf server={server} />
              <AccessOf server={server} />
              <IconButton
                size="sm"
                label={t("refresh_what", { what: server.name })}
                disabled={refresh.isPending}
                onClick={() => refresh.mutate(undefined, { onSuccess: () => setOpen(true) })}
              >
                <RefreshCw className={cx(refresh.isPending && "animate-spin")} />
              </IconButton>
              <Switch
                aria-label={t("use_what", { what: server.name })}
                checked={server.enabled}
                onChange={(on) => enable.mutate(on)}
              />
              <IconButton size="sm" label={t("delete_what", { what: server.name })} onClick={onRemove}>
                <Trash2 />
              </IconButton>
            </>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-2 empty:hidden [&:not(:empty)]:mt-2">
        {server.error_message && !refresh.isPending && <Callout tone="warn">{server.error_message}</Callout>}
        {test.data && (
          <Callout tone="ok">
            {t("server_answers", { name: test.data.server, count: test.data.tools, time: duration(test.data.ms) })}
          </Callout>
        )}
        {test.isError && <Problem error={test.error} />}
        {refresh.isError && <Problem error={refresh.error} />}
        {found && (
          <Callout tone={found.left_out.length ? "warn" : "ok"}>
            {t("tools_found", {
              count: found.tools.length,
              added: found.added.length,
              changed: found.changed.length,
              removed: found.removed.length,
            })}
            {found.left_out.map((one) => (
              <p key={one}>{one}</p>
            ))}
          </Callout>
        )}
        {open && <McpTools server={server.id} manage={manage} />}
      </div>
    </Row>
  );
}

/** What it is sent, and the model that it may ask. */
function Extras({ server }: { server: McpServer }) {
  const t = useSettingsTexts();
  return (
    <>
      {server.connection && <span> · {t("sends_token_of", { name: server.connection })}</span>}
      {server.secret_names.length > 0 && <span> · {t("sends", { names: server.secret_names.join(", ") })}</span>}
      {server.access?.hosts?.length ? (
        <span> · {t("connects_to", { what: server.access.hosts.join(", ") })}</span>
      ) : null}
      {server.access?.read?.length ? <span> · {t("reads", { what: server.access.read.join(", ") })}</span> : null}
      {server.access?.write?.length ? <span> · {t("changes", { what: server.access.write.join(", ") })}</span> : null}
      {server.sampling && <span> · {t("asks_model", { model: server.sampling.model })}</span>}
    </>
  );
}

/** Opens the choice of the model that the server may ask. */
function ModelOf({ server }: { server: McpServer }) {
  const t = useSettingsTexts();
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton size="sm" label={t("sampling_of", { what: server.name })} onClick={() => setOpen(true)}>
        <Brain />
      </IconButton>
      {open && <SamplingDialog server={server} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Opens the hosts and folders of a program, for those who may register programs. */
function AccessOf({ server }: { server: McpServer }) {
  const t = useSettingsTexts();
  const { may } = useRights();
  const [open, setOpen] = useState(false);
  if (server.transport !== "stdio" || !may("mcp_servers.programs")) return null;
  return (
    <>
      <IconButton size="sm" label={t("access_of", { what: server.name })} onClick={() => setOpen(true)}>
        <Shield />
      </IconButton>
      {open && <AccessDialog server={server} onClose={() => setOpen(false)} />}
    </>
  );
}

function mayNeedSignIn(server: McpServer): boolean {
  const answered = server.tools_found_at !== null && !server.error_message;
  return server.transport === "http" && (server.connection !== "" || !answered);
}

/** Opens the provider's page; a refusal is shown as a message. */
function SignIn({ server }: { server: McpServer }) {
  const t = useSettingsTexts();
  const authorize = useChange({
    change: () => authorizeServer(server.id),
    touches: [mcpServerKeys.all],
    failed: t("authorize_failed"),
  });
  const open = () => authorize.mutate(undefined, { onSuccess: ({ url }) => url && window.location.assign(url) });
  return (
    <Button size="sm" busy={authorize.isPending} onClick={open}>
      {t("sign_in_at", { what: server.name })}
    </Button>
  );
}
