import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { readHostKey } from "../../domain/servers/host_key.ts";

// Generated with ssh-keygen; its -l option printed the fingerprint.
const FINGERPRINT = "SHA256:Me4vK4J8lMhKmBsrBNEWCAfL+nl1x7iJduaTmWxV/jA";
const LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAID086PrQ1tzYU+hbLjRUpxL0iNPrQQnkXWzKawTRlRYV";

function keyLine(type: string, body: Uint8Array): { line: string; fingerprint: string } {
  const name = Buffer.from(type);
  const blob = Buffer.concat([Buffer.from([0, 0, 0, name.length]), name, body]);
  const digest = createHash("sha256").update(blob).digest("base64").replaceAll("=", "");
  return { line: `${type} ${blob.toString("base64")}`, fingerprint: `SHA256:${digest}` };
}

describe("readHostKey()", () => {
  test.each([
    ["a fingerprint", FINGERPRINT],
    ["a fingerprint with surrounding white space", `  ${FINGERPRINT}\n`],
    ["a public key line", LINE],
    ["a public key line with a comment", `${LINE} root@server made today`],
    ["a known_hosts line", `server.example,10.0.0.5 ${LINE}`],
    ["a known_hosts line with a port", `[server.example]:2222 ${LINE}`],
    ["a hashed known_hosts line", `|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= ${LINE}`],
    ["a line with tabs and a carriage return", `${LINE.replace(" ", "\t")}\r\n`],
  ])("reads %s", async (_what, text) => {
    expect(await readHostKey(text)).toBe(FINGERPRINT);
  });

  test("returns the fingerprint of every kind of key", async () => {
    const type = fc.constantFrom("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp521");
    await fc.assert(
      fc.asyncProperty(type, fc.uint8Array({ minLength: 1, maxLength: 600 }), async (name, body) => {
        const { line, fingerprint } = keyLine(name, body);
        expect(await readHostKey(line)).toBe(fingerprint);
        expect(await readHostKey(fingerprint)).toBe(fingerprint);
      }),
    );
  });

  test.each([
    ["nothing", ""],
    ["a word", "hello"],
    ["an MD5 fingerprint", "MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48"],
    ["a short fingerprint", FINGERPRINT.slice(0, -1)],
    ["a long fingerprint", `${FINGERPRINT}A`],
    ["a padded fingerprint", `${FINGERPRINT}=`],
    ["a fingerprint with bits beyond its 32 bytes", `SHA256:${"A".repeat(42)}B`],
    ["a key type alone", "ssh-ed25519"],
    ["a key that is not base64", "ssh-ed25519 !!!!"],
    ["a key cut short", LINE.slice(0, -2)],
    ["a key whose type differs from its content", LINE.replace("ssh-ed25519", "ssh-rsa")],
    ["an outdated key type", keyLine("ssh-dss", Buffer.alloc(64, 7)).line],
    ["a certificate authority", `@cert-authority *.example ${LINE}`],
    ["two lines", `${LINE}\n${LINE}`],
    ["a private key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----"],
  ])("refuses %s", async (_what, text) => {
    expect(await readHostKey(text)).toBeUndefined();
  });
});
