import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import type { Ed25519Key } from "../../domain/openssh/ed25519_key.ts";
import { ED25519, publicKeyBlob } from "../../domain/openssh/public_key.ts";
import { WireReader } from "../../domain/openssh/wire_reader.ts";
import { WireWriter } from "../../domain/openssh/wire_writer.ts";

/** Message numbers of the agent protocol (draft-ietf-sshm-ssh-agent). */
const FAILURE = 5;
const REQUEST_IDENTITIES = 11;
const IDENTITIES_ANSWER = 12;
const SIGN_REQUEST = 13;
const SIGN_RESPONSE = 14;
/** The message that a client signs to log in (RFC 4252, section 7). */
const USERAUTH_REQUEST = 50;
const MAX_MESSAGE = 262_144;
/** What precedes the seed in the PKCS #8 form of an Ed25519 key. */
const PKCS8_PREFIX = Uint8Array.fromHex("302e020100300506032b657004220420");

/** An SSH agent with one key, on a Unix socket: ssh logs in with it, but never gets hold of it. Signs logins only. */
export class SshAgent implements AsyncDisposable {
  readonly #blob: Uint8Array;
  readonly #key: KeyObject;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor({ seed, publicKey }: Ed25519Key) {
    this.#blob = publicKeyBlob(publicKey);
    const der = Buffer.from(new WireWriter().bytes(PKCS8_PREFIX).bytes(seed).end());
    this.#key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** Starts an agent. Whoever can open the socket can log in with the key. */
  static async listen(socketPath: string, key: Ed25519Key): Promise<SshAgent> {
    const agent = new SshAgent(key);
    await new Promise<void>((resolve, reject) => {
      agent.#server.once("error", reject).listen(socketPath, resolve);
    });
    return agent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Returns the answer to a message, both without their lengths. */
  #answer(message: Uint8Array): Uint8Array {
    try {
      const request = new WireReader(message);
      switch (request.byte()) {
        case REQUEST_IDENTITIES:
          return new WireWriter().byte(IDENTITIES_ANSWER).uint32(1).string(this.#blob).string("").end();
        case SIGN_REQUEST: {
          const [blob, data] = [request.string(), request.string()];
          if (!isSame(blob, this.#blob) || !isLogin(data, this.#blob)) break;
          const signature = new WireWriter()
            .string(ED25519)
            .string(sign(null, data, this.#key))
            .end();
          return new WireWriter().byte(SIGN_RESPONSE).string(signature).end();
        }
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    return Uint8Array.of(FAILURE);
  }

  #serve(socket: Socket): void {
    let received = Buffer.alloc(0);
    this.#sockets.add(socket);
    socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      while (received.length >= 4) {
        const length = received.readUInt32BE(0);
        if (length > MAX_MESSAGE) return void socket.destroy();
        if (received.length < 4 + length) return;
        const message = received.subarray(4, 4 + length);
        received = received.subarray(4 + length);
        socket.write(new WireWriter().string(this.#answer(message)).end());
      }
    });
  }
}

/** Returns whether data to sign is a request to log in with this key; a signature of anything else could be misused. */
function isLogin(data: Uint8Array, blob: Uint8Array): boolean {
  const request = new WireReader(data);
  // The session, and the user.
  request.string();
  if (request.byte() !== USERAUTH_REQUEST) return false;
  request.string();
  if (request.text() !== "ssh-connection" || !/^publickey(?:-hostbound-v00@openssh\.com)?$/.test(request.text()))
    return false;
  return request.byte() === 1 && request.text() === ED25519 && isSame(request.string(), blob);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
