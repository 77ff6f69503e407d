import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { loggedError } from "../../../domain/logged_error.ts";
import { bareHost } from "../../../domain/deployments/route_table.ts";
import { Failure } from "../../../domain/failure.ts";
import type { Edge, EdgeCertificate, EdgeRoute } from "../../../ports/domains/edge.ts";
import type { Log } from "../../../ports/system/log.ts";
import { type EdgeNote, type EdgeProcessSettings, noteFile, PROTOCOL, readNote } from "./edge_note.ts";
import { ALIVE_MS, type EdgeCommands } from "./edge_process.ts";
import type { SentCertificate } from "./edge_thread.ts";
import type { EdgeAddress } from "../edge_server.ts";
import { unusableBecause } from "../../shared/address_unusable.ts";
import { portHolder } from "../../shared/port_holder.ts";
import { assertUsable, usable } from "../tls/presented_certificates.ts";

export interface SeparateEdgeOptions {
  /** The folder for the note file and the log of the edge. */
  readonly folder: string;
  /** The command of the edge process; the path of the note file and the settings are appended as arguments. */
  readonly command: readonly string[];
  readonly trustedProxies?: readonly string[];
  /** Whether plain requests for hosts with a certificate are redirected to HTTPS. Defaults to `true`. */
  readonly httpsRedirect?: boolean;
  /** For how long browsers are told to use only HTTPS (HSTS), in seconds; 0, the default, for not at all. */
  readonly hstsSeconds?: number;
  /** The number of threads that serve; one by default. */
  readonly workers?: number;
  readonly log?: Log;
}

/** Timeout of a command; an edge that exceeds it hangs. */
const ANSWER_MS = 5_000;
const START_MS = 20_000;
const LOOK_MS = 25;
const AGAIN_MS = 500;
/** A longer drain is split into requests of this length. */
const DRAIN_PART_MS = 20_000;

/**
 * Serves apps through a separate process, which survives this one and is found again by the next server. When it has
 * exited, it is started again and receives all routes.
 */
export class SeparateEdge implements Edge, AsyncDisposable {
  readonly #options: SeparateEdgeOptions;
  readonly #routes = new Map<string, readonly EdgeRoute[]>();
  readonly #certificates = new Map<string, SentCertificate>();
  /** Whether these are all certificates of the installation. */
  #knowsCertificates = false;
  readonly #stopped = new AbortController();
  #settings: EdgeProcessSettings = { host: "127.0.0.1", port: 0, trustedProxies: [] };
  #file = "";
  #note: EdgeNote | undefined;
  #loaded = false;
  /** Serializes commands, so that the last one wins. */
  #turn: Promise<unknown> = Promise.resolve();
  #reviving: Promise<void> | undefined;

  constructor(options: SeparateEdgeOptions) {
    this.#options = options;
  }

  get port(): number {
    return this.#note?.port ?? 0;
  }

  /** The port for TLS; 0 while the edge does not listen on it. */
  get tlsPort(): number {
    return this.#note?.tlsPort ?? 0;
  }

