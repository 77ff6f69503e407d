import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { durationMs } from "../../domain/services/duration.ts";
import { normalPath } from "../../domain/services/normal_path.ts";
import { portEntry } from "../../domain/services/port_notation.ts";
import { shellWords } from "../../domain/services/shell_words.ts";
import { volumeEntry } from "../../domain/services/volume_notation.ts";
import { shellWord } from "../../domain/shell_word.ts";
import { hostileArguments } from "../support/inputs/hostile_arguments.ts";

describe("shellWords()", () => {
  test.each([
    ["", []],
    [" \t\n ", []],
    ["bun run start", ["bun", "run", "start"]],
    ["  a \t b\nc ", ["a", "b", "c"]],
    [`sh -c "echo 'a b'"`, ["sh", "-c", "echo 'a b'"]],
    [`a'b c'd"e f"`, ["ab cde f"]],
    [`'' ""`, ["", ""]],
    [String.raw`a\ b \"c\' \\`, ["a b", `"c'`, "\\"]],
    [String.raw`"\$ \` \" \\ \n"`, [String.raw`$ ${"`"} " \ \n`]],
    [String.raw`'\n \'`, [String.raw`\n \ `.trim()]],
    ['a \\\n b\\\nc "d\\\ne"', ["a", "bc", "de"]],
    ["a | b; c && $HOME > x # y *", ["a", "|", "b;", "c", "&&", "$HOME", ">", "x", "#", "y", "*"]],
  ])("splits %j", (text, value) => {
    expect(shellWords(text)).toEqual({ value });
  });

  test.each(["'a", '"a', `a "b'`, "a 'b\"", String.raw`"a\"`, "a\\", "a\0b"])("refuses %j", (text) => {
    expect(shellWords(text)).toEqual({ wrong: expect.any(String) });
  });

  test("reads back what is quoted for a shell", () => {
    expect(shellWords(hostileArguments.map(shellWord).join(" "))).toEqual({ value: [...hostileArguments] });
  });

  test("splits as a real shell does", () => {
    const plain = fc.string({ unit: fc.constantFrom(..."ab'\"\\ \t\n=-"), maxLength: 12 });
    fc.assert(
      fc.property(plain, (text) => {
        const read = shellWords(text);
        if ("wrong" in read) return;
        // In a shell, a line break ends a command; nothing else differs.
        const line = text.replaceAll("\n", (_, at: number) => (isBare(text, at) ? " " : "\n"));
        const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\0' x ${line}`]);
        expect(read.value).toEqual(stdout.toString().split("\0").slice(1, -1));
      }),
      { numRuns: 60 },
    );
  });
});

/** Whether a character is outside quotes and not escaped. */
function isBare(text: string, at: number): boolean {
  return "value" in shellWords(text.slice(0, at));
}

describe("durationMs()", () => {
  test.each([
    ["30s", 30_000],
    ["1m30s", 90_000],
    ["1h", 3_600_000],
    ["500ms", 500],
    ["1.5s", 1_500],
    ["1500us", 2],
    ["0", 0],
    [" 2s ", 2_000],
    [30, 30_000],
    [0.5, 500],
    [0, 0],
  ])("reads %j", (given, value) => {
    expect(durationMs(given)).toEqual({ value });
  });

  test.each(["", "30", "s", "-1s", "1 s", "1d", "1m 30s", "9999999h", "9".repeat(400), -1, Infinity, NaN])(
    "refuses %j",
    (given) => {
      expect(durationMs(given)).toEqual({ wrong: expect.any(String) });
    },
  );
});

describe("portEntry()", () => {
  test.each([
    [80, { ports: [80], protocol: "tcp", published: null, address: null }],
    ["80", { ports: [80], protocol: "tcp", published: null, address: null }],
    ["8080:80", { ports: [80], protocol: "tcp", published: "8080", address: null }],
    ["127.0.0.1:53:53/udp", { ports: [53], protocol: "udp", published: "53", address: "127.0.0.1" }],
    ["127.0.0.1::80", { ports: [80], protocol: "tcp", published: null, address: "127.0.0.1" }],
    ["[::1]:8080:80/tcp", { ports: [80], protocol: "tcp", published: "8080", address: "[::1]" }],
    ["::1:8080:80", { ports: [80], protocol: "tcp", published: "8080", address: "::1" }],
    ["localhost:8080:80", { ports: [80], protocol: "tcp", published: "8080", address: "localhost" }],
    ["3000-3002", { ports: [3000, 3001, 3002], protocol: "tcp", published: null, address: null }],
    ["4000-4001:3000-3001", { ports: [3000, 3001], protocol: "tcp", published: "4000-4001", address: null }],
    ["4000-4009:80", { ports: [80], protocol: "tcp", published: "4000-4009", address: null }],
    ["443/UDP", { ports: [443], protocol: "udp", published: null, address: null }],
  ])("reads %j", (given, value) => {
    expect(portEntry(given)).toEqual({ value } as never);
  });

  test.each([
    "",
    "web",
    "0",
    "65536",
    "0:80",
    "70000:80",
    "80/http",
    "80:",
    "3005-3000",
    "1-3:1-2",
    "8080:80:80",
    "1.2.3:80:80",
    "999.0.0.1:80:80",
    "[::g]:80:80",
    "80 81",
    "-1",
    0,
    65_536,
    1.5,
  ])("refuses %j", (given) => {
    expect(portEntry(given)).toEqual({ wrong: expect.any(String) });
  });
});

describe("volumeEntry()", () => {
  const volume = { kind: "volume", external: false, readOnly: false };
  test.each([
    ["data:/var/lib/data", { ...volume, name: "data", target: "/var/lib/data" }],
    ["data:/var/lib//data/:ro", { ...volume, name: "data", target: "/var/lib/data", readOnly: true }],
    ["data:/x:rw", { ...volume, name: "data", target: "/x" }],
    ["data:/x:ro,z", { ...volume, name: "data", target: "/x", readOnly: true }],
    ["/cache", { ...volume, name: null, target: "/cache" }],
    ["./conf:/etc/conf:ro", { kind: "source", path: "conf", target: "/etc/conf", readOnly: true }],
    ["a/b/../c:/x", { kind: "source", path: "a/c", target: "/x", readOnly: false }],
    [".:/app", { kind: "source", path: "", target: "/app", readOnly: false }],
    ["/srv/./files/:/files", { kind: "host", path: "/srv/files", target: "/files", readOnly: false }],
    ["/srv/../etc:/x", { kind: "host", path: "/etc", target: "/x", readOnly: false }],
  ])("reads %j", (text, value) => {
    expect(volumeEntry(text)).toEqual({ value } as never);
  });

  test.each([
    "",
    "data",
    "data:",
    "data:relative",
    "data:/",
    "data:/x/..",
    ":/x",
    "data:/x:rox",
    "data:/x:nocopy",
    "data:/x:ro:z",
    "../x:/x",
    "a/../../x:/x",
    "~/x:/x",
    "-x:/x",
    "a b:/x",
    "data:/x\0",
  ])("refuses %j", (text) => {
    expect(volumeEntry(text)).toEqual({ wrong: expect.any(String) });
  });
});

test.each([
  ["/", "/"],
  ["/a//b/./c/", "/a/b/c"],
  ["/../a", "/a"],
  ["", ""],
  ["./", ""],
  ["a/..", ""],
  ["..", undefined],
  ["a/../..", undefined],
])("normalPath() turns %j into %j", (path, normal) => {
  expect(normalPath(path)).toBe(normal as string);
});
