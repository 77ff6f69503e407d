import { expect, test } from "bun:test";
import { join } from "node:path";
import { MISTAKES } from "../support/inputs/ordinary_mistakes.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

/** The documented error messages, by heading. */
async function documented(): Promise<ReadonlyMap<string, string>> {
  const text = await Bun.file(join(import.meta.dir, "../../docs/troubleshooting.md")).text();
  const sections = text.matchAll(/^### (.+)\n(?:(?!^#).*\n)*?((?:^> .*\n)+)/gm);
  return new Map(Array.from(sections, ([, heading, quote]) => [heading!, quote!.replaceAll(/^> /gm, "").trim()]));
}

/** A pattern for a message whose variable parts are in angle brackets. */
function asPattern(sentence: string): RegExp {
  const parts = sentence.replaceAll(/\s+/g, " ").split(/<[a-z ]+>/);
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join(".+?")}$`);
}

test("docs/troubleshooting.md quotes the message of every ordinary mistake", async () => {
  // Long enough for a program to start listening on a busy machine.
  await using slipway = await SlipwayProcess.start({ HEALTH_TIMEOUT_SECONDS: "10" });
  const sentences = await documented();
  expect([...sentences.keys()].toSorted()).toEqual(Object.keys(MISTAKES).toSorted());
  expect(sentences.size).toBeGreaterThanOrEqual(20);
  const said = Object.entries(MISTAKES).map(async ([heading, mistake]) => [heading, await mistake(slipway)] as const);
  for (const [heading, sentence] of await Promise.all(said)) {
    const expected = asPattern(sentences.get(heading)!);
    expect([heading, sentence.replaceAll(/\s+/g, " ")]).toEqual([heading, expect.stringMatching(expected)]);
  }
});
