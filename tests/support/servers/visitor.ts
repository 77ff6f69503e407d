import type { SlipwayProcess } from "./slipway_process.ts";

/** Repeatedly requests a deployed app, and records failures and the order of versions. */
export class Visitor {
  /** Responses that were no version, and requests without a response. */
  readonly failures: string[] = [];
  /** Versions received by a request that was sent after a newer version had been seen. */
  readonly wentBack: string[] = [];
  visits = 0;
  #newest = "";
  #paused = false;
  #stopped = false;
  readonly #done: Promise<void>;

  constructor(slipway: SlipwayProcess, hostname: string, pauseMs = 60) {
    this.#done = (async () => {
      for (; !this.#stopped; await Bun.sleep(pauseMs)) if (!this.#paused) await this.#visit(slipway, hostname);
    })();
  }

  /** Ignores failures from now on, such as while the server is down. */
  pause(): void {
    this.#paused = true;
  }

  goOn(): void {
    this.#paused = false;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }

  async #visit(slipway: SlipwayProcess, hostname: string): Promise<void> {
    const newest = this.#newest;
    try {
      const answer = await slipway.visit(hostname);
      const text = await answer.text();
      if (this.#paused) return;
      this.visits++;
      if (answer.status !== 200 || !/^v\d+$/.test(text)) this.failures.push(`${answer.status} ${text.slice(0, 200)}`);
      else if (versionOf(text) < versionOf(newest)) this.wentBack.push(`${newest} ${text}`);
      else if (versionOf(text) > versionOf(this.#newest)) this.#newest = text;
    } catch (error) {
      if (!this.#paused) this.failures.push(String(error));
    }
  }
}

function versionOf(text: string): number {
  return Number(text.slice(1));
}
