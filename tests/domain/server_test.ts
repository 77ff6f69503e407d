import { describe, expect, test } from "bun:test";
import { checkServerAddress } from "../../domain/servers/server.ts";

function refusal(path: string) {
  return expect.objectContaining({ kind: "invalid", details: [expect.objectContaining({ path })] });
}

describe("checkServerAddress()", () => {
  test("accepts absent fields", () => {
    expect(checkServerAddress({})).toBeUndefined();
  });

  test.each(["server", "server.example.com", "10.0.0.5", "2001:db8::5", "::1", "localhost", "a-1.example"])(
    "accepts the host %j",
    (sshHost) => {
      expect(checkServerAddress({ sshHost })).toBeUndefined();
    },
  );

  test.each([
    "",
    "-oProxyCommand=id",
    "server example",
    "server\nexample",
    "server\0",
    "user@server",
    "server:22",
    "ssh://server",
    "$(id)",
    "`id`",
    "a;b",
    "..",
    "127.1",
    "2130706433",
    "0x7f000001",
    "fe80::1%eth0",
    "a_b",
    "x".repeat(254),
  ])("refuses the host %j", (sshHost) => {
    expect(() => checkServerAddress({ sshHost })).toThrow(refusal("sshHost"));
  });

  test.each(["root", "deploy", "_apt", "a.b-c_d", "0day", "machine$", "x".repeat(64)])(
    "accepts the user %j",
    (sshUser) => {
      expect(checkServerAddress({ sshUser })).toBeUndefined();
    },
  );

  test.each([
    "",
    "-l",
    "--help",
    ".x",
    "a b",
    "a\n",
    "a\0",
    "a@b",
    "a:b",
    "$(id)",
    "a$b",
    "a;b",
    "a/b",
    "ü",
    "x".repeat(65),
  ])("refuses the user %j", (sshUser) => {
    expect(() => checkServerAddress({ sshUser })).toThrow(refusal("sshUser"));
  });

  test("checks both fields", () => {
    expect(() => checkServerAddress({ sshHost: "good.example.com", sshUser: "-x" })).toThrow(refusal("sshUser"));
  });
});
