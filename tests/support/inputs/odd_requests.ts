import {
  type Arbitrary,
  array,
  constant,
  constantFrom,
  dictionary,
  jsonValue,
  nat,
  oneof,
  option,
  record,
  string,
  uint8Array,
} from "fast-check";

/** Part of every secret in a generated request. It must never be returned or logged. */
export const CANARY = "canary-7f3a9d51c0";

/** A generated request. Some of its parts are odd, the others valid for the route. */
export interface OddRequest {
  readonly method: string | undefined;
  readonly ids: readonly string[];
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: OddBody;
  readonly as: "owner" | "anonymous" | "canary";
}

/** A valid body with changes, another value, or bytes that may not be JSON. */
export type OddBody =
  | {
      readonly kind: "changed";
      readonly changes: readonly { readonly at: number; readonly to: unknown }[];
      readonly added: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "bytes"; readonly bytes: string | Uint8Array<ArrayBuffer> };

const ODD_TEXTS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udc00\ud800",
  "😀👩‍👩‍👧",
  "\u202Eevil\u202C",
  "é".normalize("NFD"),
  "'; DROP TABLE users; --",
  "' OR '1'='1",
  "$(touch /tmp/x)",
  "`id`",
  "; rm -rf / #",
  "--upload-pack=id",
  "../../../../etc/passwd",
  "/etc/passwd",
  "<script>alert(1)</script>",
  "{{7*7}} ${7*7} #{7*7} %s %n",
  "null",
  "undefined",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "*",
  "line\r\nX-Injected: yes",
  "http://169.254.169.254/",
  "prj_00000000000000000000000000",
  "a".repeat(300),
  "long ".repeat(4_000),
];

const ODD_NUMBERS = [0, -0, -1, 1.5, 1e21, -1e308, 2 ** 31, 2 ** 53, 65_536, Number.MIN_VALUE];

const ODD_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "then",
  "toJSON",
  "id",
  "role",
  "organizationId",
  "",
  "a.b",
  "a/b~1",
  "$ref",
  "😀",
  "x".repeat(500),
];

const ODD_BYTES: (string | Uint8Array<ArrayBuffer>)[] = [
  "",
  "{",
  "nul",
  "[[[[",
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"a":1e400}',
  '{"a":-0}',
  "[".repeat(40_000),
  `${'{"a":'.repeat(5_000)}1`,
  "\ufeff{}",
  "{} {}",
  "a=b&c=d",
  new Uint8Array([0xff, 0xfe, 0x7b, 0x00]),
  new Uint8Array([0x1f, 0x8b, 0x08, 0x00]),
  new Uint8Array(100),
];

const oddText = oneof(constantFrom(...ODD_TEXTS), string({ unit: "binary", maxLength: 30 }));
const oddKey = oneof(constantFrom(...ODD_KEYS), string({ maxLength: 8 }));
const oddValue = oneof(
  { weight: 4, arbitrary: oddText },
  {
    weight: 2,
    arbitrary: constantFrom<unknown>(...ODD_NUMBERS, null, true, false, [], {}, [null], [[]], { length: 3 }),
  },
  { weight: 1, arbitrary: jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: dictionary(oddKey, oddText, { maxKeys: 4 }) },
  { weight: 1, arbitrary: array(oddText, { maxLength: 4 }) },
);

const oddBody: Arbitrary<OddBody> = oneof(
  {
    weight: 6,
    arbitrary: record({
      kind: constant("changed" as const),
      changes: array(record({ at: nat(40), to: oddValue }), { maxLength: 3 }),
      added: oneof(
        { weight: 3, arbitrary: constant({}) },
        { weight: 1, arbitrary: dictionary(oddKey, oddValue, { maxKeys: 2 }) },
      ),
    }),
  },
  { weight: 2, arbitrary: record({ kind: constant("value" as const), value: oddValue }) },
  {
    weight: 1,
    arbitrary: record({
      kind: constant("bytes" as const),
      bytes: oneof(constantFrom(...ODD_BYTES), uint8Array({ maxLength: 64 }) as Arbitrary<Uint8Array<ArrayBuffer>>),
    }),
  },
);

