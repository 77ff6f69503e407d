import { expect, test } from "bun:test";
import { preferredMedia } from "../../http/preferred_media.ts";

const JSON_TYPE = "application/json";
const TEXT = "text/plain";

test.each([
  [null, JSON_TYPE],
  ["", JSON_TYPE],
  ["*/*", JSON_TYPE],
  ["text/plain", TEXT],
  ["TEXT/Plain", TEXT],
  ["text/*", TEXT],
  ["text/plain; charset=utf-8", TEXT],
  ["application/json", JSON_TYPE],
  // The defaults of axios and Angular, of fetch in a browser, and of a browser's address bar.
  ["application/json, text/plain, */*", JSON_TYPE],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", JSON_TYPE],
  // Quality comes first.
  ["application/json;q=0.5, text/plain", TEXT],
  ["application/json;q=0.5, text/plain;q=0.4", JSON_TYPE],
  ["text/plain;q=0.9, */*", JSON_TYPE],
  ["application/json;q=0.9, */*", TEXT],
  ["text/plain;q=0.999, application/json;q=0.998", TEXT],
  ["application/json ; Q=0.1 , text/plain ; q=0.2", TEXT],
  ["text/plain;charset=utf-8;q=0.2, application/json;q=0.3", JSON_TYPE],
  // The most specific range of a type determines its quality.
  ["text/*;q=1, text/plain;q=0.1, application/json;q=0.5", JSON_TYPE],
  ["text/plain;q=0, */*", JSON_TYPE],
  ["application/json;q=0, */*", TEXT],
  ["application/json;q=0, */*;q=0.1", TEXT],
  // At equal quality, the more specific range wins, then the first one.
  ["text/plain, */*", TEXT],
  ["*/*, text/plain", TEXT],
  ["text/*, */*", TEXT],
  ["text/plain, application/*", TEXT],
  ["text/plain, application/json", TEXT],
  ["application/json, text/plain", JSON_TYPE],
  // Types that cannot be served or parsed leave the default.
  ["image/png", JSON_TYPE],
  ["application/json;q=0, text/plain;q=0", JSON_TYPE],
  ["text/plainer", JSON_TYPE],
  ["x-text/plain", JSON_TYPE],
  ["text/plain;q=banana", JSON_TYPE],
  ["text/plain;q=2", JSON_TYPE],
  ["text/plain;q=-1", JSON_TYPE],
  ["text, plain, /, */plain", JSON_TYPE],
  [",,,text/plain,,", TEXT],
  ['text/plain;note="unended, */*;q=0', TEXT],
  ['application/json;note="a, text/plain;q=1";q=0.3, text/plain;q=0.2', JSON_TYPE],
])("preferredMedia() of %p is %s", (accept, expected) => {
  expect(preferredMedia(accept, [JSON_TYPE, TEXT])).toBe(expected);
});
