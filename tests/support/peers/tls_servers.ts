import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createSecureContext, createServer, type TlsOptions } from "node:tls";
import type { PresentedOnStage, ServerBehaviour } from "../../contracts/tls_probe.ts";
import { type IssuedCertificate, issueCertificate } from "../inputs/issued_certificate.ts";

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

/** Real TLS servers of every kind at 127.0.0.1, and the authority whose certificates are to be trusted. */
export class TlsServers implements AsyncDisposable {
  readonly #root = authority("Test Root");
  readonly #issuing = authority("Test Authority", this.#root);
  readonly #private = authority("Test Authority", authority("Private Root"));
  readonly #expired = authority("Test Authority", this.#root, inDays(-1));
  readonly #servers = new Set<Server>();
  readonly #sockets = new Set<Socket>();

  /** The certificate of the trusted root, in PEM. */
  get trusted(): string {
    return this.#root.cert;
  }

  /** Starts a server; resolves to its port. */
  async serve(behaviour: PresentedOnStage | ServerBehaviour): Promise<number> {
    if (typeof behaviour === "object") return this.#listen(createServer(this.#presenting(behaviour)));
    if (behaviour === "outdated") {
      const options = this.#presenting({ names: ["www.example.test"], from: -1, to: 1, chain: "complete" });
      return this.#listen(createServer({ ...options, minVersion: "TLSv1", maxVersion: "TLSv1.1" }));
    }
    if (behaviour === "by_name") return this.#listen(this.#byName());
    if (behaviour !== "absent") return this.#listen(createTcpServer(ACTS[behaviour]));
    const server = createTcpServer();
    const port = await this.#listen(server);
    await new Promise((resolve) => server.close(resolve));
    return port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }

  #byName(): Server {
    const server = createServer(this.#presenting({ names: ["preset.test"], from: -1, to: 1, chain: "complete" }));
    for (const name of ["first.test", "second.test"]) {
      const { key, cert } = this.#presenting({ names: [name], from: -1, to: 1, chain: "complete" });
      server.addContext(name, createSecureContext({ key: key!, cert: cert! }));
    }
    return server;
  }

  /** Issues a certificate, and returns what the server sends. */
  #presenting({ subject, names, from, to, chain }: PresentedOnStage): TlsOptions {
    const request = {
      ...(subject !== undefined && { subject }),
      names,
      notBefore: inDays(from),
      notAfter: inDays(to),
    };
    if (chain === "self_signed") return sent([issueCertificate({ ...request, isAuthority: true })]);
    const issuers = { unknown_authority: this.#private, authority_expired: this.#expired };
    const issuer = chain === "complete" || chain === "incomplete" ? this.#issuing : issuers[chain];
    const leaf = issueCertificate({ ...request, issuer });
    return sent(chain === "incomplete" ? [leaf] : [leaf, issuer]);
  }

  async #listen(server: Server): Promise<number> {
    this.#servers.add(server);
    server.on("tlsClientError", () => {});
    for (const event of ["connection", "secureConnection"]) server.on(event, (socket: Socket) => this.#keep(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as { port: number }).port;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

function authority(subject: string, issuer?: IssuedCertificate, notAfter = inDays(300)): IssuedCertificate {
  return issueCertificate({ subject, ...(issuer && { issuer }), isAuthority: true, notBefore: inDays(-300), notAfter });
}

function sent(chain: readonly IssuedCertificate[]): TlsOptions {
  return { key: chain[0]!.key, cert: chain.map(({ cert }) => cert).join("") };
}

/** The fatal alert "unrecognized name". */
const DECLINED = Buffer.of(0x15, 3, 3, 0, 2, 2, 112);
/** A record of the handshake that announces 16 KiB, of which never all arrive. */
const ENDLESS = Buffer.of(0x16, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc);
/** The hello of a server that knows nothing newer than TLS 1.1. */
const OLD_HELLO = Buffer.concat([
  Buffer.of(0x16, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2),
  Buffer.alloc(32, 7),
  Buffer.of(0, 0xc0, 0x13, 0),
]);

type Act = Exclude<ServerBehaviour, "absent" | "outdated" | "by_name">;

/** What a server without TLS does with a connection. */
const ACTS: Readonly<Record<Act, (socket: Socket) => void>> = {
  silent: () => {},
  trickling: (socket) => {
    socket.write(ENDLESS);
    const timer = setInterval(() => socket.write(Buffer.of(7)), 100);
    socket.on("close", () => clearInterval(timer));
  },
  plain_http: (socket) =>
    socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")),
  greeting: (socket) => socket.write("SSH-2.0-OpenSSH_9.6\r\n"),
  closing: (socket) => socket.end(),
  closing_after_hello: (socket) => socket.once("data", () => socket.end()),
  resetting: (socket) => socket.resetAndDestroy(),
  declining: (socket) => socket.once("data", () => socket.end(DECLINED)),
  outdated_hello: (socket) => socket.once("data", () => socket.write(OLD_HELLO)),
};
