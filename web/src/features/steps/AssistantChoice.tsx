import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Share2 } from "lucide-react";
import { useState } from "react";
import { assistantKeys, createAssistant } from "@/api/queries/assistants";
import type { FieldTemplate, JsonValue } from "@/api/types";
import { FieldControl, NodeField } from "@/components/fields";
import { modelName } from "@/components/models/modelValue";
import { Button, Dialog, Field, Input, Problem, Segments, toast } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useStepTexts } from "./texts";

const LINK: FieldTemplate = { name: "assistant", kind: "text", interpolate: false };

/** A step's instructions and model: its own, or those of a shared assistant that it links. */
export function AssistantChoice({ nodeId, fields }: { nodeId: string; fields: FieldTemplate[] }) {
  const t = useStepTexts();
  const store = useDraftStore();
  const linked = useDraft((state) => state.document.nodes[nodeId]?.params?.assistant);
  const [existing, setExisting] = useState(Boolean(linked));
  const [sharing, setSharing] = useState(false);
  const mode = linked || existing ? "existing" : "new";
  const link = (name: JsonValue | undefined) => store.getState().setParam(nodeId, "assistant", name);
  const choose = (next: "new" | "existing") => {
    setExisting(next === "existing");
    if (next === "new" && linked) link(undefined);
  };
  return (
    <section className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Segments
          aria-label={t("specialist")}
          size="sm"
          value={mode}
          options={[
            { value: "new", label: t("create_new") },
            { value: "existing", label: t("use_existing") },
          ]}
          onChange={choose}
        />
        {mode === "new" && (
          <Button size="sm" kind="ghost" icon={<Share2 />} onClick={() => setSharing(true)}>
            {t("share")}
          </Button>
        )}
      </div>
      {mode === "existing" ? (
        <>
          <FieldControl field={{ ...LINK, label: t("use_existing") }} value={linked} onChange={link} nodeId={nodeId} />
          <p className="text-muted text-xs">{t(linked ? "linked_about" : "linked_choose")}</p>
        </>
      ) : (
        fields.map((field) => <NodeField key={field.name} nodeId={nodeId} field={field} bare />)
      )}
      {sharing && <ShareDialog nodeId={nodeId} onClose={() => setSharing(false)} />}
    </section>
  );
}

/** Make an assistant of what the step holds, and link it. */
function ShareDialog({ nodeId, onClose }: { nodeId: string; onClose: () => void }) {
  const t = useStepTexts();
  const store = useDraftStore();
  const queries = useQueryClient();
  const { document, spaceId } = store.getState();
  const node = document.nodes[nodeId];
  const [name, setName] = useState(node?.label ?? "");
  const [description, setDescription] = useState("");
  const make = useMutation({
    mutationFn: () => {
      const { system, instructions, model, temperature } = node?.params ?? {};
      const asked = modelName(model);
      return createAssistant({
        name,
        description,
        instructions: String(system ?? instructions ?? ""),
        model: asked ? `${asked.provider}/${asked.name}` : "",
        temperature: typeof temperature === "number" ? temperature : null,
        space_id: spaceId,
      });
    },
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: assistantKeys.all });
      store.getState().change({ label: `Link ${made.name}` }, (draft) => {
        const one = draft.nodes[nodeId];
        if (!one) return;
        const { system: _, instructions: __, model: ___, temperature: ____, ...rest } = one.params ?? {};
        one.params = { ...rest, assistant: made.name };
      });
      toast({ title: t("shared", { name: made.name }), tone: "ok" });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="sm"
      title={t("share_title")}
      description={t("share_about")}
      footer={
        <Button kind="primary" busy={make.isPending} disabled={name.trim() === ""} onClick={() => make.mutate()}>
          {t("share_do")}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Field label={t("share_name")} required>
          {(control) => (
            <Input {...control} value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label={t("share_description")}>
          {(control) => (
            <Input {...control} value={description} onChange={(event) => setDescription(event.target.value)} />
          )}
        </Field>
        {make.isError && <Problem error={make.error} />}
      </div>
    </Dialog>
  );
}
