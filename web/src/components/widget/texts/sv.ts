import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  about:
    "Bäddar in flödet på dina egna webbsidor. Besökare fyller i ett formulär eller chattar, och ser bara resultatet.",
  enabled: "Tillåt inbäddning på andra webbplatser",
  enabled_help: "Widgeten visas när du publicerar. Att stänga av den gäller så snart utkastet har sparats.",
  kind: "Typ",
  form: "Formulär",
  chat: "Chatt",
  title: "Rubrik",
  title_help: "Lämna tomt för att använda flödets namn.",
  welcome: "Välkomsttext",
  questions: "Föreslagna frågor",
  questions_help: "En per rad, högst sex. De startar en chatt med ett klick, i widgeten och på flödets chattsida.",
  color: "Färg",
  theme: "Tema",
  theme_auto: "Samma som besökarens system",
  theme_light: "Ljust",
  theme_dark: "Mörkt",
  origins: "Tillåtna ursprung",
  origins_help:
    "Ett per rad: https://www.example.org. Utan ursprung fungerar widgeten bara på sin egen adress. Använd * för att tillåta alla sidor.",
  origin_wrong: "”{{origin}}” är inte ett ursprung som https://www.example.org",
  preview: "Förhandsvisning",
  snippet: "Klistra in detta där widgeten ska visas",
  snippet_corner: "Eller som en knapp i hörnet",
  copy: "Kopiera koden",
  open: "Öppna på en egen sida",
  publish_first: "Publicera för att tillämpa inställningarna.",
};
export default sv;
