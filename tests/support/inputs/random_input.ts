/** Reproducible random input: the same seed and label give the same sequence. */
export interface RandomInput {
  /** From 0 up to, but not including, 1. */
  fraction(): number;
  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  /** Incompressible bytes. */
  bytes(length: number): Uint8Array<ArrayBuffer>;
  /** Overwrites the given bytes with incompressible ones. */
  fill(bytes: Uint8Array): void;
}

/** The seed of this run: `SLIPWAY_TEST_SEED`, or a random one that is printed before the first test of a file. */
const SEED = seedOfRun();

/** Returns random input for one purpose, which the label names. Other labels do not affect it. */
export function randomInput(label: string): RandomInput {
  const state = new BigUint64Array(2);
  state[0] = BigInt(Bun.hash.wyhash(label, BigInt(SEED)));
  state[1] = BigInt(Bun.hash.wyhash(label, BigInt(SEED) + 1n));
  let [a, b, c, d] = new Uint32Array(state.buffer) as unknown as [number, number, number, number];
  /** The sfc32 generator, which passes the usual randomness tests. */
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round++) next();
  const input: RandomInput = {
    fraction: () => next() / 2 ** 32,
    below: (limit) => Math.floor((next() / 2 ** 32) * limit),
    bytes(length) {
      const words = new Uint32Array(Math.ceil(length / 4));
      for (let at = 0; at < words.length; at++) words[at] = next();
      return new Uint8Array(words.buffer).subarray(0, length);
    },
    fill: (bytes) => bytes.set(input.bytes(bytes.length)),
  };
  return input;
}

function seedOfRun(): number {
  const given = process.env["SLIPWAY_TEST_SEED"];
  const seed = given === undefined ? crypto.getRandomValues(new Uint32Array(1))[0]! : Number(given);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("SLIPWAY_TEST_SEED has to be a whole number, 0 or more");
  if (given === undefined) process.stderr.write(`Random input of these tests: SLIPWAY_TEST_SEED=${seed}\n`);
  return seed;
}
