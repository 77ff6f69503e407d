import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SshAgent } from "../../../adapters/git/ssh_agent.ts";
import { type Ed25519Key, newEd25519Key } from "../../../domain/openssh/ed25519_key.ts";
import { publicKeyBlob } from "../../../domain/openssh/public_key.ts";
import { WireReader } from "../../../domain/openssh/wire_reader.ts";
import { WireWriter } from "../../../domain/openssh/wire_writer.ts";

const FAILURE = Uint8Array.of(5);
const IDENTITIES = Uint8Array.of(11);
let root: string;
let socketPath: string;
let key: Ed25519Key;
let other: Ed25519Key;
let agent: SshAgent;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "slipway-"));
  socketPath = join(root, "agent");
  [key, other] = [await newEd25519Key(), await newEd25519Key()];
  agent = await SshAgent.listen(socketPath, key);
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

interface Login {
  readonly message: number;
  readonly service: string;
  readonly method: string;
  readonly key: Ed25519Key;
}

/** The data that a client signs to log in. */
function loginData({ message = 50, service = "ssh-connection", method = "publickey", key: by = key }: Partial<Login>) {
  const data = new WireWriter().string("a session").byte(message).string("git").string(service).string(method);
  return data.byte(1).string("ssh-ed25519").string(publicKeyBlob(by.publicKey)).end();
}

function signRequest(data: Uint8Array, by: Ed25519Key = key): Uint8Array {
  return new WireWriter().byte(13).string(publicKeyBlob(by.publicKey)).string(data).uint32(0).end();
}

/** Sends chunks and returns the first `count` answers, or fewer if the agent hangs up. */
async function answersTo(chunks: readonly Uint8Array[], count: number): Promise<Uint8Array[]> {
  const answers: Uint8Array[] = [];
  let received = Buffer.alloc(0);
  await new Promise<void>((resolve, reject) => {
    const socket = connect(socketPath);
    socket.on("error", reject).on("close", () => resolve());
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      for (let reader = new WireReader(received); reader.left > 0 && answers.length < count;) {
        const length = received.length >= 4 ? received.readUInt32BE(0) : Infinity;
        if (received.length < 4 + length) break;
        answers.push(Uint8Array.from(reader.string()));
        received = received.subarray(4 + length);
        reader = new WireReader(received);
      }
      if (answers.length === count) socket.end();
    });
    for (const chunk of chunks) socket.write(chunk);
  });
  return answers;
}

async function answerTo(message: Uint8Array): Promise<Uint8Array> {
  return (await answersTo([new WireWriter().string(message).end()], 1))[0]!;
}

describe("SshAgent", () => {
  test("lists its one key", async () => {
    const answer = new WireReader(await answerTo(IDENTITIES));
    expect([answer.byte(), answer.uint32()]).toEqual([12, 1]);
    expect(Uint8Array.from(answer.string())).toEqual(publicKeyBlob(key.publicKey));
    expect([answer.text(), answer.left]).toEqual(["", 0]);
  });

  test.each(["publickey", "publickey-hostbound-v00@openssh.com"])("signs a login by %s", async (method) => {
    const data = loginData({ method });
    const answer = new WireReader(await answerTo(signRequest(data)));
    expect(answer.byte()).toBe(14);
    const signature = new WireReader(answer.string());
    expect(signature.text()).toBe("ssh-ed25519");
    const x = Buffer.from(key.publicKey).toString("base64url");
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    expect(verify(null, data, publicKey, signature.string())).toBe(true);
  });

  test.each([
    ["a login with another key", () => signRequest(loginData({ key: other }))],
    ["with another key", () => signRequest(loginData({ key: other }), other)],
    ["another service", () => signRequest(loginData({ service: "ssh-userauth" }))],
    ["another method", () => signRequest(loginData({ method: "hostbased" }))],
    ["another message", () => signRequest(loginData({ message: 51 }))],
    ["a commit", () => signRequest(new TextEncoder().encode("SSHSIG\0\0\0\u0003git"))],
    ["nothing", () => signRequest(new Uint8Array())],
  ])("refuses to sign %s", async (_, request) => {
    expect(await answerTo(request())).toEqual(FAILURE);
  });

  test.each([
    ["an empty message", new Uint8Array()],
    ["an unknown message", Uint8Array.of(27, 1, 2, 3)],
    ["adding a key", Uint8Array.of(17)],
    ["removing all keys", Uint8Array.of(19)],
    ["half a request", Uint8Array.of(13, 0, 0, 0, 9, 1)],
  ])("answers %s with a failure", async (_, message) => {
    expect(await answerTo(message)).toEqual(FAILURE);
  });

  test("answers requests that arrive byte by byte, and several at once", async () => {
    const request = new WireWriter().string(IDENTITIES).end();
    const bytes = Array.from(request, (byte) => Uint8Array.of(byte));
    const both = new WireWriter().bytes(request).string(Uint8Array.of(99)).bytes(request).end();
    const [first, second, third, fourth] = await answersTo([...bytes, both], 4);
    expect([first![0], second![0], third, fourth![0]]).toEqual([12, 12, FAILURE, 12]);
  });

  test("hangs up on a message that is too long", async () => {
    expect(await answersTo([Uint8Array.of(0x7f, 0, 0, 0, 11)], 1)).toEqual([]);
    expect((await answerTo(IDENTITIES))[0]).toBe(12);
  });

  test("hangs up on its clients and removes the socket when it ends", async () => {
    const path = join(root, "brief");
    const brief = await SshAgent.listen(path, key);
    const socket = connect(path);
    const closed = new Promise<void>((resolve) => socket.on("error", () => {}).on("close", () => resolve()));
    await new Promise<void>((resolve) => socket.on("connect", () => resolve()));
    await brief[Symbol.asyncDispose]();
    await closed;
    expect(await Bun.file(path).exists()).toBe(false);
  });

  test("rejects if it cannot open the socket", async () => {
    await expect(SshAgent.listen(join(root, "no such folder", "agent"), key)).rejects.toThrow();
  });
});
