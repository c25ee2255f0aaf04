import type { ReactNode } from "react";
import type { Pack, PackReach } from "@/api/queries/packs";
import { useSettingsTexts } from "../texts";

const KINDS = ["component", "connection", "template", "translation"] as const;

/** What a pack consists of. */
export function Parts({ parts }: { parts: Pack["parts"] }) {
  const t = useSettingsTexts();
  return (
    <dl className="grid gap-1 text-sm">
      {KINDS.map((kind) => {
        const names = parts.filter((part) => part.kind === kind).map((part) => part.name);
        return names.length > 0 && <Fact key={kind} label={t(`pack_${kind}`)} value={names.join(", ")} />;
      })}
      {parts
        .filter((part) => part.kind === "skill")
        .map((part) => (
          <Fact key={part.name} label={t("pack_skill")} value={<Skill name={part.name} text={part.text ?? ""} />} />
        ))}
    </dl>
  );
}

/** The instructions that the development agent gets, to be read before they are trusted. */
function Skill({ name, text }: { name: string; text: string }) {
  return (
    <details>
      <summary className="cursor-pointer">{name}</summary>
      <pre className="mt-1 max-h-60 overflow-auto whitespace-pre-wrap rounded-md bg-sunken p-2 text-xs">{text}</pre>
    </details>
  );
}

/** What the components of a pack may access. */
export function Reach({ reach }: { reach: PackReach }) {
  const t = useSettingsTexts();
  const { hosts, secrets, imports, files } = reach;
  const lines = [
    hosts.length > 0 ? t("pack_hosts", { hosts: hosts.join(", ") }) : t("pack_no_network"),
    t(files ? "pack_files" : "pack_no_files"),
    secrets.length > 0 && t("pack_secrets", { secrets: secrets.join(", ") }),
    imports.length > 0 && t("pack_imports", { imports: imports.join(", ") }),
  ];
  return (
    <dl className="text-sm">
      <Fact label={t("pack_reach")} value={lines.filter(Boolean).join(" · ")} />
    </dl>
  );
}

function Fact({ label, value }: { label: string; value: ReactNode }) {
  return (
    <div className="flex flex-wrap gap-x-2">
      <dt className="text-muted">{label}</dt>
      <dd className="min-w-0 wrap-anywhere">{value}</dd>
    </div>
  );
}
