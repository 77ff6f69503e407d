import type { Claim, IdempotentAnswers, IdempotentRequest, KeptAnswer } from "../../ports/system/idempotent_answers.ts";
import type { AnswerRow, MemoryTables } from "./memory_tables.ts";

const KEPT_MS = 24 * 3_600_000;

/** Stores responses of idempotent requests in memory. */
export class MemoryIdempotentAnswers implements IdempotentAnswers {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async claim(request: IdempotentRequest, leaseMs: number): Promise<Claim> {
    const at = this.#tables.clock.now();
    const key = JSON.stringify([request.caller, request.key]);
    const row = this.#tables.answers.get(key);
    if (!row || isOver(row, at)) {
      const claimId = crypto.randomUUID();
      const leaseUntil = new Date(at.getTime() + leaseMs);
      this.#tables.answers.set(key, { claimId, request: { ...request }, at, leaseUntil, answer: null });
      return { state: "mine", claimId };
    }
    if (differs(row.request, request)) return { state: "other_request" };
    if (!row.answer) return { state: "running" };
    return { state: "answered", body: row.request.body ?? "", answer: { ...row.answer } };
  }

  async renew(claimId: string, leaseMs: number): Promise<void> {
    const at = this.#tables.clock.now();
    this.#update(claimId, (row) => ({ ...row, at, leaseUntil: new Date(at.getTime() + leaseMs) }));
  }

  async keep(claimId: string, body: string, answer: KeptAnswer): Promise<void> {
    this.#update(claimId, (row) => ({ ...row, request: { ...row.request, body }, answer: { ...answer } }));
  }

  async release(claimId: string): Promise<void> {
    this.#update(claimId, () => undefined);
  }

  async sweep(ageMs: number): Promise<number> {
    const before = new Date(this.#tables.clock.now().getTime() - ageMs);
    const old = [...this.#tables.answers].filter(([, row]) => (row.answer ? row.at : row.leaseUntil) < before);
    for (const [key] of old) this.#tables.answers.delete(key);
    return old.filter(([, { answer }]) => answer).length;
  }

  /** Changes the unanswered claim with this id. A claim that was taken over no longer belongs to its first claimer. */
  #update(claimId: string, change: (row: AnswerRow) => AnswerRow | undefined): void {
    const found = this.#tables.answers.entries().find(([, row]) => row.claimId === claimId && !row.answer);
    if (!found) return;
    const [key, row] = found;
    const changed = change(row);
    if (changed) this.#tables.answers.set(key, changed);
    else this.#tables.answers.delete(key);
  }
}

function isOver({ answer, at: since, leaseUntil }: AnswerRow, at: Date): boolean {
  return answer ? at.getTime() - since.getTime() > KEPT_MS : leaseUntil <= at;
}

function differs(first: IdempotentRequest, second: IdempotentRequest): boolean {
  const otherBody = first.body !== null && second.body !== null && first.body !== second.body;
  return first.route !== second.route || otherBody;
}
