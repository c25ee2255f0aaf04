import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { BASE, openPage, serve } from "./serving";

it("counts again while documents are being indexed", async () => {
  const served = serve();
  served.bases = [{ ...BASE, documents: 1, waiting: 1 }];
  openPage("/knowledge");
  const list = await screen.findByRole("list", { name: "Knowledge bases" });
  expect(await within(list).findByText("1 document · 1 waiting")).toBeInTheDocument();
  served.bases = [{ ...BASE, documents: 1 }];
  expect(await within(list).findByText("1 document", undefined, { timeout: 3000 })).toBeInTheDocument();
});
