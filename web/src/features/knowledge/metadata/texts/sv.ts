import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  metadata: "Metadata",
  metadata_help:
    "Ett värde per rad: nyckel = värde. Tal, true, false, datum som 2026-01-31 och texter. Sökningar kan begränsas med dem.",
  metadata_wrong: "Varje rad är en nyckel utan mellanslag, = och ett värde.",
  metadata_new: "Metadata för nya dokument",
  filters: "Filter",
  filter_key: "Metadata",
  filter_test: "Villkor",
  filter_value: "Värde",
  filter_equals: "är",
  filter_in: "är någon av",
  filter_at_least: "är minst",
  filter_at_most: "är högst",
  filter_exists: "finns",
  filter_missing: "saknas",
  filter_add: "Lägg till filter",
  filter_remove: "Ta bort {{filter}}",
};

export default sv;
