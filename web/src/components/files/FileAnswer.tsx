import { useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useRef, useState } from "react";
import { fileQuery } from "@/api/queries/files";
import { uploadFile } from "@/api/uploads";
import { Button, IconButton, Progress, toastError } from "@/components/ui";
import { bytes } from "@/lib/i18n/format";
import { DropZone, USUAL_LIMIT } from "./DropZone";
import { FileLink } from "./FileLink";
import { useFileTexts } from "./texts";

interface Uploading {
  key: string;
  file: File;
  part: number;
  failed: boolean;
  stop: AbortController;
}

interface FileAnswerProps {
  ids: readonly string[];
  /** Takes the ids after a change of the latest ones: uploads end in their own time. */
  onChange: (change: (ids: readonly string[]) => string[]) => void;
  onBusy?: (busy: boolean) => void;
  accept?: string | undefined;
  label?: string;
  control?: { id: string; "aria-describedby"?: string; "aria-invalid"?: true };
}

/** Files as an answer: dropped or chosen, uploaded at once, shown, taken away. */
export function FileAnswer({ ids, onChange, onBusy, accept, label, control }: FileAnswerProps) {
  const says = useFileTexts();
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<Uploading[]>([]);
  const waiting = useRef(0);
  const change = (key: string, to: Partial<Uploading> | null) =>
    setUploads((all) => all.flatMap((one) => (one.key !== key ? one : to ? { ...one, ...to } : [])));
  const count = (by: number) => {
    waiting.current += by;
    onBusy?.(waiting.current > 0);
  };

  const send = async (upload: Uploading) => {
    count(1);
    try {
      const found = await uploadFile(upload.file, {
        onProgress: (part) => change(upload.key, { part }),
        signal: upload.stop.signal,
      });
      queries.setQueryData(fileQuery(found.id).queryKey, found);
      onChange((before) => [...before, found.id]);
      change(upload.key, null);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") change(upload.key, null);
      else {
        change(upload.key, { failed: true });
        toastError(upload.file.name, error);
      }
    } finally {
      count(-1);
    }
  };
  const take = (files: File[]) => {
    for (const file of files) {
      if (file.size > USUAL_LIMIT) {
        toastError(
          file.name,
          says("too_large", { name: file.name, size: bytes(file.size), limit: bytes(USUAL_LIMIT) }),
        );
        continue;
      }
      const upload = { key: crypto.randomUUID(), file, part: 0, failed: false, stop: new AbortController() };
      setUploads((all) => [...all, upload]);
      void send(upload);
    }
  };

  return (
    <div className="flex flex-col gap-2">
      {ids.map((id) => (
        <div key={id} className="flex items-start gap-1">
          <FileLink id={id} className="min-w-0 flex-1" />
          <IconButton
            size="sm"
            label={says("remove", { name: label ?? says("a_file") })}
            onClick={() => onChange((before) => before.filter((one) => one !== id))}
          >
            <X />
          </IconButton>
        </div>
      ))}
      {uploads.map((one) => (
        <div key={one.key} className="flex items-center gap-2 text-sm">
          <span className="min-w-0 flex-1">
            <span className="block truncate">{one.file.name}</span>
            <Progress value={one.failed ? 0 : one.part} label={says("uploading", { name: one.file.name })} />
          </span>
          {one.failed && (
            <Button
              size="sm"
              onClick={() => {
                change(one.key, { failed: false, part: 0 });
                void send(one);
              }}
            >
              {says("retry")}
            </Button>
          )}
          <IconButton
            size="sm"
            label={says("cancel", { name: one.file.name })}
            onClick={() => (one.failed ? change(one.key, null) : one.stop.abort())}
          >
            <X />
          </IconButton>
        </div>
      ))}
      <DropZone multiple {...(accept ? { accept } : {})} onFiles={take} {...(control ?? {})} />
    </div>
  );
}