const PARTS = [
  "",
  "%zz",
  "%",
  "%00",
  "%ff",
  "%2f",
  "%2e%2e",
  "..",
  "a%2Fb%3Fc",
  "%F0%9F%98%80",
  "__proto__",
  "constructor",
  "*",
  ":id",
  "a".repeat(3_000),
  "prj_00000000000000000000000000",
  "inv_",
  "'%20OR%201=1",
];
const oddPart = oneof(constantFrom(...PARTS), string({ maxLength: 20 }).map(encodeURIComponent));

const QUERIES = [
  "page=0",
  "page=1e3",
  "perPage=101",
  "page=1&page=2",
  "page[]=1",
  "page=%zz",
  "search=%00",
  "search=%ff",
  "search=a&search[x]=b",
  "__proto__=x",
  "__proto__[polluted]=true",
  "constructor[prototype][polluted]=true",
  "=",
  "&&&",
  "?",
  "%=%",
  "userId='",
  "target=*",
  "projectId=%27%3B",
  `search=${"x".repeat(5_000)}`,
  "#",
];
const oddQuery = oneof(
  { weight: 3, arbitrary: constant("") },
  { weight: 2, arbitrary: constantFrom(...QUERIES) },
  { weight: 1, arbitrary: string({ maxLength: 30 }).map((text) => text.replaceAll(/[^\x21-\x7e]/g, "+")) },
);

const oddHeaderText = oneof(
  constantFrom(
    "",
    "null",
    "*",
    "a".repeat(300),
    "https://evil.example",
    "%00",
    '"',
    "\u00ff\u00fe",
    "0",
    "-1",
    "__proto__",
    "1.2.3.4, 5.6.7.8",
  ),
  string({ maxLength: 20 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, "?")),
);
const TYPES = [
  "application/json",
  "application/json;charset=utf-16",
  "APPLICATION/JSON",
  "text/plain",
  "multipart/form-data",
  "application/x-www-form-urlencoded",
  "application/json, text/html",
  ";",
  "application/gzip",
];
const HEADERS = [
  "idempotency-key",
  "x-organization-id",
  "x-request-id",
  "origin",
  "x-forwarded-for",
  "x-forwarded-proto",
  "accept",
  "host",
  "range",
  "expect",
  "x-http-method-override",
  "last-event-id",
];

const oddHeaders = record({
  type: oneof({ weight: 4, arbitrary: constant("application/json") }, { weight: 1, arbitrary: constantFrom(...TYPES) }),
  others: oneof(
    { weight: 2, arbitrary: constant({}) },
    { weight: 1, arbitrary: dictionary(constantFrom(...HEADERS), oddHeaderText, { maxKeys: 2 }) },
  ),
  cookie: option(
    constantFrom(
      "slipway_session=%zz",
      "slipway_session",
      ";;==;",
      `slipway_session=${CANARY}`,
      "__proto__=x; constructor=y",
      "a=".repeat(500),
    ),
    { freq: 5, nil: undefined },
  ),
});

/** Generates requests with some invalid parts. */
export const oddRequest: Arbitrary<OddRequest> = record({
  method: oneof(
    { weight: 12, arbitrary: constant(undefined) },
    { weight: 1, arbitrary: constantFrom("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "PROPFIND", "M-SEARCH") },
  ),
  ids: oneof(
    { weight: 3, arbitrary: constant([]) },
    { weight: 1, arbitrary: array(oddPart, { minLength: 1, maxLength: 1 }) },
  ),
  query: oddQuery,
  headers: oddHeaders.map(({ type, others, cookie }) => ({
    ...others,
    "content-type": type,
    ...(cookie && { cookie }),
  })),
  body: oddBody,
  as: oneof(
    { weight: 8, arbitrary: constant("owner" as const) },
    { weight: 1, arbitrary: constantFrom("anonymous" as const, "canary" as const) },
  ),
});
