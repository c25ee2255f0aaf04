import { afterEach, expect, test, vi } from "vitest";
import { refusal } from "./texts";

const speak = (...languages: string[]) => vi.spyOn(navigator, "languages", "get").mockReturnValue(languages);
afterEach(() => vi.restoreAllMocks());

test("a visitor with a Swedish browser reads why in Swedish", () => {
  speak("sv-SE", "en");
  expect(refusal("form_upload_gone", "A file of the form is no longer stored.")).toContain("inte längre sparad");
  expect(refusal("rate_limited", "Too many requests.")).toBe("För många försök just nu. Försök igen om en stund.");
  expect(refusal("file_too_large", "The file is too large.")).toBe("Filen är för stor.");
  expect(refusal("another_one", "Something in English.")).toBe("Något gick fel. Försök igen om en stund.");
});

test("others read what the server says", () => {
  speak("en-GB");
  expect(refusal("run_input_invalid", "'Number' is no number.")).toBe("'Number' is no number.");
  expect(refusal("failed", "")).toBe("Something went wrong. Try again in a while.");
});
