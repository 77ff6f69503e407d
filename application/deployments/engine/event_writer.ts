import type { StepName } from "../../../domain/deployments/deployment.ts";
import type { LogLevel, NewEvent } from "../../../domain/deployments/deployment_event.ts";
import type { OutputStream } from "../../../domain/deployments/output_stream.ts";
import type { Clock } from "../../../ports/system/clock.ts";
import type { DeploymentEvents } from "../../../ports/deployments/deployment_events.ts";

const GATHER_MS = 50;
const BATCH = 2_000;
const MANY = 20_000;

/** Where a line comes from. */
export interface LineOrigin {
  readonly step: StepName | null;
  readonly service?: string | null;
  readonly stream: OutputStream;
  readonly level?: LogLevel;
}

/** Writes a deployment's log in batches, in order. Masks its secrets before anything leaves this process. */
export class EventWriter {
  readonly #ports: { readonly clock: Clock; readonly deploymentEvents: DeploymentEvents };
  readonly #deploymentId: string;
  readonly #mask: (text: string) => string;
  #waiting: NewEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(
    ports: { readonly clock: Clock; readonly deploymentEvents: DeploymentEvents },
    deploymentId: string,
    mask: (text: string) => string,
  ) {
    this.#ports = ports;
    this.#deploymentId = deploymentId;
    this.#mask = mask;
  }

  /** Queues a line. Returns a promise if the buffer is so full that the source should pause. */
  line(message: string, origin: LineOrigin): void | Promise<void> {
    const { step, service = null, stream, level = "info" } = origin;
    return this.event({
      type: "log",
      at: this.#ports.clock.now(),
      level,
      step,
      service,
      stream,
      message: this.masked(message),
    });
  }

  /** Masks the deployment's secrets in a text. */
  masked(text: string): string {
    return this.#mask(text);
  }

  /** Queues an event that is not a line. */
  event(event: NewEvent): void | Promise<void> {
    this.#waiting.push(event);
    if (this.#waiting.length >= MANY) return this.flush();
    this.#timer ??= setTimeout(() => void this.flush().catch(() => {}), GATHER_MS);
  }

  /** Resolves once everything queued so far is durable. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
    if (this.#failure) {
      const { error } = this.#failure;
      this.#failure = undefined;
      throw error;
    }
  }

  /** Passes everything queued so far to `store`, to be stored with another change. It stays queued if that fails. */
  async storeWith<T>(store: (noted: readonly NewEvent[]) => Promise<T>): Promise<T> {
    if (this.#waiting.length > BATCH) await this.flush();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const turn = this.#writing.then(async () => {
      const noted = [...this.#waiting];
      const stored = await store(noted);
      this.#waiting = this.#waiting.slice(noted.length);
      return stored;
    });
    this.#writing = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }

  /** Drops everything that is not stored yet, for a run that has ended and must not write any more. */
  discard(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        await this.#ports.deploymentEvents.append(this.#deploymentId, batch);
        this.#waiting = this.#waiting.slice(batch.length);
      } catch (error) {
        // The lines stay queued; the next flush retries.
        this.#failure = { error };
        return;
      }
    }
  }
}
