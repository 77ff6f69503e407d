import { expect, test } from "bun:test";
import { RememberedAnswers } from "../../../adapters/githost/remembered_answers.ts";

const answer = (value: unknown) => ({ etag: `"${value}"`, value, lastPage: undefined, hasNext: false });

test("RememberedAnswers forgets what was not used for longest beyond its limit", () => {
  const remembered = new RememberedAnswers(1_000);
  for (const key of ["a", "b", "c", "d"]) remembered.put(key, answer(key), 250);
  expect(remembered.get("a")?.value).toBe("a");
  remembered.put("e", answer("e"), 250);
  expect(["a", "b", "c", "d", "e"].filter((key) => remembered.get(key))).toEqual(["a", "c", "d", "e"]);
});

test("RememberedAnswers replaces an answer, and does not keep one that would displace most others", () => {
  const remembered = new RememberedAnswers(1_000);
  for (let time = 0; time < 50; time++) remembered.put("a", answer(time), 200);
  for (const key of ["b", "c", "d"]) remembered.put(key, answer(key), 200);
  expect(remembered.get("a")?.value).toBe(49);
  remembered.put("huge", answer("huge"), 900);
  remembered.put("b", answer("too large now"), 900);
  expect(["a", "b", "c", "d", "huge"].filter((key) => remembered.get(key))).toEqual(["a", "c", "d"]);
});
