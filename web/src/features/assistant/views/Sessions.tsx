import { History, Trash2 } from "lucide-react";
import { useState } from "react";
import { Chip, cx, IconButton, Popover } from "@/components/ui";
import { ago } from "@/lib/i18n/format";
import { useAssistantTexts } from "../texts";
import { useAssistant, useAssistantStore } from "./context";

/** The last conversations about this flow, kept in this browser. */
export function Sessions() {
  const t = useAssistantTexts();
  const store = useAssistantStore();
  const [open, setOpen] = useState(false);
  const sessions = useAssistant((state) => state.sessions);
  const current = useAssistant((state) => state.sessionId);
  const busy = useAssistant((state) => state.working !== null);
  const load = (id: string) => {
    store.getState().loadSession(id);
    setOpen(false);
  };
  return (
    <Popover
      open={open}
      onOpenChange={setOpen}
      align="end"
      label={t("sessions")}
      className="w-80 p-1"
      trigger={
        <IconButton size="sm" label={t("sessions")}>
          <History />
        </IconButton>
      }
    >
      {sessions.length === 0 && <p className="px-2 py-1.5 text-sm text-muted">{t("no_sessions")}</p>}
      <ul className="max-h-80 overflow-y-auto">
        {sessions.map((one) => (
          <li key={one.id} className="flex items-center gap-1 rounded-md hover:bg-hover">
            <button
              type="button"
              disabled={busy || one.id === current}
              onClick={() => load(one.id)}
              className={cx("min-w-0 flex-1 px-2 py-1.5 text-left", one.id === current && "cursor-default")}
            >
              <span className="block truncate">{one.title || t("untitled")}</span>
              <span className="flex items-center gap-2 text-xs text-muted">
                {ago(new Date(one.at))}
                {one.id === current && <Chip>{t("current")}</Chip>}
              </span>
            </button>
            <IconButton
              size="sm"
              disabled={busy}
              label={t("delete_session", { title: one.title || t("untitled") })}
              onClick={() => store.getState().deleteSession(one.id)}
            >
              <Trash2 />
            </IconButton>
          </li>
        ))}
      </ul>
    </Popover>
  );
}
