import { useQuery } from "@tanstack/react-query";
import { Download, FileText, Image, Music } from "lucide-react";
import { fileQuery } from "@/api/queries/files";
import { fileAddress } from "@/api/uploads";
import { cx } from "@/components/ui";
import { bytes } from "@/lib/i18n/format";
import { useFileTexts } from "./texts";

interface FileLinkProps {
  id: string;
  /** What is known of it already; otherwise its record is read. */
  known?: { name: string; media_type: string; size: number };
  className?: string;
}

/** A stored file: name, size, download; an image is shown. */
export function FileLink({ id, known, className }: FileLinkProps) {
  const t = useFileTexts();
  const { data } = useQuery({ ...fileQuery(id), enabled: !known });
  const file = known ?? (data && { name: data.name, media_type: data.media_type, size: data.size_bytes });
  const name = file?.name ?? id;
  const size = file ? bytes(file.size) : "";
  const kind = file?.media_type ?? "";
  const Icon = kind.startsWith("image/") ? Image : kind.startsWith("audio/") ? Music : FileText;
  return (
    <span className={cx("flex max-w-full flex-col gap-1.5", className)}>
      {/^image\/(png|jpeg|gif|webp)$/.test(kind) && (
        <img
          src={fileAddress(id)}
          alt={name}
          loading="lazy"
          className="max-h-72 max-w-full self-start rounded-md border border-line"
        />
      )}
      <a
        href={fileAddress(id)}
        download={name}
        aria-label={t("download", { name: size ? `${name} ${size}` : name })}
        className="inline-flex max-w-full items-center gap-2 self-start rounded-md border border-line bg-raised px-2.5 py-1.5 text-sm hover:bg-hover"
      >
        <Icon aria-hidden className="size-4 shrink-0 text-faint" />
        <span className="truncate">{name}</span> <span className="shrink-0 text-xs text-muted">{size}</span>
        <Download aria-hidden className="size-3.5 shrink-0 text-faint" />
      </a>
    </span>
  );
}
