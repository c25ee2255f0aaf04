import { useState } from "react";
import type { ApiDocument } from "@/api/queries/apis";
import { DropZone } from "@/components/files/DropZone";
import { Button, Field, Input, Textarea } from "@/components/ui";
import { useConnectionTexts } from "./texts";

/** The server refuses longer ones. */
const MOST_BYTES = 25_000_000;

interface DocumentFormProps {
  action: string;
  busy: boolean;
  onSubmit: (document: ApiDocument) => void;
}

/** Asks for the description of an API: an address, a file or pasted text. */
export function DocumentForm({ action, busy, onSubmit }: DocumentFormProps) {
  const t = useConnectionTexts();
  const [url, setUrl] = useState("");
  const [content, setContent] = useState("");
  const ready = (url.trim() === "") !== (content.trim() === "");
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("document_url")} help={t("document_help")}>
        {(ids) => (
          <Input
            {...ids}
            type="url"
            value={url}
            placeholder="https://api.example.org/openapi.json"
            onChange={(event) => setUrl(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("document_file")}>
        {(ids) => (
          <DropZone
            {...ids}
            accept=".json,.yaml,.yml,.har,.txt"
            limit={MOST_BYTES}
            onFiles={async ([file]) => setContent((await file?.text()) ?? "")}
          />
        )}
      </Field>
      <Field label={t("document_text")}>
        {(ids) => (
          <Textarea
            {...ids}
            rows={4}
            className="font-mono text-xs"
            value={content.length > 20_000 ? `${content.slice(0, 20_000)}…` : content}
            readOnly={content.length > 20_000}
            onChange={(event) => setContent(event.target.value)}
          />
        )}
      </Field>
      <Button
        className="self-end"
        kind="primary"
        disabled={!ready}
        busy={busy}
        onClick={() => onSubmit(url.trim() ? { url: url.trim(), content: "" } : { content, url: "" })}
      >
        {action}
      </Button>
    </div>
  );
}
