import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useState } from "react";
import { mcpRegistryQuery, type RegistryServer } from "@/api/queries/mcpServers";
import { Button, Input, Problem, Skeleton } from "@/components/ui";
import { useSettingsTexts } from "../texts";

interface RegistrySearchProps {
  /** URL of the chosen server. */
  chosen: string;
  onChoose: (server: RegistryServer) => void;
}

/** Servers of the operator's registry, searched by name; nothing where there is none. */
export function RegistrySearch({ chosen, onChoose }: RegistrySearchProps) {
  const t = useSettingsTexts();
  const [text, setText] = useState("");
  const [search, setSearch] = useState("");
  const found = useQuery(mcpRegistryQuery(search));
  if (found.data?.configured === false || (found.isPending && search === "")) return null;
  return (
    <fieldset className="flex flex-col gap-2 rounded-md border border-line p-3">
      <legend className="px-1 text-muted text-sm">{t("registry")}</legend>
      <div className="flex gap-2">
        <Input
          type="search"
          aria-label={t("registry_search")}
          placeholder={t("registry_search")}
          maxLength={100}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            setSearch(text.trim());
          }}
        />
        <Button icon={<Search />} onClick={() => setSearch(text.trim())}>
          {t("search")}
        </Button>
      </div>
      {found.isPending && <Skeleton className="h-24" />}
      {found.isError && <Problem error={found.error} />}
      {found.data?.items.length === 0 && <p className="text-muted text-sm">{t("registry_none")}</p>}
      <ul aria-label={t("registry")} className="max-h-48 overflow-y-auto">
        {found.data?.items.map((server) => (
          <li key={server.name}>
            <button
              type="button"
              aria-pressed={server.url === chosen}
              onClick={() => onChoose(server)}
              className="w-full rounded-md px-2 py-1.5 text-left hover:bg-hover aria-pressed:bg-hover"
            >
              <span className="block text-sm">
                {server.title} <span className="text-muted text-xs">{server.version}</span>
              </span>
              <span className="block break-all font-mono text-muted text-xs">{server.url}</span>
              <span className="block text-muted text-sm">{server.description}</span>
            </button>
          </li>
        ))}
      </ul>
      {!!found.data?.omitted && (
        <p className="text-muted text-xs">{t("registry_omitted", { count: found.data.omitted })}</p>
      )}
      {found.data?.more && <p className="text-muted text-xs">{t("registry_more")}</p>}
    </fieldset>
  );
}
