import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSignedCertificate } from "../inputs/self_signed_certificate.ts";
import { testPort } from "../servers/test_port.ts";

const READY_WITHIN_MS = 30_000;

export interface PebbleOptions {
  /** The port on which the authority looks for proofs, at any host name. */
  readonly httpPort: number;
  /** The share of valid nonces that it rejects, in percent. Defaults to 5. */
  readonly rejectedNonces?: number;
  /** Whether it waits a few seconds before it looks for proofs, as in its own defaults. */
  readonly isSlow?: boolean;
}

/** Let's Encrypt's certificate authority for tests, for which every host name leads to this machine. */
export class Pebble implements AsyncDisposable {
  readonly directoryUrl: string;
  /** A file with the certificate that the authority presents itself. */
  readonly caFile: string;
  /** The same certificate, in PEM format. */
  readonly ca: string;
  readonly #log: string;
  readonly #opened: AsyncDisposableStack;

  private constructor(
    place: Pick<Pebble, "directoryUrl" | "caFile" | "ca"> & { readonly log: string },
    opened: AsyncDisposableStack,
  ) {
    this.directoryUrl = place.directoryUrl;
    this.caFile = place.caFile;
    this.ca = place.ca;
    this.#log = place.log;
    this.#opened = opened;
  }

  static async start({ httpPort, rejectedNonces = 5, isSlow = false }: PebbleOptions): Promise<Pebble> {
    await using opened = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "slipway-"));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const [port, management, dns, control] = Array.from({ length: 4 }, () => opened.use(testPort()).port);
    const { key, cert } = selfSignedCertificate("localhost");
    const [certificate, privateKey, config] = ["cert.pem", "key.pem", "config.json"].map((name) => join(folder, name));
    await writeFile(certificate!, cert);
    await writeFile(privateKey!, key);
    const pebble = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate,
      privateKey,
      httpPort,
      tlsPort: httpPort,
    };
    await writeFile(config!, JSON.stringify({ pebble }));
    const log = join(folder, "log");
    const off = ["-http01", "", "-https01", "", "-tlsalpn01", ""];
    const names = ["-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dns01", `127.0.0.1:${dns}`];
    const resolver = ["pebble-challtestsrv", ...names, ...off, "-management", `127.0.0.1:${control}`];
    opened.defer(started(resolver, {}, join(folder, "names.log")));
    const environment = {
      PEBBLE_WFE_NONCEREJECT: `${rejectedNonces}`,
      ...(isSlow ? { PEBBLE_VA_SLEEPTIME: "3" } : { PEBBLE_VA_NOSLEEP: "1" }),
    };
    opened.defer(
      started(["pebble", "-config", config!, "-strict", "-dnsserver", `127.0.0.1:${dns}`], environment, log),
    );
    const directoryUrl = `https://localhost:${port}/dir`;
    await ready(directoryUrl, cert, log);
    return new Pebble({ directoryUrl, caFile: certificate!, ca: cert, log }, opened.move());
  }

  /** What it has printed. */
  output(): Promise<string> {
    return Bun.file(this.#log).text();
  }

  /** How many orders it has accepted, and how many certificates it has issued. */
  async counts(): Promise<{ readonly orders: number; readonly certificates: number }> {
    const lines = (await this.output()).split("\n");
    return {
      orders: lines.filter((line) => line.includes("Added order ")).length,
      certificates: lines.filter((line) => line.includes("Issued certificate serial")).length,
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

/** Starts a program that ends with this process; returns a function that ends it. */
function started(command: readonly string[], environment: Record<string, string>, log: string): () => Promise<void> {
  const program = Bun.spawn(["setpriv", "--pdeathsig=KILL", "--", ...command], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", Bun.file(log), Bun.file(log)],
  });
  return async () => {
    program.kill("SIGKILL");
    await program.exited;
  };
}

async function ready(directoryUrl: string, ca: string, log: string): Promise<void> {
  for (const until = Date.now() + READY_WITHIN_MS; ; await Bun.sleep(50)) {
    const answer = await fetch(directoryUrl, { tls: { ca } }).catch(() => undefined);
    if (answer?.ok) return;
    if (Date.now() > until) throw new Error(`pebble does not start: ${await Bun.file(log).text()}`);
  }
}
