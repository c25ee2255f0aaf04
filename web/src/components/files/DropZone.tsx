import { FileUp } from "lucide-react";
import { type DragEvent, useId, useRef, useState } from "react";
import { cx } from "@/components/ui";
import { bytes } from "@/lib/i18n/format";
import { accepts } from "./accepts";
import { useFileTexts } from "./texts";

/** The server's default limit of an upload; it says so itself when a file is over the one that is set. */
export const USUAL_LIMIT = 64 * 1024 ** 2;

interface DropZoneProps {
  /** As the `accept` of an input: `image/*,.pdf`. */
  accept?: string;
  multiple?: boolean;
  onFiles: (files: File[]) => void;
  label?: string;
  limit?: number;
  disabled?: boolean;
  id?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

/** A place for files: dropped, chosen, or pasted with the keyboard on it. Uploading them is the caller's. */
export function DropZone({
  accept,
  multiple,
  onFiles,
  label,
  limit = USUAL_LIMIT,
  disabled,
  id,
  ...rest
}: DropZoneProps) {
  const t = useFileTexts();
  const own = useId();
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [refused, setRefused] = useState("");
  const take = (files: FileList | null) => {
    const all = [...(files ?? [])].slice(0, multiple ? undefined : 1);
    const odd = all.find((file) => !accepts(accept, file));
    setRefused(odd ? t("wrong_kind", { name: odd.name }) : "");
    const fitting = all.filter((file) => accepts(accept, file));
    if (fitting.length > 0) onFiles(fitting);
  };
  const drag = (event: DragEvent, on: boolean) => {
    event.preventDefault();
    setOver(on && !disabled);
  };
  return (
    <div className="flex flex-col gap-1">
      <label
        htmlFor={id ?? own}
        onDragOver={(event) => drag(event, true)}
        onDragLeave={(event) => drag(event, false)}
        onPaste={(event) => take(event.clipboardData.files)}
        onDrop={(event) => {
          drag(event, false);
          if (!disabled) take(event.dataTransfer.files);
        }}
        className={cx(
          "flex cursor-pointer items-center gap-3 rounded-md border border-dashed px-3 py-2.5 transition-colors focus-within:outline-2 focus-within:outline-focus",
          over ? "border-accent bg-accent-soft" : "border-line-strong hover:bg-hover",
          disabled && "pointer-events-none opacity-60",
        )}
      >
        <FileUp aria-hidden className="size-4.5 shrink-0 text-faint" />
        <span className="min-w-0 text-sm">
          <span className="block">
            {over ? t("drop_now") : (label ?? t(multiple ? "choose_files" : "choose_file"))}
          </span>
          <span className="block text-xs text-muted">{t("size_limit", { size: bytes(limit) })}</span>
        </span>
        <input
          {...rest}
          ref={input}
          id={id ?? own}
          type="file"
          accept={accept}
          multiple={multiple}
          disabled={disabled}
          className="sr-only"
          onChange={(event) => {
            take(event.target.files);
            event.target.value = "";
          }}
        />
      </label>
      {refused && (
        <p role="alert" className="text-xs text-bad">
          {refused}
        </p>
      )}
    </div>
  );
}
