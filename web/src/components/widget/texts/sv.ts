import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  about:
    "Lägger flödet på egna sidor: besökare fyller i ett formulär eller chattar, och ser resultatet och inget annat.",
  enabled: "Erbjud det på andra sidor",
  enabled_help: "Det syns när du publicerar. Stängs det av här är det borta så snart utkastet har sparats.",
  kind: "Som",
  form: "Formulär",
  chat: "Chatt",
  title: "Rubrik",
  title_help: "Tom visar flödets namn.",
  welcome: "Välkomsttext",
  color: "Färg",
  theme: "Ljust eller mörkt",
  theme_auto: "Som besökarens system",
  theme_light: "Ljust",
  theme_dark: "Mörkt",
  origins: "Sidor som får visa det",
  origins_help: "En per rad: https://www.example.org. Utan någon öppnas det bara på sin egen adress. * är alla sidor.",
  origin_wrong: "”{{origin}}” skrivs inte som https://www.example.org",
  preview: "Förhandsvisning",
  snippet: "Lägg detta där det ska stå",
  snippet_corner: "Eller som en knapp i hörnet",
  copy: "Kopiera raden",
  open: "Öppna det för sig",
  publish_first: "Publicera för att lägga ut inställningarna.",
};
export default sv;
