import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { secretMask } from "../../domain/deployments/secret_mask.ts";
import { Secret } from "../../domain/secret.ts";

const maskOf = (...values: string[]) => secretMask(values.map((value) => new Secret(value)));
const base64 = (text: string) => Buffer.from(text).toString("base64");
const base64url = (text: string) => Buffer.from(text).toString("base64url");

const CANARY = "s3cr3t/k+y?&\"'é🚀";

test("secretMask() replaces every occurrence and leaves the rest", () => {
  const mask = maskOf("hunter22");
  expect(mask("a hunter22 b hunter22hunter22!")).toBe("a [secret] b [secret][secret]!");
  expect(mask("nothing here")).toBe("nothing here");
  expect(mask("")).toBe("");
  expect(mask("hunter2")).toBe("hunter2");
  expect(mask("hun")).toBe("hun");
});

test("secretMask() without secrets, or with only short ones, changes nothing", () => {
  expect(maskOf()("text")).toBe("text");
  expect(maskOf("", "a", "abc")("abc a")).toBe("abc a");
  expect(maskOf("abcd")("abcd")).toBe("[secret]");
});

test("secretMask() replaces overlapping secrets as one, the longest included", () => {
  const mask = maskOf("abcdef", "defghi", "abcd", "abcdefgh12");
  expect(mask("xabcdefghiy")).toBe("x[secret]y");
  expect(mask("xabcdefgh12y")).toBe("x[secret]y");
  expect(mask("xabcdz")).toBe("x[secret]z");
  expect(maskOf("aaaa")("aaaaaaaaa")).toBe("[secret]");
});

test.each<[string, string]>([
  ["raw", CANARY],
  ["JSON", JSON.stringify({ token: CANARY })],
  ["JSON in JSON", JSON.stringify(JSON.stringify({ token: CANARY }))],
  ["JSON of ASCII", '"s3cr3t/k+y?&\\"\'\\u00e9\\ud83d\\ude80"'],
  ["URL-encoded", `https://x/?t=${encodeURIComponent(CANARY)}&a`],
  ["form-encoded", new URLSearchParams({ t: CANARY }).toString()],
  ["URL-encoded in lower case", encodeURIComponent(CANARY).toLowerCase()],
  ["base64", base64(CANARY)],
  ["base64url", base64url(CANARY)],
])("secretMask() replaces the whole %s form", (_, text) => {
  const masked = maskOf(CANARY)(text);
  expect(masked).toContain("[secret]");
  expect(masked).not.toContain("s3cr3t");
  expect(masked).not.toContain("czNj");
  expect(masked.replace("[secret]", "").length).toBeLessThan(text.length - 15);
});

test("secretMask() replaces base64 wherever the secret is in the encoded text", () => {
  const mask = maskOf(CANARY);
  for (const [before, after] of [
    ["", ""],
    ["a", "bc"],
    ["ab", "c"],
    ["user:", ""],
    ["abcd", "\n"],
  ] as const) {
    for (const encode of [base64, base64url]) {
      const masked = mask(encode(before + CANARY + after));
      const decoded = Buffer.from(masked.replace("[secret]", "").replaceAll(/=/g, ""), "base64").toString();
      expect(masked).toContain("[secret]");
      expect(decoded.length).toBeLessThanOrEqual(before.length + after.length + 4);
    }
  }
});

test("secretMask() replaces base64 that is wrapped into lines", () => {
  const value = Array.from({ length: 40 }, (_, index) => (index * 2_654_435_761).toString(36)).join("");
  const mask = maskOf(value);
  for (const width of [64, 76]) {
    const lines = base64(`TOKEN=${value}`).match(new RegExp(`.{1,${width}}`, "g"))!;
    for (const line of lines.slice(0, -1).map(mask)) expect(line.replaceAll("[secret]", "").length).toBeLessThan(40);
  }
});

test("secretMask() replaces the lines of a multi-line secret", () => {
  const key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA1\r\n  y7bVYlBIGZ0nYJzX\nfin\n-----END KEY-----\n";
  const mask = maskOf(key);
  expect(mask("key: MIIEpAIBAAKCAQEA1")).toBe("key: [secret]");
  expect(mask("      y7bVYlBIGZ0nYJzX")).toBe("      [secret]");
  expect(mask("final")).toBe("final");
  expect(mask(`x${JSON.stringify(key)}x`)).toBe('x"[secret]"x');
  expect(maskOf("token-1\n")("the token-1.")).toBe("the [secret].");
});

test("secretMask() replaces pieces of a secret that is longer than a log line", () => {
  const value = Array.from({ length: 4_000 }, (_, index) => (index * 2_654_435_761).toString(36)).join("");
  const mask = maskOf(value);
  for (const piece of [value.slice(100, 16_484), value.slice(-5_000)]) {
    expect(mask(piece).replaceAll("[secret]", "").length).toBeLessThan(512);
  }
});

test("secretMask() picks another placeholder when the usual one would reveal a secret", () => {
  for (const value of ["secret", "]abcd", "abc[", "x[secret]y"]) {
    expect(maskOf(value)(`--${value}--`)).toBe("--█--");
  }
  const mask = maskOf("hunter22", "pre[sec");
  expect(mask("prehunter22")).not.toContain("pre[sec");
});

test("secretMask() leaves no secret in any text, in any form", () => {
  const letters = fc.constantFrom(...'abAB[]setcr /+%"\\\n\té🚀-='.match(/./gsu)!);
  const word = fc.string({ unit: letters, maxLength: 12 });
  const secret = fc.oneof(word, fc.string({ unit: "binary", maxLength: 30 }));
  const encode = fc.constantFrom<(text: string) => string>(
    (text) => text,
    base64,
    base64url,
    (text) => encodeURIComponent(text.toWellFormed()),
    (text) => JSON.stringify(text),
    (text) => `${base64(`x${text}yz`)} ${base64(`xx${text}`)}`,
  );
  fc.assert(
    fc.property(
      fc.array(secret, { maxLength: 6 }),
      fc.array(fc.tuple(word, fc.nat(5), encode), { maxLength: 8 }),
      (secrets, parts) => {
        const mask = maskOf(...secrets);
        const text = parts.map(([before, index, form]) => before + form(secrets[index] ?? "")).join("");
        const masked = mask(text);
        for (const value of secrets.filter(({ length }) => length >= 4)) {
          expect(masked.includes(value)).toBe(false);
          expect(masked.includes(base64(value))).toBe(false);
          expect(masked.includes(JSON.stringify(value).slice(1, -1))).toBe(false);
        }
        if (secrets.every(({ length }) => length < 4)) expect(masked).toBe(text);
        expect(mask(masked)).toBe(masked);
      },
    ),
    { numRuns: 1_500 },
  );
});