  /** Finds the running edge of that address, or starts it. */
  async listen({ host, port, tlsPort }: Omit<EdgeAddress, "shared">): Promise<void> {
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
    const { trustedProxies = [], workers = 1, httpsRedirect = true, hstsSeconds = 0 } = this.#options;
    this.#settings = {
      host,
      port,
      trustedProxies,
      ...(tlsPort !== undefined && { tlsPort }),
      ...(!httpsRedirect && { httpsRedirect }),
      ...(hstsSeconds > 0 && { hstsSeconds }),
      ...(workers > 1 && { workers }),
    };
    this.#file = noteFile(this.#options.folder, port);
    await this.#revive();
    this.#warnWithoutTls();
    void this.#watch();
  }

  /**
   * Replaces all routes, and all certificates if they are known, at once; unusable ones are logged. The edge of a former
   * server keeps its own until then, and for good if they are not known.
   */
  async load(routes: readonly EdgeRoute[], certificates?: readonly EdgeCertificate[]): Promise<void> {
    this.#routes.clear();
    for (const [owner, own] of Map.groupBy(routes, ({ projectId }) => projectId)) this.#routes.set(owner, own);
    this.#loaded = true;
    if (certificates) {
      this.#certificates.clear();
      for (const each of usable(certificates, this.#options.log)) this.#keep(each);
      this.#knowsCertificates = true;
    }
    await this.#inTurn(() => this.#send("load", this.#state()));
  }

  async switch(projectId: string, routes: readonly EdgeRoute[]): Promise<void> {
    if (routes.length === 0) this.#routes.delete(projectId);
    else this.#routes.set(projectId, routes);
    await this.#inTurn(() => this.#send("switch", { owner: projectId, routes }));
  }

  async present(hostname: string, certificate: EdgeCertificate | null): Promise<void> {
    // Checked here, so that an edge that is started again refuses none of its certificates.
    if (certificate) assertUsable(certificate);
    const name = bareHost(hostname);
    if (!certificate) this.#certificates.delete(name);
    const sent = certificate && this.#keep({ ...certificate, hostname: name });
    await this.#inTurn(() => this.#send("present", { hostname: name, certificate: sent }));
  }

  async drained(servedBy: string, limitMs: number): Promise<void> {
    for (let leftMs = limitMs; leftMs > 0; leftMs -= DRAIN_PART_MS) {
      const begun = performance.now();
      const partMs = Math.min(leftMs, DRAIN_PART_MS);
      await this.#send("drained", { servedBy, limitMs: partMs }, partMs + ANSWER_MS);
      if (performance.now() - begun < partMs) return;
    }
  }

  /** Detaches from the edge, which keeps running for the next server. */
  async stop(_graceMs: number): Promise<void> {
    this.#stopped.abort();
    await this.#turn.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
  }

  /** Keeps a certificate for an edge that is started again. */
  #keep({ hostname, chain, key }: EdgeCertificate): SentCertificate {
    const sent = { hostname: bareHost(hostname), chain, key: key.reveal() };
    this.#certificates.set(sent.hostname, sent);
    return sent;
  }

  /** What the edge has to serve. */
  #state({ isNew = false } = {}): EdgeCommands["load"] {
    const certificates = isNew || this.#knowsCertificates ? [...this.#certificates.values()] : null;
    return { routes: [...this.#routes.values()].flat(), certificates };
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #send<C extends keyof EdgeCommands>(command: C, body: EdgeCommands[C], withinMs = ANSWER_MS): Promise<void> {
    try {
      await commanded(this.#note!, command, body, { withinMs });
    } catch {
      // The edge is gone. Its replacement receives the whole state, including this command.
      await this.#revive();
    }
  }

  /** Detects when the edge exits, even while no commands are sent. */
  async #watch(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await commanded(this.#note!, "alive", {}, { signal, withinMs: ALIVE_MS + ANSWER_MS });
        // It may have got its TLS port meanwhile.
        this.#note = readNote(this.#file) ?? this.#note;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log?.write("warn", "The edge exited and is restarted", { ...loggedError(error) });
        await this.#revive().catch((failure: unknown) => {
          this.#options.log?.write("error", "Could not start the edge", { ...loggedError(failure) });
        });
        await delay(AGAIN_MS);
      }
    }
  }

  #revive(): Promise<void> {
    this.#reviving ??= this.#begin().finally(() => (this.#reviving = undefined));
    return this.#reviving;
  }

  async #begin(): Promise<void> {
    const found = readNote(this.#file);
    const fits = found?.protocol === PROTOCOL && Bun.deepEquals(found.settings, this.#settings);
    if (found && !fits) await stopEdge(this.#file, { ifAlone: false });
    const running = fits && (await answers(found)) ? found : undefined;
    this.#note = running ?? (await this.#start());
    if (this.#loaded) await commanded(this.#note, "load", this.#state({ isNew: !running }));
  }

  #warnWithoutTls(): void {
    const { host, tlsPort } = this.#settings;
    if (tlsPort === undefined || this.tlsPort > 0) return;
    const reason = portHolder(tlsPort)
      ? unusableBecause({ host, port: tlsPort, setting: "EDGE_TLS_PORT" }, "EADDRINUSE")
      : `Cannot listen on ${host}:${tlsPort}. Its log, ${logFile(this.#file)}, says why; or set EDGE_TLS_PORT`;
    this.#options.log?.write("warn", "Apps are served without TLS until its port is free", { reason });
  }

  /** Starts an edge in its own session, so that it survives signals to this process. */
  async #start(): Promise<EdgeNote> {
    // An edge that hangs, or whose note file was lost, would hold the port.
    killStray(this.#file);
    const log = openSync(logFile(this.#file), "w", 0o600);
    const [program = "", ...words] = this.#options.command;
    const child = spawn(program, [...words, this.#file, JSON.stringify(this.#settings)], {
      detached: true,
      // Does not inherit the environment, which may contain secrets.
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    let exitCode: number | undefined;
    child.once("exit", (code) => (exitCode = code ?? 1));
    child.once("error", () => (exitCode = 1));
    child.unref();
    for (const until = Date.now() + START_MS; Date.now() < until; await delay(LOOK_MS)) {
      const note = readNote(this.#file);
      if (note && (await answers(note))) return note;
      if (exitCode !== undefined && !note) break;
    }
    const said = readFileSync(logFile(this.#file), "utf8").trim().split("\n").at(-1) ?? "";
    const why = said.replace(/^slipway: /, "") || "Cannot start the edge: its program did not come up";
    throw new Failure("unavailable", "address_unusable", why);
  }
}

/**
 * Stops the edge of a note file after draining its requests; returns `busy` if `ifAlone` is set and a server uses it.
 */
export async function stopEdge(
  file: string,
  { ifAlone, graceMs = 10_000 }: { readonly ifAlone: boolean; readonly graceMs?: number },
): Promise<"ended" | "none" | "busy"> {
  const note = readNote(file);
  if (!note || !(await answers(note))) return killStray(file) ? "ended" : "none";
  if (!(await commanded(note, "stop", { graceMs, ifAlone }))) return "busy";
  for (const until = Date.now() + graceMs + START_MS; Date.now() < until; await delay(LOOK_MS)) {
    if (!(await answers(note))) return "ended";
  }
  throw new Failure(
    "unavailable",
    "edge_busy",
    `Cannot stop the edge: its process ${note.pid} keeps running. Stop it manually`,
  );
}

/** Path of the log of the edge with this note file. */
function logFile(file: string): string {
  return `${file.slice(0, -".json".length)}.log`;
}

/** Kills the process that was started with this note file, even if the file is gone; returns whether there was one. */
function killStray(file: string): boolean {
  const found = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandOf(name).includes(file));
  for (const pid of found) process.kill(Number(pid), "SIGKILL");
  return found.length > 0;
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

async function answers(note: EdgeNote): Promise<boolean> {
  return commanded(note, "drained", { servedBy: "", limitMs: 0 }).catch(() => false);
}

/** Sends a command; returns whether the edge carried it out. Rejects if the edge is gone or exceeds the timeout. */
async function commanded<C extends keyof EdgeCommands>(
  { controlPort, token }: EdgeNote,
  command: C,
  body: EdgeCommands[C],
  { signal, withinMs = ANSWER_MS }: { readonly signal?: AbortSignal; readonly withinMs?: number } = {},
): Promise<boolean> {
  const late = AbortSignal.timeout(withinMs);
  const answer = await fetch(`http://127.0.0.1:${controlPort}/${command}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
    keepalive: false,
    signal: signal ? AbortSignal.any([signal, late]) : late,
  });
  if (answer.status !== 204 && answer.status !== 409) throw new Error(`the edge answers ${answer.status}`);
  return answer.status === 204;
}
