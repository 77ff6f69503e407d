/** An answer of the git host that may still be valid. */
export interface RememberedAnswer {
  readonly etag: string;
  readonly value: unknown;
  readonly lastPage: number | undefined;
  readonly hasNext: boolean;
}

const MAX_BYTES = 16 * 1_048_576;

/**
 * Remembers answers with their ETags, to ask the git host only whether they changed. Keys begin with the identity of the
 * access, so nothing is shared between logins. Forgets what was not used for longest beyond 16 MiB.
 */
export class RememberedAnswers {
  readonly #answers = new Map<string, { readonly answer: RememberedAnswer; readonly bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): RememberedAnswer | undefined {
    const found = this.#answers.get(key);
    if (!found) return undefined;
    this.#answers.delete(key);
    this.#answers.set(key, found);
    return found.answer;
  }

  /** Remembers an answer that takes about this many bytes. */
  put(key: string, answer: RememberedAnswer, bytes: number): void {
    this.forget(key);
    if (bytes > this.#maxBytes / 4) return;
    this.#answers.set(key, { answer, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.forget(oldest);
    }
  }

  forget(key: string): void {
    this.#bytes -= this.#answers.get(key)?.bytes ?? 0;
    this.#answers.delete(key);
  }
}
