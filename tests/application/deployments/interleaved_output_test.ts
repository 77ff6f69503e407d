import { describe, expect, test } from "bun:test";
import {
  interleavedOutput,
  type OutputSource,
  type ServiceLine,
} from "../../../application/services/interleaved_output.ts";
import type { OutputLine, OutputQuery } from "../../../ports/services/runtime.ts";

const START = Date.UTC(2026, 0, 31, 12);

/** Services that print lines at given times. Each numbers its lines from 1. */
class Printed {
  readonly #lines = new Map<string, OutputLine[]>();
  readonly sources: readonly OutputSource[];

  constructor(...names: readonly string[]) {
    this.sources = names.map((service) => ({ service, read: (wanted) => this.output(service, wanted) }));
  }

  print(name: string, afterMs: number, count = 1): this {
    const lines = this.#lines.get(name) ?? [];
    for (let each = 0; each < count; each++) {
      const seq = lines.length + 1;
      lines.push({ seq, at: new Date(START + afterMs), stream: "stdout", message: `${name} ${seq}` });
    }
    this.#lines.set(name, lines);
    return this;
  }

  async output(service: string, { since, limit, from = new Date(0) }: OutputQuery): Promise<readonly OutputLine[]> {
    const lines = this.#lines.get(service) ?? [];
    return lines.filter(({ seq, at }) => seq > since && at >= from).slice(0, limit);
  }

  read(since = 0, limit = 100_000): Promise<readonly ServiceLine[]> {
    return interleavedOutput(this.sources, { since, limit });
  }

  /** All lines, read in pages of `limit`. */
  async pages(limit: number): Promise<readonly ServiceLine[]> {
    const all: ServiceLine[] = [];
    for (;;) {
      const page = await this.read(all.at(-1)?.seq, limit);
      expect(page.length).toBeLessThanOrEqual(limit);
      if (page.length === 0) return all;
      all.push(...page);
    }
  }
}

function messages(lines: readonly ServiceLine[]): readonly string[] {
  return lines.map(({ message }) => message);
}

describe("interleavedOutput()", () => {
  test("returns the lines of all services ordered by time, each with its service and its own number", async () => {
    const printed = new Printed("web", "api", "db").print("db", 1).print("web", 5, 2).print("api", 5).print("db", 9);
    const lines = await printed.read();
    expect(messages(lines)).toEqual(["db 1", "web 1", "api 1", "web 2", "db 2"]);
    expect(lines.map(({ service }) => service)).toEqual(["db", "web", "api", "web", "db"]);
    const numbers = lines.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(numbers.every((seq) => Number.isSafeInteger(seq) && seq > 0)).toBe(true);
  });

  test("leaves out services that print nothing", async () => {
    const printed = new Printed("web", "api").print("web", 1);
    const sources = [...printed.sources, { service: "worker", read: null }];
    expect(messages(await interleavedOutput(sources, { since: 0, limit: 10 }))).toEqual(["web 1"]);
  });

  test.each([
    [1, 40],
    [50, 2_600],
    [2_500, 9_000],
  ])("misses and repeats nothing in pages of %d, with %d lines at one time", async (limit, burst) => {
    const printed = new Printed("web", "api", "worker");
    for (let ms = 0; ms < 3_000; ms += 50) printed.print("web", ms).print("worker", ms + (ms % 3));
    printed.print("api", 1_200, burst);
    const all = await printed.read();
    expect(all).toHaveLength(120 + burst);
    expect(await printed.pages(limit)).toEqual([...all]);
  });

  test("continues with the lines printed since, from any service", async () => {
    const printed = new Printed("web", "api").print("web", 1, 3).print("api", 2);
    const before = await printed.read();
    printed.print("api", 2).print("web", 4).print("api", 7);
    const after = await printed.read(before.at(-1)!.seq);
    expect(messages(after)).toEqual(["api 2", "web 4", "api 3"]);
    expect(await printed.read()).toEqual([...before, ...after]);
  });

  test("returns no more than some megabytes at once", async () => {
    const printed = new Printed("web", "api").print("web", 1, 3).print("api", 2, 3);
    const long = "x".repeat(5 * 1024 * 1024);
    const sources = printed.sources.map(({ read, service }) => ({
      service,
      read: async (wanted: OutputQuery) => (await read!(wanted)).map((line) => ({ ...line, message: long })),
    }));
    const lines = await interleavedOutput(sources, { since: 0, limit: 100 });
    expect(lines).toHaveLength(2);
  });
});
