import { describe, expect, it } from "vitest";
import type { ConnectionKind, KindField } from "@/api/queries/connections";
import { matches } from "./KindGallery";
import { begin, changed, fieldsOf, isComplete, secretsOf } from "./kindValues";

const field = (name: string, type: KindField["type"], more: Partial<KindField> = {}): KindField => ({
  name,
  label: name,
  help: "",
  type,
  required: false,
  default: null,
  options: [],
  advanced: false,
  ...more,
});

const KIND: ConnectionKind = {
  id: "smtp",
  label: "SMTP (send mail)",
  description: "A mail server.",
  category: "mail",
  fields: [
    field("host", "text", { required: true }),
    field("port", "number", { default: 587 }),
    field("hosts", "hosts"),
    field("password", "secret", { required: true }),
  ],
  adds: "none",
  grant: "",
  tested: true,
  ownership: "any",
  keywords: ["gmail"],
};

describe("values of a kind", () => {
  it("begin with the defaults", () => {
    expect(begin(KIND)).toMatchObject({ name: "", personal: false, fields: { host: "", port: "587", hosts: "" } });
  });

  it("are sent with their types, without empty ones", () => {
    const entered = { ...begin(KIND), fields: { host: " mail.example.org ", port: "25", hosts: "" } };
    expect(fieldsOf(KIND, entered)).toEqual({ host: "mail.example.org", port: 25 });
    expect(fieldsOf(KIND, { ...entered, fields: { host: "a", port: "", hosts: "https://a\nhttps://b" } })).toEqual({
      host: "a",
      hosts: ["https://a", "https://b"],
    });
  });

  it("are complete with a name, and a secret that is entered or stored", () => {
    const entered = { ...begin(KIND), name: "mail", fields: { host: "a", port: "25", hosts: "" } };
    expect(isComplete(KIND, entered, [])).toBe(false);
    expect(isComplete(KIND, entered, ["password"])).toBe(true);
    expect(isComplete(KIND, { ...entered, secrets: { password: "x" } }, [])).toBe(true);
    expect(isComplete(KIND, { ...entered, name: "My mail" }, ["password"])).toBe(false);
  });

  it("omit secrets that were left empty", () => {
    const secrets = { password: "", token: { from: "vault" as const, path: "", key: "" } };
    expect(secretsOf({ ...begin(KIND), secrets })).toEqual({});
  });

  it("are found by the service that they are used for", () => {
    expect(matches(KIND, "Gmail mail")).toBe(true);
    expect(matches(KIND, "postgres")).toBe(false);
  });
});

describe("the port of a database", () => {
  const fields = { dialect: "postgresql", port: "5432", host: "db" };

  it("is the usual one of the system that is chosen", () => {
    expect(changed(fields, "dialect", "sqlserver")).toEqual({ dialect: "sqlserver", port: "1433", host: "db" });
    expect(changed(changed(fields, "dialect", "sqlserver"), "dialect", "mariadb")).toMatchObject({ port: "3306" });
  });

  it("stays as it was entered", () => {
    expect(changed({ ...fields, port: "6432" }, "dialect", "mysql")).toMatchObject({ port: "6432" });
    expect(changed(fields, "host", "other")).toEqual({ ...fields, host: "other" });
  });
});
