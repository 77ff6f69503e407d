import { median } from "./temp_folder.ts";

/** The medians of what two sides achieved in the same rounds, their ratio, and how far the rounds lie apart. */
export interface Measured {
  readonly ratio: number;
  readonly ours: number;
  readonly other: number;
  /** The lowest and the highest ratio, for people. */
  readonly spread: string;
}

/** Measures both sides alternately, by default after a warm-up of each. Every second round begins with the other side. */
export async function inRounds(
  rounds: number,
  { ours, other }: Record<"ours" | "other", (round: number) => Promise<number>>,
  { warmUp = true }: { readonly warmUp?: boolean } = {},
): Promise<Measured> {
  if (warmUp) {
    await ours(-1);
    await other(-1);
  }
  const measured: { readonly ours: number; readonly other: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) measured.push({ ours: await ours(round), other: await other(round) });
    else {
      const second = await other(round);
      measured.push({ ours: await ours(round), other: second });
    }
  }
  const ratios = measured.map((each) => each.ours / each.other);
  return {
    ratio: median(ratios),
    ours: median(measured.map((each) => each.ours)),
    other: median(measured.map((each) => each.other)),
    spread: `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${rounds} rounds`,
  };
}
