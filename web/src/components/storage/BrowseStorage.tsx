import { useQuery } from "@tanstack/react-query";
import { FolderOpen } from "lucide-react";
import { useState } from "react";
import { connectionsQuery } from "@/api/queries/connections";
import { useRights } from "@/api/rights";
import { Button } from "@/components/ui";
import { StorageDialog, type Wanted } from "./StorageDialog";
import { useStorageTexts } from "./texts";

interface BrowseStorageProps {
  spaceId: string;
  /** Name of the connection; nothing is shown for one that does not exist. */
  connection: string;
  wanted?: Wanted;
  value?: string;
  size?: "sm" | "md";
  onChoose?: (path: string) => void;
}

/** A button that shows the folders and files of a storage, and hands over the one that is chosen. */
export function BrowseStorage({ spaceId, connection, wanted, value = "", size = "md", onChoose }: BrowseStorageProps) {
  const t = useStorageTexts();
  const { may } = useRights();
  const [open, setOpen] = useState(false);
  const connections = useQuery(connectionsQuery(spaceId));
  const one = connections.data?.find((known) => known.name === connection);
  if (!one || !may("flows.edit", spaceId)) return null;
  const written = value.includes("{{") ? "" : value.replace(/^\/+|\/+$/g, "");
  return (
    <>
      <Button
        size={size}
        kind={size === "sm" ? "ghost" : "secondary"}
        icon={<FolderOpen />}
        onClick={() => setOpen(true)}
      >
        {t("browse")}
      </Button>
      {open && (
        <StorageDialog
          connection={one}
          wanted={wanted}
          folder={wanted === "file" ? written.split("/").slice(0, -1).join("/") : written}
          onClose={() => setOpen(false)}
          {...(onChoose ? { onChoose } : {})}
        />
      )}
    </>
  );
}
