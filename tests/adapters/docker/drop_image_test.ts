import { describe, expect, test } from "bun:test";
import { dropName } from "../../../adapters/docker/images/drop_image.ts";
import { scriptedEngine } from "../../support/faults/scripted_engine.ts";

describe("dropName()", () => {
  test.each([
    [404, "No such image: x"],
    [409, "conflict: unable to remove repository reference"],
    [500, "unrecognized image ID sha256:50d392e2"],
  ])("ignores %d %s", async (status, message) => {
    await using world = await scriptedEngine(() => Response.json({ message }, { status }), {});
    await dropName(world.engine, "x");
    expect(world.requests).toEqual(["DELETE /images/x"]);
  });

  test("passes on any other refusal", async () => {
    const message = "no space left on device";
    await using world = await scriptedEngine(() => Response.json({ message }, { status: 500 }), {});
    await expect(dropName(world.engine, "x")).rejects.toThrow("no space left");
  });
});
