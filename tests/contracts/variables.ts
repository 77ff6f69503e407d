import { describe, expect, test } from "bun:test";
import type { Environment } from "../../domain/deployments/deployment.ts";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import { VARIABLE_LIMITS } from "../../domain/projects/variable.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, aProject, minutes, START } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

function plain(key: string, value: string) {
  return { key, value: new Secret(value), secret: false };
}

function hidden(key: string, value: string) {
  return { key, value: new Secret(value), secret: true };
}

function many(count: number, value: string, from = 0) {
  return Array.from({ length: count }, (_, index) => plain(`KEY_${from + index}`, value));
}

/** Contract tests for `Variables` adapters. */
export function variablesContract(
  name: string,
  open: () => Promise<WorldOf<"variables" | "installation" | "organizations" | "projects">>,
) {
  describe(`Variables contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function aProjectId(): Promise<string> {
      return (await aProject(world(), { organizationId: (await anOrganization(world())).id })).id;
    }

    async function revealed(projectId: string, environment?: Environment): Promise<Record<string, string>> {
      const values = await world().variables.reveal(projectId, environment);
      return Object.fromEntries([...values].map(([key, value]) => [key, value.reveal()]));
    }

    test("list() returns plain values and hides secret ones", async () => {
      const id = await aProjectId();
      const upserts = [plain("URL", "https://example.com"), hidden("PASSWORD", "swordfish")];
      await world().variables.change(id, { upserts, deletes: [], at: minutes(1) });
      const listed = await world().variables.list(id);
      expect(listed).toEqual([
        { key: "PASSWORD", value: null, secret: true, updatedAt: minutes(1) },
        { key: "URL", value: "https://example.com", secret: false, updatedAt: minutes(1) },
      ]);
      expect(JSON.stringify(listed)).not.toContain("swordfish");
    });

    test("list() and reveal() are empty for a project without variables", async () => {
      expect(await world().variables.list(await aProjectId())).toEqual([]);
      expect((await world().variables.reveal(newId("prj"))).size).toBe(0);
    });

    test("list() sorts by key, uppercase first", async () => {
      const id = await aProjectId();
      const sorted = ["A", "A1", "AB", "A_B", "B", "_X", "a", "a_b", "ab", "b"];
      const shuffled = ["b", "A_B", "_X", "ab", "A", "a_b", "B", "AB", "a", "A1"];
      const upserts = shuffled.map((key) => plain(key, key));
      await world().variables.change(id, { upserts, deletes: [], at: START });
      expect((await world().variables.list(id)).map(({ key }) => key)).toEqual(sorted);
    });

    test("list() sorts keys of services by their UTF-8 bytes", async () => {
      const id = await aProjectId();
      const sorted = ["A", "db.x/A", "db/A", "db/my.key", "db/ä", "db/\uff5e", "db/\u{1f600}", "dbx/A"];
      const upserts = sorted.toReversed().map((key) => plain(key, key));
      await world().variables.change(id, { upserts, deletes: [], at: START });
      expect((await world().variables.list(id)).map(({ key }) => key)).toEqual(sorted);
    });

    test("change() keeps variables of one service apart from those of every service and of others", async () => {
      const id = await aProjectId();
      const longest = `${"s".repeat(63)}/${"ä".repeat(255)}`;
      const values = { A: "every", "db/A": "db", "db/a/b": "odd", "web/A": "web", [longest]: "long" };
      const upserts = Object.entries(values).map(([key, value]) => hidden(key, value));
      for (const environment of ["production", "preview"] as const) {
        await world().variables.change(id, { upserts, deletes: [], at: START, environment });
        expect(await revealed(id, environment)).toEqual(values);
      }
      await world().variables.change(id, { upserts: [plain("web/A", "new")], deletes: ["db/A", longest], at: START });
      expect(await revealed(id)).toEqual({ A: "every", "db/a/b": "odd", "web/A": "new" });
      expect(await revealed(id, "preview")).toEqual(values);
      const listed = await world().variables.list(id);
      expect(listed.map(({ key, value }) => [key, value])).toEqual([
        ["A", null],
        ["db/a/b", null],
        ["web/A", "new"],
      ]);
    });

    test("reveal() returns every value unchanged", async () => {
      const id = await aProjectId();
      const long = oddTexts.join("").repeat(100);
      const values = Object.fromEntries([...oddTexts, "", long].map((text, index) => [`KEY_${index}`, text]));
      const upserts = Object.entries(values).map(([key, value], index) =>
        index % 2 ? hidden(key, value) : plain(key, value),
      );
      await world().variables.change(id, { upserts, deletes: [], at: START });
      expect(await revealed(id)).toEqual(values);
      for (const { key, value, secret } of await world().variables.list(id)) {
        expect(value).toBe(secret ? null : values[key]!);
      }
    });

    test("reveal() returns values as secrets", async () => {
      const id = await aProjectId();
      await world().variables.change(id, { upserts: [plain("A", "swordfish")], deletes: [], at: START });
      const value = (await world().variables.reveal(id)).get("A");
      expect(value).toBeInstanceOf(Secret);
      expect(Bun.inspect(value)).not.toContain("swordfish");
    });

    test("change() writes, replaces and deletes in one step and keeps the rest", async () => {
      const id = await aProjectId();
      const before = [plain("KEEP", "1"), plain("REPLACE", "2"), hidden("DROP", "3")];
      await world().variables.change(id, { upserts: before, deletes: [], at: minutes(1) });
      const upserts = [hidden("REPLACE", "two"), plain("NEW", "four")];
      await world().variables.change(id, { upserts, deletes: ["DROP"], at: minutes(2) });
      expect(await revealed(id)).toEqual({ KEEP: "1", NEW: "four", REPLACE: "two" });
      expect(await world().variables.list(id)).toEqual([
        { key: "KEEP", value: "1", secret: false, updatedAt: minutes(1) },
        { key: "NEW", value: "four", secret: false, updatedAt: minutes(2) },
        { key: "REPLACE", value: null, secret: true, updatedAt: minutes(2) },
      ]);
    });

    test("change() distinguishes keys by case", async () => {
      const id = await aProjectId();
      const upserts = [plain("Path", "1"), plain("PATH", "2"), plain("path", "3")];
      await world().variables.change(id, { upserts, deletes: [], at: START });
      await world().variables.change(id, { upserts: [], deletes: ["PATH"], at: START });
      expect(await revealed(id)).toEqual({ Path: "1", path: "3" });
    });

    test("change() treats wildcards in a key to delete literally", async () => {
      const id = await aProjectId();
      await world().variables.change(id, { upserts: [plain("AXB", "1"), plain("A_B", "2")], deletes: [], at: START });
      await world().variables.change(id, { upserts: [], deletes: ["A_B", "%"], at: START });
      expect(await revealed(id)).toEqual({ AXB: "1" });
    });

    test("change() ignores absent keys and empty changes", async () => {
      const id = await aProjectId();
      await world().variables.change(id, { upserts: [plain("A", "1")], deletes: [], at: START });
      await world().variables.change(id, { upserts: [], deletes: ["ABSENT"], at: START });
      await world().variables.change(id, { upserts: [], deletes: [], at: START });
      expect(await revealed(id)).toEqual({ A: "1" });
    });

    test("change() of an unknown or removed project is refused", async () => {
      const { id: organizationId } = await anOrganization(world());
      const { id } = await aProject(world(), { organizationId });
      await world().projects.remove(organizationId, id);
      for (const gone of [id, newId("prj")]) {
        const change = { upserts: [plain("A", "1")], deletes: [], at: START };
        await expect(world().variables.change(gone, change)).rejects.toMatchObject({ kind: "not_found" });
        expect((await world().variables.reveal(gone)).size).toBe(0);
      }
    });

    test("concurrent change() and removal of the project leave nothing behind", async () => {
      for (let round = 0; round < 5; round++) {
        const { id: organizationId } = await anOrganization(world());
        const { id } = await aProject(world(), { organizationId });
        const change = { upserts: [plain("A", "1"), hidden("B", "2")], deletes: [], at: START };
        const [changed, removed] = await Promise.allSettled([
          world().variables.change(id, change),
          world().projects.remove(organizationId, id),
        ]);
        expect(removed).toMatchObject({ status: "fulfilled", value: true });
        if (changed.status === "rejected") expect(changed.reason).toMatchObject({ kind: "not_found" });
        expect(await world().variables.list(id)).toEqual([]);
      }
    });

    test("change() affects one project only", async () => {
      const [id, other] = [await aProjectId(), await aProjectId()];
      await world().variables.change(id, { upserts: [plain("SAME", "mine")], deletes: [], at: START });
      await world().variables.change(other, { upserts: [plain("SAME", "theirs")], deletes: [], at: START });
      await world().variables.change(other, { upserts: [], deletes: ["SAME"], at: START });
      expect(await revealed(id)).toEqual({ SAME: "mine" });
      expect(await revealed(other)).toEqual({});
    });

    test("concurrent change() calls all take effect", async () => {
      const id = await aProjectId();
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          world().variables.change(id, {
            upserts: [plain(`OWN_${index}`, "x"), plain("SHARED", `${index}`)],
            deletes: [],
            at: START,
          }),
        ),
      );
      const values = await revealed(id);
      expect(Object.keys(values)).toHaveLength(9);
      expect(values["SHARED"]).toMatch(/^[0-7]$/);
    });

    test("concurrent change() calls with the same keys in opposite order apply one of them completely", async () => {
      const id = await aProjectId();
      const keys = Array.from({ length: 20 }, (_, index) => `KEY_${index}`);
      for (let round = 0; round < 3; round++) {
        await Promise.all([
          world().variables.change(id, { upserts: keys.map((key) => plain(key, "one")), deletes: [], at: START }),
          world().variables.change(id, {
            upserts: keys.toReversed().map((key) => plain(key, "two")),
            deletes: [],
            at: START,
          }),
        ]);
        expect(new Set(Object.values(await revealed(id))).size).toBe(1);
      }
    });

    test("the sets of production and previews are apart, and production's is the default", async () => {
      const id = await aProjectId();
      const both = [plain("SAME", "production"), plain("OWN", "1")];
      await world().variables.change(id, { upserts: both, deletes: [], at: minutes(1) });
      const upserts = [hidden("SAME", "preview")];
      await world().variables.change(id, { upserts, deletes: ["OWN"], at: minutes(2), environment: "preview" });
      expect(await revealed(id)).toEqual({ SAME: "production", OWN: "1" });
      expect(await revealed(id, "production")).toEqual({ SAME: "production", OWN: "1" });
      expect(await revealed(id, "preview")).toEqual({ SAME: "preview" });
      const ofPreviews = [{ key: "SAME", value: null, secret: true, updatedAt: minutes(2) }];
      expect(await world().variables.list(id, "preview")).toEqual(ofPreviews);
      expect((await world().variables.list(id, "production")).map(({ value }) => value)).toEqual(["1", "production"]);
      await world().variables.change(id, { upserts: [], deletes: ["SAME"], at: START, environment: "production" });
      expect([await revealed(id), await revealed(id, "preview")]).toEqual([{ OWN: "1" }, { SAME: "preview" }]);
    });

    test("a variable keeps its flag by the set that it is in", async () => {
      const id = await aProjectId();
      const unflagged = { upserts: [{ ...plain("A", "1"), secret: undefined }], deletes: [], at: START };
      await world().variables.change(id, { upserts: [hidden("A", "1")], deletes: [], at: START });
      await world().variables.change(id, { ...unflagged, environment: "preview" });
      await world().variables.change(id, unflagged);
      expect(await world().variables.list(id)).toMatchObject([{ value: null, secret: true }]);
      expect(await world().variables.list(id, "preview")).toMatchObject([{ value: "1", secret: false }]);
    });

    test("both sets are removed with their project", async () => {
      const { id: organizationId } = await anOrganization(world());
      const { id } = await aProject(world(), { organizationId });
      for (const environment of ["production", "preview"] as const) {
        await world().variables.change(id, { upserts: [plain("A", "1")], deletes: [], at: START, environment });
      }
      await world().projects.remove(organizationId, id);
      expect([await revealed(id), await revealed(id, "preview")]).toEqual([{}, {}]);
      const late = { upserts: [plain("A", "1")], deletes: [], at: START, environment: "preview" } as const;
      await expect(world().variables.change(id, late)).rejects.toMatchObject({ kind: "not_found" });
    });

    test("concurrent change() calls of both sets all take effect", async () => {
      const id = await aProjectId();
      const changes = Array.from({ length: 8 }, (_, index) =>
        world().variables.change(id, {
          upserts: [plain(`KEY_${index}`, "x")],
          deletes: [],
          at: START,
          environment: index % 2 === 0 ? "production" : "preview",
        }),
      );
      await Promise.all(changes);
      expect(Object.keys(await revealed(id))).toEqual(["KEY_0", "KEY_2", "KEY_4", "KEY_6"]);
      expect(Object.keys(await revealed(id, "preview"))).toEqual(["KEY_1", "KEY_3", "KEY_5", "KEY_7"]);
    });

    const write = (id: string, upserts: ReturnType<typeof plain>[], deletes: string[] = []) =>
      world().variables.change(id, { upserts, deletes, at: START });

    test("the limits hold for each set by itself", async () => {
      const id = await aProjectId();
      const ofPreviews = (upserts: ReturnType<typeof plain>[]) =>
        world().variables.change(id, { upserts, deletes: [], at: START, environment: "preview" });
      await write(id, many(VARIABLE_LIMITS.count, "x"));
      await ofPreviews(many(VARIABLE_LIMITS.count, "x", 10_000));
      const refused = { kind: "invalid", code: "too_many_variables" };
      await expect(ofPreviews([plain("ONE_MORE", "x")])).rejects.toMatchObject(refused);
      const other = await aProjectId();
      const whole = [plain("A", "x".repeat(VARIABLE_LIMITS.bytes))];
      await write(other, whole);
      await world().variables.change(other, { upserts: whole, deletes: [], at: START, environment: "preview" });
      const more = world().variables.change(other, {
        upserts: [plain("B", "x")],
        deletes: [],
        at: START,
        environment: "preview",
      });
      await expect(more).rejects.toMatchObject({ kind: "invalid", code: "variables_too_large" });
    });

    test("change() refuses more variables than allowed, and changes nothing", async () => {
      const id = await aProjectId();
      await write(id, many(VARIABLE_LIMITS.count, "x"));
      const refused = write(id, [plain("KEY_0", "changed"), plain("ONE_MORE", "x")]);
      await expect(refused).rejects.toMatchObject({ kind: "invalid", code: "too_many_variables" });
      expect(Object.keys(await revealed(id))).toHaveLength(VARIABLE_LIMITS.count);
      expect((await revealed(id))["KEY_0"]).toBe("x");
      await write(id, [plain("KEY_0", "changed")]);
      await expect(write(id, [plain("db/ONE_MORE", "x")])).rejects.toMatchObject({ code: "too_many_variables" });
      await write(id, [plain("ONE_MORE", "x")], ["KEY_0"]);
      expect((await revealed(id))["ONE_MORE"]).toBe("x");
    });

    test("change() refuses more bytes of values than allowed, and changes nothing", async () => {
      const id = await aProjectId();
      // Two bytes each in UTF-8.
      const half = "ä".repeat(VARIABLE_LIMITS.bytes / 16);
      await write(id, [...many(7, half), plain("LAST", half.slice(2)), plain("REST", "abcd")]);
      const refused = write(id, [plain("REST", "abcde")]);
      await expect(refused).rejects.toMatchObject({ kind: "invalid", code: "variables_too_large" });
      expect((await revealed(id))["REST"]).toBe("abcd");
      await write(id, [], ["REST"]);
      await write(id, [plain("NEW", "abcd")]);
      await write(id, [plain("NEW", "abcde")], ["KEY_0"]);
      expect(Object.keys(await revealed(id)).toSorted()).toEqual([
        ...Array.from({ length: 6 }, (_, index) => `KEY_${index + 1}`),
        "LAST",
        "NEW",
      ]);
    });

    test("concurrent change() calls do not exceed the limit together", async () => {
      const id = await aProjectId();
      await write(id, many(VARIABLE_LIMITS.count - 250, "x"));
      const outcomes = await Promise.allSettled([1, 2, 3, 4].map((round) => write(id, many(100, "x", round * 10_000))));
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
      expect(Object.keys(await revealed(id))).toHaveLength(VARIABLE_LIMITS.count - 50);
    });
  });
}
