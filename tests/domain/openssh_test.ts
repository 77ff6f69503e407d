import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { utils } from "ssh2";
import { newEd25519Key } from "../../domain/openssh/ed25519_key.ts";
import { formatPrivateKey, readPrivateKey } from "../../domain/openssh/private_key.ts";
import { publicKeyLine } from "../../domain/openssh/public_key.ts";
import { WireReader } from "../../domain/openssh/wire_reader.ts";
import { WireWriter } from "../../domain/openssh/wire_writer.ts";
import { hostKeyFingerprint, newDeployKey } from "../../domain/projects/deploy_key.ts";
import { sshHost } from "../../domain/projects/ssh_host.ts";
import { keyPair } from "../support/inputs/key_pair.ts";
import { run } from "../support/runner/command.ts";

const root = await mkdtemp(join(tmpdir(), "slipway-"));
afterAll(() => rm(root, { recursive: true }));

describe("newDeployKey()", () => {
  test("makes keys that OpenSSH accepts, with the public part and fingerprint that it shows", async () => {
    const [file, publicFile] = [join(root, "key"), join(root, "key.pub")];
    for (const slug of ["a", "shop", "a-much-longer-slug-of-a-project-harbour"]) {
      const { deployKey, privateKey } = await newDeployKey({ id: "prj_1", slug }, new Date(0));
      expect(deployKey.publicKey).toMatch(new RegExp(`^ssh-ed25519 AAAA[A-Za-z0-9+/]{64} slipway-${slug}$`));
      await writeFile(file, privateKey.reveal(), { mode: 0o600 });
      await writeFile(publicFile, deployKey.publicKey);
      const derived = await run(["ssh-keygen", "-y", "-P", "", "-f", file]);
      expect(derived.lastLine).toBe(deployKey.publicKey);
      const shown = await run(["ssh-keygen", "-l", "-f", publicFile]);
      expect(shown.lastLine).toBe(`256 ${deployKey.fingerprint} slipway-${slug} (ED25519)`);
      expect(utils.parseKey(privateKey.reveal())).not.toBeInstanceOf(Error);
    }
  });

  test("makes another key every time and does not print its private part", async () => {
    const project = { id: "prj_1", slug: "shop" };
    const [one, other] = [await newDeployKey(project, new Date(0)), await newDeployKey(project, new Date(0))];
    expect(one.deployKey.publicKey).not.toBe(other.deployKey.publicKey);
    expect(Bun.inspect(one) + JSON.stringify(one)).not.toContain("OPENSSH PRIVATE");
  });
});

describe("readPrivateKey()", () => {
  test("reads what formatPrivateKey() wrote, and keys of other programs", async () => {
    const key = await newEd25519Key();
    expect(readPrivateKey(formatPrivateKey(key, "comment"))).toEqual(key);
    const foreign = keyPair();
    const read = readPrivateKey(foreign.private)!;
    expect(publicKeyLine(read.publicKey, "").trim()).toBe(foreign.public.trim());
  });

  test.each([
    ["nothing", () => ""],
    ["another text", () => "-----BEGIN OPENSSH PRIVATE KEY-----\n!\n-----END OPENSSH PRIVATE KEY-----\n"],
    ["a key with a passphrase", () => keyPair("open sesame").private],
    ["a key of another type", () => utils.generateKeyPairSync("ecdsa", { bits: 256 }).private],
    ["half a key", () => keyPair().private.replace(/[A-Za-z0-9+/]{40}/, "")],
  ])("returns undefined for %s", (_, text) => {
    expect(readPrivateKey(text())).toBeUndefined();
  });
});

describe("WireReader", () => {
  test("reads what WireWriter wrote, and refuses to read past the end", () => {
    const bytes = new WireWriter().byte(7).uint32(4_000_000_000).string("läng").string(Uint8Array.of(1, 2)).end();
    const reader = new WireReader(bytes);
    expect([reader.byte(), reader.uint32(), reader.text()]).toEqual([7, 4_000_000_000, "läng"]);
    expect([...reader.string()]).toEqual([1, 2]);
    expect(reader.left).toBe(0);
    expect(() => reader.byte()).toThrow(RangeError);
    expect(() => new WireReader(Uint8Array.of(255, 255, 255, 255, 1)).string()).toThrow(RangeError);
  });
});

describe("hostKeyFingerprint()", () => {
  test.each(["", "ssh-ed25519", "ssh-ed25519 AAAA comment", "ssh-ed25519 !!"])("returns undefined for %j", (key) => {
    expect(hostKeyFingerprint(key)).toBeUndefined();
  });
});

describe("sshHost()", () => {
  test.each([
    ["git@git.example.com:acme/shop.git", "git.example.com"],
    ["ssh://git@Git.Example.com/acme/shop.git", "git.example.com"],
    ["ssh://git.example.com:22/acme/shop.git", "git.example.com"],
    ["ssh://git@git.example.com:2222/shop.git", "git.example.com:2222"],
    ["ssh://git@[::1]:2222/shop.git", "[::1]:2222"],
    ["ssh://git@127.0.0.1/shop.git", "127.0.0.1"],
    ["https://git.example.com/shop.git", undefined],
    ["ssh://git@*/shop.git", undefined],
    ["ssh://git@a,b/shop.git", undefined],
    ["ssh://git@münchen.example/shop.git", undefined],
    ["/srv/shop.git", undefined],
    ["", undefined],
  ])("of %s is %p", (url, host) => {
    expect(sshHost(url)).toBe(host);
  });
});
