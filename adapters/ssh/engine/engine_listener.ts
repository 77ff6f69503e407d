import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";

/** Longest path of a socket that every system accepts. */
const LONGEST_PATH = 100;

/** Opens a connection to what the listener leads to. */
export type OpenPeer = () => Promise<Duplex>;

/**
 * A socket of this machine, for this user only, whose connections lead elsewhere. Closing it ends its connections and
 * removes it.
 */
export class EngineListener implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #folder: string;
  readonly path: string;

  private constructor(folder: string, openPeer: OpenPeer) {
    this.#folder = folder;
    this.path = join(folder, "engine.sock");
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#lead(socket, openPeer));
  }

  /** Listens in a new folder below `parent`, or in the system's temporary folder where that path is too long. */
  static async open(parent: string, openPeer: OpenPeer): Promise<EngineListener> {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const fits = join(parent, "s-XXXXXX", "engine.sock").length <= LONGEST_PATH;
    const folder = await mkdtemp(fits ? join(parent, "s-") : join(tmpdir(), "slipway-s-"));
    await chmod(folder, 0o700);
    const listener = new EngineListener(folder, openPeer);
    listener.#server.listen(listener.path);
    await once(listener.#server, "listening");
    return listener;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  #lead(socket: Socket, openPeer: OpenPeer): void {
    this.#sockets.add(socket);
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
  if (socket.destroyed) {
    peer.on("error", () => {});
    peer.destroy();
    return;
  }
  peer.on("error", () => socket.destroy());
  peer.once("close", () => socket.destroySoon());
  socket.once("close", () => peer.destroy());
  socket.pipe(peer);
  peer.pipe(socket);
}
