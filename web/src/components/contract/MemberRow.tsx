import { Asterisk, ChevronDown, List, Plus, X } from "lucide-react";
import { useRef, useState } from "react";
import { Button, cx, IconButton, Input, Select } from "@/components/ui";
import { MEMBER_TYPES, type Member, type MemberType, newMember } from "./schemaTree";
import { useContractTexts } from "./texts";

interface MemberListProps {
  members: Member[];
  onChange: (members: Member[]) => void;
  /** Whose fields these are; empty: those of the whole value. */
  owner: string;
}

/** The fields of an object, one below the other; those of objects in it stand in. */
export function MemberList({ members, onChange, owner }: MemberListProps) {
  const t = useContractTexts();
  const added = useRef("");
  const add = () => {
    const member = newMember("");
    added.current = member.id;
    onChange([...members, member]);
  };
  const names = members.map((one) => one.name.trim()).filter((name) => name !== "");
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return (
    <div className="flex flex-col gap-1.5">
      {members.length === 0 && !owner && <p className="text-muted text-sm">{t("no_fields")}</p>}
      {members.map((member, index) => (
        <MemberRow
          key={member.id}
          member={member}
          number={index + 1}
          added={member.id === added.current}
          onChange={(next) => onChange(members.map((one) => (one.id === member.id ? next : one)))}
          onRemove={() => onChange(members.filter((one) => one.id !== member.id))}
        />
      ))}
      {twice !== undefined && <p className="text-warn text-xs">{t("twice", { name: twice })}</p>}
      <Button
        size="sm"
        kind="ghost"
        icon={<Plus />}
        className="self-start"
        {...(owner ? { "aria-label": t("add_inner", { name: owner }) } : {})}
        onClick={add}
      >
        {t("add_field")}
      </Button>
    </div>
  );
}

interface MemberRowProps {
  member: Member;
  number: number;
  /** It was just added: its name is written next. */
  added: boolean;
  onChange: (member: Member) => void;
  onRemove: () => void;
}

function MemberRow({ member, number, added, onChange, onRemove }: MemberRowProps) {
  const t = useContractTexts();
  const [open, setOpen] = useState(false);
  const name = member.name || t("unnamed");
  const set = (change: Partial<Member>) => onChange({ ...member, ...change });
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-1">
        <Input
          aria-label={t("name_of", { number })}
          placeholder={t("name")}
          value={member.name}
          spellCheck={false}
          className="min-w-0 flex-1"
          autoFocus={added}
          onChange={(event) => set({ name: event.target.value })}
        />
        <TypeSelect label={t("type_of", { name })} type={member.type} onChange={(type) => set(typed(type))} />
        <IconButton
          size="sm"
          label={t("list_of", { name })}
          on={member.list}
          onClick={() => set({ list: !member.list })}
        >
          <List />
        </IconButton>
        <IconButton
          size="sm"
          label={t("required_of", { name })}
          on={member.required}
          onClick={() => set({ required: !member.required })}
        >
          <Asterisk />
        </IconButton>
        <IconButton size="sm" label={t("more_of", { name })} aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronDown className={cx("transition-transform", open && "rotate-180")} />
        </IconButton>
        <IconButton size="sm" label={t("remove_of", { name })} onClick={onRemove}>
          <X />
        </IconButton>
      </div>
      {(open || member.description) && (
        <Input
          aria-label={t("description_of", { name })}
          placeholder={t("description")}
          value={member.description}
          className="text-sm"
          onChange={(event) => set({ description: event.target.value })}
        />
      )}
      {member.type === "string" && (open || member.choices.length > 0) && (
        <Input
          aria-label={t("choices_of", { name })}
          placeholder={t("choices")}
          defaultValue={member.choices.join(", ")}
          className="text-sm"
          onBlur={(event) => set({ choices: listed(event.target.value) })}
        />
      )}
      {member.type === "object" && (
        <div className="ml-2 border-line border-l-2 pl-2.5">
          <MemberList members={member.members} owner={name} onChange={(members) => set({ members })} />
        </div>
      )}
    </div>
  );
}

const listed = (text: string) => [...new Set(text.split(",").map((one) => one.trim()))].filter((one) => one !== "");

const typed = (type: MemberType): Partial<Member> => ({ type, ...(type === "string" ? {} : { choices: [] }) });

interface TypeSelectProps {
  label: string;
  type: MemberType;
  onChange: (type: MemberType) => void;
}

export function TypeSelect({ label, type, onChange }: TypeSelectProps) {
  const t = useContractTexts();
  return (
    <Select
      aria-label={label}
      value={type}
      className="w-32! shrink-0"
      options={MEMBER_TYPES.map((one) => ({ value: one, label: t(one) }))}
      onChange={onChange}
    />
  );
}
