import { ArrowUp, Paperclip } from "lucide-react";
import { type ReactNode, type Ref, useState } from "react";
import { FileAnswer } from "@/components/files/FileAnswer";
import { Button, Textarea } from "@/components/ui";
import { useRunTexts } from "../texts";

interface ComposerProps {
  /** No message can be sent now. */
  busy: boolean;
  takesFiles: boolean;
  /** Whether it was sent: what was written comes back when it was not. */
  onSend: (text: string, files: string[]) => Promise<boolean>;
  first?: string;
  longest?: number;
  field?: Ref<HTMLTextAreaElement>;
  children?: ReactNode;
}

/** Where a message is written: Enter sends it, Shift and Enter begin a new line. */
export function Composer({ busy, takesFiles, onSend, first = "", longest, field, children }: ComposerProps) {
  const t = useRunTexts();
  const [text, setText] = useState(first);
  const [files, setFiles] = useState<string[]>([]);
  const [attaching, setAttaching] = useState(false);
  const [uploading, setUploading] = useState(false);
  const send = async () => {
    if (!text.trim() && files.length === 0) return;
    const kept = { text, files };
    setText("");
    setFiles([]);
    setAttaching(false);
    if (await onSend(kept.text, kept.files)) return;
    setText(kept.text);
    setFiles(kept.files);
    setAttaching(kept.files.length > 0);
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy && !uploading) void send();
      }}
    >
      {attaching && (
        <FileAnswer ids={files} onChange={(change) => setFiles((before) => change(before))} onBusy={setUploading} />
      )}
      <Textarea
        ref={field}
        aria-label={t("message")}
        placeholder={t("say_something")}
        rows={2}
        maxLength={longest}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          if (!busy && !uploading) void send();
        }}
      />
      <div className="flex items-center gap-2">
        {children}
        {takesFiles && (
          <Button
            size="sm"
            kind="ghost"
            icon={<Paperclip />}
            aria-expanded={attaching}
            onClick={() => setAttaching(!attaching)}
          >
            {t("attach")}
          </Button>
        )}
        <Button
          type="submit"
          size="sm"
          kind="primary"
          icon={<ArrowUp />}
          className="ml-auto"
          busy={busy}
          disabled={uploading}
        >
          {t("send")}
        </Button>
      </div>
    </form>
  );
}
