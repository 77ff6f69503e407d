import { MemoryEdge } from "../../../adapters/memory/edge.ts";
import { MemoryLog } from "../../../adapters/memory/log.ts";
import { MemoryTables } from "../../../adapters/memory/memory_tables.ts";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { followCertificates } from "../../../application/certificates/follow_certificates.ts";
import {
  watchCertificateOrders,
  type WatchOptions,
} from "../../../application/certificates/watch_certificate_orders.ts";
import type { Certificate } from "../../../domain/certificates/certificate.ts";
import type { DomainName } from "../../../domain/domains/domain_name.ts";
import type { World } from "../../../ports/world.ts";
import { aCustomDomain } from "../database/certificate_builders.ts";
import { eventually } from "../eventually.ts";

/** A process with an edge, which follows certificates and may order them. */
export interface CertificateProcess {
  readonly edge: MemoryEdge;
  /** Stops it, as a shutdown does. */
  stop(): Promise<void>;
  /** Makes it unreachable, as a kill does: its edge answers nobody, and nobody waits for it. */
  bury(): void;
}

export interface StartOptions extends WatchOptions {
  /** Whether it orders certificates. Defaults to true. */
  readonly orders?: boolean;
  readonly world?: Partial<World>;
}

/** Domains, an authority and processes in memory. The authority looks for proofs at the edge of any process. */
export class CertificateScene implements AsyncDisposable {
  readonly tables = new MemoryTables();
  readonly world = { ...memoryWorld(this.tables), log: new MemoryLog() };
  /** The processes that run. */
  processes: readonly CertificateProcess[] = [];

  constructor() {
    this.authority.lookUp = (hostname, token) => {
      if (this.processes.length === 0) return undefined;
      const texts = this.processes.map(({ edge }) => proofAt(edge, hostname, token));
      // Whichever server is asked.
      return texts.every((text) => text === texts[0]) ? texts[0] : undefined;
    };
  }

  get authority() {
    return this.world.certificateAuthority;
  }

  /** A verified custom domain. */
  domain(overrides: Partial<DomainName> = {}): Promise<DomainName> {
    return aCustomDomain(this.world, overrides);
  }

  /** Starts a process. */
  start(options: StartOptions = {}): CertificateProcess {
    const edge = new MemoryEdge();
    const world = { ...this.world, ...options.world, edge };
    const { follow } = followCertificates({ ...world, mode: "self-hosted" });
    const unsubscribe = world.certificates.onChange(follow);
    void follow(null);
    const stopping = new AbortController();
    const { orders = true } = options;
    const working = orders ? watchCertificateOrders(world, { awayMs: 5, ...options })(stopping.signal) : undefined;
    const leave = () => {
      unsubscribe();
      this.processes = this.processes.filter((other) => other !== process);
    };
    const process: CertificateProcess = {
      edge,
      stop: async () => {
        stopping.abort(new Error("Stopping"));
        await working;
        leave();
      },
      bury: () => {
        leave();
        this.tables.certificates.work.clear();
      },
    };
    this.processes = [...this.processes, process];
    return process;
  }

  /** Waits until a host name has a certificate, other than the former one. */
  async certified({ hostname }: DomainName, former?: Certificate): Promise<Certificate> {
    const found = await eventually(
      () => this.world.certificates.find(hostname),
      (certificate) => certificate !== undefined && certificate.fingerprint256 !== former?.fingerprint256,
    );
    return found!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
  }
}

/** The text that an edge answers the authority with. */
export function proofAt(edge: MemoryEdge, hostname: string, token: string): string | undefined {
  const target = edge.routeOf(hostname, `/.well-known/acme-challenge/${token}`)?.target;
  return target?.kind === "text" ? target.text : undefined;
}
