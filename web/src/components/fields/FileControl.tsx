import { useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import { fileKeys, filesQuery } from "@/api/queries/files";
import type { JsonValue } from "@/api/types";
import { type FileOut, uploadFile } from "@/api/uploads";
import { DropZone } from "@/components/files/DropZone";
import { FileLink } from "@/components/files/FileLink";
import { IconButton, Progress, Select, toastError } from "@/components/ui";
import { isSchema } from "@/lib/wiring";
import { useFieldTexts } from "./texts";
import type { ControlProps } from "./types";

/** A file: dropped, uploaded, or one that is there already. */
export function FileControl({ field, value, onChange, label }: ControlProps) {
  const t = useFieldTexts();
  const queries = useQueryClient();
  const files = useQuery(filesQuery);
  const [sending, setSending] = useState<{ name: string; part: number } | null>(null);
  const chosen = (Array.isArray(value) ? value : [value]).filter(isSchema);
  const many = field.many === true;
  const put = (next: JsonValue[]) => onChange(next.length === 0 ? undefined : many ? next : next[0]);
  const add = (file: FileOut) => put([...(many ? chosen : []), asValue(file)]);
  const upload = async (dropped: File[]) => {
    const made: JsonValue[] = many ? [...chosen] : [];
    try {
      for (const file of dropped) {
        setSending({ name: file.name, part: 0 });
        made.push(asValue(await uploadFile(file, { onProgress: (part) => setSending({ name: file.name, part }) })));
      }
    } catch (error) {
      toastError(t("file_failed"), error);
    }
    setSending(null);
    put(made);
    void queries.invalidateQueries({ queryKey: fileKeys.all });
  };
  const others = (files.data ?? []).filter((file) => !chosen.some((one) => one.id === file.id));
  return (
    <fieldset aria-label={label} className="flex flex-col gap-1.5">
      {chosen.map((file) => (
        <div key={String(file.id)} className="flex items-center gap-1">
          <FileLink
            id={String(file.id)}
            known={{ name: String(file.name), media_type: String(file.media_type), size: Number(file.size) }}
            className="min-w-0 flex-1"
          />
          <IconButton size="sm" label={t("remove")} onClick={() => put(chosen.filter((one) => one !== file))}>
            <X />
          </IconButton>
        </div>
      ))}
      {(many || chosen.length === 0) && (
        <>
          <DropZone multiple={many} onFiles={(dropped) => void upload(dropped)} label={label} />
          {others.length > 0 && (
            <Select
              aria-label={t("file_choose")}
              value={undefined}
              placeholder={t("file_choose")}
              options={others.map((file) => ({ value: file.id, label: file.name }))}
              onChange={(id) => {
                const found = others.find((file) => file.id === id);
                if (found) add(found);
              }}
            />
          )}
        </>
      )}
      {sending && <Progress value={sending.part} label={t("file_uploading", { name: sending.name })} />}
    </fieldset>
  );
}

/** A stored file as flows hold one. */
const asValue = (file: FileOut): JsonValue => ({
  id: file.id,
  name: file.name,
  media_type: file.media_type,
  size: file.size_bytes,
});
