import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, Keyboard, LogOut, Monitor, Moon, Search, Sun, UserRound } from "lucide-react";
import { api, unwrap } from "@/api/client";
import { meQuery } from "@/api/queries/me";
import { Menu, type MenuItem, toastError } from "@/components/ui";
import { type Theme, useAppearance } from "@/lib/appearance/appearance";
import { usePalette } from "@/lib/commands/commands";
import { i18next, LANGUAGES, type Language, setLanguage } from "@/lib/i18n/i18n";
import { keysOf, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { forgetStored, UNSENT } from "@/lib/storage";
import { useAppTexts } from "../texts";

const THEMES: { theme: Theme; icon: typeof Sun }[] = [
  { theme: "system", icon: Monitor },
  { theme: "light", icon: Sun },
  { theme: "dark", icon: Moon },
];

/** Who is here, in which organisation; language, light or dark, signing out. */
export function AccountMenu() {
  const t = useAppTexts();
  const { data: me } = useQuery(meQuery);
  const theme = useAppearance((state) => state.theme);
  const changed = useShortcutKeys((state) => state.changed);
  const signOut = useSignOut();
  const { setOpen, setSheet } = usePalette.getState();
  const alone = me?.signed_in_by === "auto_login";
  const name = me ? (alone ? t("local_user") : me.user.name) : "";
  const entries: MenuItem[] = [
    {
      kind: "heading",
      id: "who",
      label: <Who name={name} email={me?.user.email ?? ""} tenant={me?.tenant.name ?? ""} />,
    },
    { kind: "line", id: "line-1" },
    {
      id: "palette",
      label: t("commands"),
      icon: <Search />,
      keys: keysOf("commands", changed),
      onSelect: () => setOpen(true),
    },
    {
      id: "sheet",
      label: t("shortcuts"),
      icon: <Keyboard />,
      keys: keysOf("shortcuts", changed),
      onSelect: () => setSheet(true),
    },
    { kind: "line", id: "line-2" },
    { kind: "heading", id: "theme", label: t("theme") },
    ...THEMES.map(
      ({ theme: one, icon: Icon }): MenuItem => ({
        id: one,
        label: <Chosen on={one === theme}>{t(`theme_${one}`)}</Chosen>,
        icon: <Icon />,
        onSelect: () => useAppearance.getState().setTheme(one),
      }),
    ),
    { kind: "heading", id: "language", label: t("language") },
    ...(Object.entries(LANGUAGES) as [Language, string][]).map(
      ([language, label]): MenuItem => ({
        id: language,
        label: (
          <Chosen on={i18next.language === language}>
            <span lang={language}>{label}</span>
          </Chosen>
        ),
        icon: <span className="w-4 text-center text-2xs font-semibold text-muted uppercase">{language}</span>,
        onSelect: () => void setLanguage(language),
      }),
    ),
    ...(me && !alone
      ? ([
          { kind: "line", id: "line-3" },
          { id: "sign_out", label: t("sign_out"), icon: <LogOut />, onSelect: () => void signOut() },
        ] satisfies MenuItem[])
      : []),
  ];
  return (
    <Menu items={entries} align="end">
      <button
        type="button"
        aria-label={t("account", { name })}
        className="flex size-9 shrink-0 items-center justify-center rounded-full bg-accent-soft text-sm font-semibold text-accent hover:bg-hover"
      >
        {alone || !name ? <UserRound aria-hidden className="size-4.5" /> : initials(name)}
      </button>
    </Menu>
  );
}

function useSignOut() {
  const t = useAppTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    try {
      await unwrap(api.POST("/api/v1/sign-out"));
      forgetStored(UNSENT);
      await navigate({ to: "/sign-in" });
      client.clear();
    } catch (error) {
      toastError(t("failed_sign_out"), error);
    }
  };
}

function Who({ name, email, tenant }: { name: string; email: string; tenant: string }) {
  return (
    <span className="flex max-w-64 flex-col">
      <span className="truncate text-sm font-semibold text-ink">{name}</span>
      <span className="truncate font-normal text-muted">{[email, tenant].filter(Boolean).join(" · ")}</span>
    </span>
  );
}

function Chosen({ on, children }: { on: boolean; children: React.ReactNode }) {
  return (
    <span className="flex items-center gap-2">
      {children}
      {on && <Check className="ml-auto !text-accent" />}
    </span>
  );
}

const initials = (name: string) =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? "")
    .join("");
