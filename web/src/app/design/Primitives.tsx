import { LayoutGrid, List, Play, Plus, Search, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  Button,
  Checkbox,
  Chip,
  ClassChip,
  Field,
  IconButton,
  Input,
  Keys,
  Segments,
  Select,
  StateChip,
  Switch,
  Tabs,
  Textarea,
} from "@/components/ui";
import { Section } from "./Section";
import { useDesignTexts } from "./texts";

const KINDS = ["primary", "secondary", "ghost", "danger"] as const;
const STATES = ["queued", "running", "completed", "failed", "cancelled", "skipped"];
const TONES = ["neutral", "accent", "ok", "warn", "bad", "info"] as const;

export function Primitives() {
  const t = useDesignTexts();
  return (
    <>
      <Section title={t("buttons")}>
        {(["sm", "md", "lg"] as const).map((size) => (
          <div key={size} className="flex flex-wrap items-center gap-2">
            {KINDS.map((kind) => (
              <Button key={kind} kind={kind} size={size}>
                {t(kind)}
              </Button>
            ))}
            <Button size={size} icon={<Play />} kind="primary">
              {t("start")}
            </Button>
            <Button size={size} busy>
              {t("busy")}
            </Button>
            <Button size={size} disabled>
              {t("disabled")}
            </Button>
            <IconButton size={size} label={t("secondary")}>
              <Plus />
            </IconButton>
            <IconButton size={size} label={t("list")} on>
              <List />
            </IconButton>
            <IconButton size={size} label={t("danger")} disabled>
              <Trash2 />
            </IconButton>
          </div>
        ))}
      </Section>
      <Fields />
      <Section title={t("said")}>
        <div className="flex flex-wrap gap-2">
          {TONES.map((tone) => (
            <Chip key={tone} tone={tone}>
              {tone}
            </Chip>
          ))}
        </div>
        <div className="flex flex-wrap gap-2">
          {STATES.map((state) => (
            <StateChip key={state} state={state} label={state} />
          ))}
          {[0, 1, 2, 3, 4].map((level) => (
            <ClassChip key={level} level={level} />
          ))}
        </div>
        <div className="flex items-center gap-2 text-sm text-muted">
          {t("keys")} <Keys keys="$mod+k" /> <Keys keys="$mod+Shift+z" />
        </div>
      </Section>
    </>
  );
}

function Fields() {
  const t = useDesignTexts();
  const [choice, setChoice] = useState<string>();
  const [view, setView] = useState<"list" | "cards">("list");
  const [tab, setTab] = useState<"input" | "output">("input");
  const [on, setOn] = useState(true);
  return (
    <Section title={t("fields")}>
      <div className="grid max-w-2xl gap-4 sm:grid-cols-2">
        <Field label={t("name")} help={t("name_help")} required>
          {(control) => <Input {...control} defaultValue={t("primary")} />}
        </Field>
        <Field label={t("name")} error={t("wrong")}>
          {(control) => <Input {...control} />}
        </Field>
        <Field label={t("choose")}>
          {(control) => (
            <Select
              {...control}
              value={choice}
              onChange={setChoice}
              placeholder={t("choose")}
              options={["small", "large"].map((value) => ({ value, label: value }))}
            />
          )}
        </Field>
        <Field label={t("disabled")}>{(control) => <Input {...control} disabled defaultValue={t("name")} />}</Field>
        <Field label={t("words")}>{(control) => <Textarea {...control} defaultValue={t("sample")} />}</Field>
        <div className="flex flex-col gap-3">
          <div className="flex items-center gap-3 text-sm">
            <Switch checked={on} onChange={setOn} aria-label={t("on")} />
            <Switch checked={!on} onChange={(next) => setOn(!next)} aria-label={t("off")} />
            <Checkbox checked={on} onChange={setOn} aria-label={t("checked")} />
            <Checkbox checked={!on} onChange={(next) => setOn(!next)} aria-label={t("off")} />
          </div>
          <Segments
            aria-label={t("view")}
            value={view}
            onChange={setView}
            options={[
              { value: "list", label: t("list"), icon: <List /> },
              { value: "cards", label: t("cards"), icon: <LayoutGrid /> },
            ]}
          />
          <div className="relative">
            <Search aria-hidden className="absolute top-2 left-2.5 size-4 text-faint" />
            <Input type="search" aria-label={t("list")} placeholder={t("list")} className="pl-8" />
          </div>
        </div>
      </div>
      <Tabs
        aria-label={t("tabs")}
        value={tab}
        onChange={setTab}
        className="max-w-2xl rounded-md border border-line"
        tabs={[
          { value: "input", label: t("tab_input"), content: <p className="p-3">{t("sample")}</p> },
          { value: "output", label: t("tab_output"), content: <p className="p-3">{t("lead")}</p> },
        ]}
      />
    </Section>
  );
}
