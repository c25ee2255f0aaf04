import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.directory";

const sv: Translation<typeof en> = {
  directory: "Katalog (SCIM)",
  directory_about:
    "En identitetsleverantör som Entra ID eller Okta skapar och inaktiverar användare här, och dess grupper ger roller i utrymmen.",
  directory_none: "Ingen katalog är ansluten",
  directory_none_more:
    "Skapa en token och ange den tillsammans med adressen hos identitetsleverantören. Användarna loggar sedan in med enkel inloggning (SSO).",
  connect_directory: "Anslut en katalog",
  connection: "Anslutning",
  directory_address: "Adress för identitetsleverantören",
  copy_address: "Kopiera adressen",
  directory_token: "Token",
  no_directory_token: "Ingen: identitetsleverantören kan inte ansluta.",
  directory_synchronized: "Synkroniserat",
  directory_counts: "{{users}} användare, {{groups}} grupper",
  directory_last_change: "senaste ändring {{when}}",
  directory_no_change: "ingen ändring ännu",
  create_token: "Skapa en token",
  rotate_token: "Byt token",
  rotate_token_more: "Den tidigare token slutar fungera direkt. Ange den nya hos identitetsleverantören.",
  token_created: "Katalogens token",
  copy_token: "Kopiera token",
  disconnect_directory: "Koppla från katalogen?",
  disconnect: "Koppla från",
  disconnect_more:
    "Identitetsleverantören kan inte längre göra ändringar. Användare, grupper och deras roller finns kvar.",
  directory_groups: "Grupper och roller",
  directory_groups_about:
    "Medlemmar i en grupp har minst dessa roller. Roller som tilldelats i Headgate finns kvar; den högsta gäller.",
  no_directory_groups: "Inga grupper ännu. Identitetsleverantören skapar dem som du tilldelar Headgate där.",
  group_members_one: "{{count}} medlem",
  group_members_other: "{{count}} medlemmar",
  add_role_for: "Lägg till en roll för {{group}}",
  add_role: "Lägg till en roll",
  role_in: "{{role}} i {{space}}",
  remove_role_of: "Ta bort {{role}} i {{space}} från {{group}}",
  no_group_roles: "Ger ingen roll ännu.",
  through_group: "Genom en grupp: {{role}}",
};

export default sv;
