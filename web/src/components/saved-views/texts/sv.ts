import type en from "./en";

const sv: typeof en = {
  views: "Vyer",
  no_views: "Inga sparade vyer än",
  save_view: "Spara den här vyn…",
  save: "Spara",
  name: "Namn",
  name_more: "En vy med samma namn ersätts. Bara du ser dina vyer.",
  saved: "Vyn sparades",
  delete_view: "Ta bort vyn ”{{name}}”",
  failed: "Vyn sparades inte",
};
export default sv;
