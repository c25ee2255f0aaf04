import { expect, test } from "vitest";
import { newResponse, responseDraftOf, responseOf } from "./response";

test("a response that is written is stored, and shown as it was written", () => {
  const draft = {
    status: "data.code",
    mediaType: "application/json",
    body: "data.order",
    headers: "ETag: data.etag\nX-Kind: 'a: b'",
    failedStatus: "502",
  };
  const stored = responseOf(draft);
  expect(stored).toEqual({
    status: 200,
    status_from: "data.code",
    media_type: "application/json",
    body_from: "data.order",
    headers: { ETag: "data.etag", "X-Kind": "'a: b'" },
    failed_status: 502,
  });
  expect(responseDraftOf(stored)).toEqual(draft);
  expect(responseOf({ ...newResponse(), status: "201" })).toMatchObject({ status: 201, status_from: null });
});

test("the usual response is none, and one without a part is not complete", () => {
  expect(responseOf(newResponse())).toBeNull();
  expect(responseDraftOf(null)).toEqual(newResponse());
  for (const wrong of [{ status: " " }, { headers: "ETag" }, { headers: "ETag:" }, { failedStatus: "x" }])
    expect(responseOf({ ...newResponse(), ...wrong })).toBeUndefined();
});
