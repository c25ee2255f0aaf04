import { ChevronRight, HardDriveDownload, KeyRound, Server } from "lucide-react";
import type { ReactNode } from "react";
import { type ModelSetupText, useModelSetupTexts } from "../texts";

export type Way = "server" | "key" | "local";

const WAYS: readonly { id: Way; icon: ReactNode; title: ModelSetupText; more: ModelSetupText }[] = [
  { id: "key", icon: <KeyRound />, title: "way_key", more: "way_key_more" },
  { id: "server", icon: <Server />, title: "way_server", more: "way_server_more" },
  { id: "local", icon: <HardDriveDownload />, title: "way_local", more: "way_local_more" },
];

/** Where the model is. */
export function WayStep({ onChoose }: { onChoose: (way: Way) => void }) {
  const t = useModelSetupTexts();
  return (
    <section aria-labelledby="ways" className="flex flex-col gap-3">
      <h3 id="ways" className="font-semibold">
        {t("way_title")}
      </h3>
      <ul className="flex flex-col gap-2">
        {WAYS.map(({ id, icon, title, more }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onChoose(id)}
              className="flex w-full items-center gap-3 rounded-lg border border-line-strong bg-raised px-4 py-3 text-left shadow-low hover:bg-hover"
            >
              <span aria-hidden className="text-accent [&_svg]:size-5">
                {icon}
              </span>
              <span className="min-w-0 flex-1">
                <span className="block font-medium">{t(title)}</span>
                <span className="block text-muted text-sm">{t(more)}</span>
              </span>
              <ChevronRight aria-hidden className="size-4 shrink-0 text-faint" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
