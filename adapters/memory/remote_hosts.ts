import { conflict, Failure, invalid } from "../../domain/failure.ts";
import type { Inventory } from "../../domain/migration/inventory.ts";
import type { Secret } from "../../domain/secret.ts";
import type { CommandResult, RemoteHosts, RemoteSession, RemoteTarget } from "../../ports/servers/remote_hosts.ts";
import { aborted } from "../shared/deadline.ts";

/** A program of a simulated machine. The signal aborts when no caller waits for it any longer. */
export type MemoryProgram = (
  argv: readonly string[],
  options: { readonly signal: AbortSignal },
) => CommandResult | Promise<CommandResult>;

/** A login of a simulated machine: a password, or a private key with or without a passphrase. */
export interface MemoryLogin {
  readonly user: string;
  readonly password?: string;
  readonly privateKey?: string;
  readonly keyPassphrase?: string;
}

/** A simulated machine. */
export interface MemoryMachine {
  readonly host: string;
  /** Defaults to 22. */
  readonly port?: number;
  readonly hostKey: string;
  readonly logins: readonly MemoryLogin[];
  /** Programs by the first word of the command. Any other word exits with 127, as in a shell. */
  readonly programs?: ReadonlyMap<string, MemoryProgram>;
  /** What its container engine has, or why it has none to use. Absent: none is installed. */
  readonly engine?: Inventory | "missing" | "forbidden" | "stopped";
  /** Users who may log in, but not use the engine. */
  readonly forbidden?: readonly string[];
  /** Text files by absolute path; `null` for one that the user may not read. */
  readonly files?: ReadonlyMap<string, string | null>;
  /** How it reacts to a connection: logs in (the default), never responds, or hangs up at once. */
  readonly manner?: "answers" | "silent" | "hangs_up";
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 1024 * 1024;

/** A network of simulated machines. All other addresses refuse the connection. */
export class MemoryRemoteHosts implements RemoteHosts {
  readonly #machines = new Map<string, MemoryMachine>();
  readonly #sessions = new Map<MemorySession, string>();

  constructor(machines: Iterable<MemoryMachine> = []) {
    for (const machine of machines) this.add(machine);
  }

  /** How many sessions are open now. */
  get openSessions(): number {
    return this.#sessions.size;
  }

  /** Returns the machine at an address. */
  machineAt({ host, port }: Pick<RemoteTarget, "host" | "port">): MemoryMachine | undefined {
    return this.#machines.get(place({ host, port }));
  }

  /** Adds a machine, or replaces the one at that address. Open sessions stay open. */
  add(machine: MemoryMachine): void {
    this.#machines.set(place(machine), machine);
  }

  /** Removes a machine and breaks its sessions. */
  remove(host: string, port = 22): void {
    this.#machines.delete(place({ host, port }));
    this.interrupt(host, port);
  }

  /** Breaks the open sessions of a machine, which stays. */
  interrupt(host: string, port = 22): void {
    for (const [session, address] of this.#sessions) if (address === place({ host, port })) session.end();
  }

  async connect(
    target: RemoteTarget,
    { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<RemoteSession> {
    const address = place(target);
    checkTarget(target);
    if (signal?.aborted) throw failure("timeout", `Cannot connect to ${address}: the attempt was cancelled.`);
    const machine = this.#machines.get(address);
    if (!machine) throw failure("unreachable", `Cannot connect to ${address}: the connection was refused.`);
    if (machine.manner === "hangs_up") throw failure("unreachable", `Cannot connect to ${address}: it hung up.`);
    if (machine.manner === "silent") {
      await aborted(AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]));
      throw failure("timeout", `Cannot connect to ${address}: no answer in time.`);
    }
    if (target.hostKey !== undefined && target.hostKey !== machine.hostKey) {
      const keys = `its host key is ${machine.hostKey}, expected is ${target.hostKey}`;
      throw conflict("host_key_changed", `Cannot trust ${address}: ${keys}`);
    }
    if (!machine.logins.some((login) => admits(login, target))) {
      throw failure("auth_failed", `Cannot log in to ${address} as "${target.user}": it was refused.`);
    }
    const session = new MemorySession(machine, () => this.#sessions.delete(session));
    this.#sessions.set(session, address);
    return session;
  }
}

class MemorySession implements RemoteSession {
  readonly hostKey: string;
  readonly #programs: ReadonlyMap<string, MemoryProgram>;
  readonly #closing = new AbortController();
  readonly #onEnd: () => void;

  constructor(machine: MemoryMachine, onEnd: () => void) {
    this.hostKey = machine.hostKey;
    this.#programs = machine.programs ?? new Map();
    this.#onEnd = onEnd;
  }

  async run(
    argv: readonly string[],
    { signal, maxBytes = DEFAULT_MAX_BYTES }: { signal?: AbortSignal; maxBytes?: number } = {},
  ): Promise<CommandResult> {
    const [name] = argv;
    if (!name) throw invalid("invalid_argument", "Cannot run a program without a name");
    if (argv.some((argument) => argument.includes("\0"))) {
      throw invalid("invalid_argument", "Cannot pass this argument to a program: it contains a NUL character");
    }
    const program = this.#programs.get(name) ?? unknownProgram;
    const stop = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])]);
    const result = await Promise.race([aborted(stop), program([...argv], { signal: stop })]);
    if (this.#closing.signal.aborted) throw failure("unreachable", "Cannot run the command: the connection is closed.");
    if (!result || stop.aborted)
      throw failure("timeout", "Cannot run the command: it did not end in the time allowed.");
    return { ...result, stdout: cut(result.stdout, maxBytes), stderr: cut(result.stderr, maxBytes) };
  }

  end(): void {
    this.#closing.abort();
    this.#onEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
  }
}

function place({ host, port = 22 }: { readonly host: string; readonly port?: number }): string {
  return `${host}:${port}`;
}

function failure(code: string, message: string): Failure {
  return new Failure("remote_failed", code, message);
}

function checkTarget({ host, port, user, password, privateKey }: RemoteTarget): void {
  const usable = /^[^\s\p{Cc}-][^\s\p{Cc}]*$/u.test(host) && port >= 1 && port <= 65_535 && /^\P{Cc}+$/u.test(user);
  const keyUsable = !privateKey || privateKey.reveal().includes("PRIVATE KEY-----");
  if (!usable || !keyUsable || (!password && !privateKey)) {
    throw failure("misconfigured", "Cannot connect: host, port, user name or credentials are not usable.");
  }
}

function admits(login: MemoryLogin, target: RemoteTarget): boolean {
  const hasKey = login.privateKey !== undefined && is(target.privateKey, login.privateKey);
  if (hasKey && login.keyPassphrase !== undefined && !is(target.keyPassphrase, login.keyPassphrase)) {
    throw failure("misconfigured", "Cannot use the private key: the passphrase is missing or does not open it.");
  }
  const hasPassword = login.password !== undefined && is(target.password, login.password);
  return login.user === target.user && (hasKey || hasPassword);
}

function is(secret: Secret | undefined, value: string): boolean {
  return secret?.reveal() === value;
}

function unknownProgram([name]: readonly string[]): CommandResult {
  return { exitCode: 127, stdout: "", stderr: `${name}: command not found\n` };
}

/** Returns the first bytes of a text, without a character that the limit splits. */
function cut(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: bytes.length > maxBytes });
}
