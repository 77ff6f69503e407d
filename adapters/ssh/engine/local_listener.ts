import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { endPolitely } from "./engine_route.ts";

/** Longest path of a socket that every system accepts. */
const LONGEST_PATH = 100;
const HOST = "127.0.0.1";

/** Opens a connection to what a listener leads to. */
export type OpenPeer = () => Promise<Duplex>;

/** A listener of this machine whose connections lead elsewhere. Disposing it ends its connections and removes it. */
export class LocalListener implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #folder: string | undefined;

  private constructor(openPeer: OpenPeer, folder?: string) {
    this.#folder = folder;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#lead(socket, openPeer));
  }

  /**
   * Listens on a socket that only this user can connect to, in a new folder below `parent`, or in the system's temporary
   * folder where that path is too long.
   */
  static async onSocket(parent: string, openPeer: OpenPeer): Promise<{ listener: LocalListener; path: string }> {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const fits = join(parent, "s-XXXXXX", "engine.sock").length <= LONGEST_PATH;
    const folder = await mkdtemp(fits ? join(parent, "s-") : join(tmpdir(), "slipway-s-"));
    await chmod(folder, 0o700);
    const listener = new LocalListener(openPeer, folder);
    const path = join(folder, "engine.sock");
    listener.#server.listen(path);
    await once(listener.#server, "listening");
    return { listener, path };
  }

  /** Listens on a free port that only this machine can connect to. */
  static async onPort(openPeer: OpenPeer): Promise<{ listener: LocalListener; port: number }> {
    const listener = new LocalListener(openPeer);
    listener.#server.listen(0, HOST);
    await once(listener.#server, "listening");
    return { listener, port: (listener.#server.address() as AddressInfo).port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  #lead(socket: Socket, openPeer: OpenPeer): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.once("close", () => this.#sockets.delete(socket));
    openPeer().then(
      (peer) => connectBoth(socket, peer),
      () => socket.destroy(),
    );
  }
}

/** Passes everything from either side to the other, and ends both when one breaks. */
function connectBoth(socket: Socket, peer: Duplex): void {
  if (socket.destroyed) return endPolitely(peer);
  peer.on("error", () => socket.destroy());
  peer.once("close", () => socket.destroySoon());
  socket.once("close", () => endPolitely(peer));
  socket.pipe(peer);
  peer.pipe(socket);
}
