import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ContentTimes, type ProjectTimes } from "../../../adapters/docker/build/content_times.ts";
import { type ContextEntry, contentOf, contextEntry } from "../../../adapters/docker/build/context_entry.ts";
import { writtenTree } from "../../support/peers/docker_images.ts";

/** A file in a new folder, as a build sees it. */
async function fileWith(content: string | Uint8Array) {
  const root = await writtenTree({ file: content });
  const entry = (await contextEntry(root, "file"))!;
  return { root, entry, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

/** Sends a whole file. */
async function send(times: ProjectTimes, { root, entry }: { readonly root: string; readonly entry: ContextEntry }) {
  await Array.fromAsync(times.sent(entry, contentOf(root, entry)));
}

describe("ContentTimes", () => {
  test.each([0, 5, 131_072, 131_073, 1_500_000])(
    "reports a file of %i bytes with the time it was sent with",
    async (size) => {
      const content = new Uint8Array(size).fill(7);
      const times = new ContentTimes();
      await using first = await fileWith(content);
      await send(times.of("project"), first);
      await Bun.sleep(10);
      await using second = await fileWith(content);
      const later = times.of("project");
      await later.compare(second.root, [second.entry]);
      expect(second.entry.modifiedNs).not.toBe(first.entry.modifiedNs);
      expect(later.timeOf(second.entry)).toBe(first.entry.modifiedNs);
      const otherProject = times.of("another");
      await otherProject.compare(second.root, [second.entry]);
      expect(otherProject.timeOf(second.entry)).toBe(second.entry.modifiedNs);
    },
  );

  test("reports a file with its own time when its content differs at the same length, or cannot be read", async () => {
    const times = new ContentTimes();
    await using first = await fileWith("content");
    await send(times.of("project"), first);
    await Bun.sleep(10);
    await using second = await fileWith("CONTENT");
    await using third = await fileWith("content");
    await rm(join(third.root, "file"));
    for (const { root, entry } of [second, third]) {
      const later = times.of("project");
      await later.compare(root, [entry]);
      expect(later.timeOf(entry)).toBe(entry.modifiedNs);
    }
  });

  test("does not remember a file that was not sent completely", async () => {
    const times = new ContentTimes();
    await using first = await fileWith(new Uint8Array(300_000));
    for await (const bytes of times.of("project").sent(first.entry, contentOf(first.root, first.entry))) {
      if (bytes.length > 0) break;
    }
    const later = times.of("project");
    await Bun.sleep(10);
    await using second = await fileWith(new Uint8Array(300_000));
    await later.compare(second.root, [second.entry]);
    expect(later.timeOf(second.entry)).toBe(second.entry.modifiedNs);
  });

  test("forgets the projects that were not built for the longest time", async () => {
    const times = new ContentTimes();
    await using first = await fileWith("content");
    await send(times.of("old"), first);
    await send(times.of("used"), first);
    for (let count = 0; count < 31; count++) {
      times.of(`other-${count}`);
      times.of("used");
    }
    await Bun.sleep(10);
    await using second = await fileWith("content");
    const timeOf = async (key: string) => {
      const later = times.of(key);
      await later.compare(second.root, [second.entry]);
      return later.timeOf(second.entry);
    };
    expect(await timeOf("used")).toBe(first.entry.modifiedNs);
    expect(await timeOf("old")).toBe(second.entry.modifiedNs);
  });
});
