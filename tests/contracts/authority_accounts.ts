import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { uniqueLabel } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const offered = (text: string) => async () => new Secret(text);
const unasked = () => Promise.reject(new Error("It is known"));

/** Contract tests for `AuthorityAccounts` adapters. */
export function authorityAccountsContract(
  name: string,
  open: () => Promise<WorldOf<"authorityAccounts" | "elsewhere">>,
) {
  describe(`AuthorityAccounts contract: ${name}`, () => {
    const world = sharedWorld(open);

    test("key() stores the first offered key of each authority, and offers no other", async () => {
      const { authorityAccounts, elsewhere } = world();
      const [one, other] = [1, 2].map(() => `https://${uniqueLabel()}.example.com/directory`);
      expect((await authorityAccounts.key(one!, offered("first"))).reveal()).toBe("first");
      expect((await authorityAccounts.key(other!, offered("second"))).reveal()).toBe("second");
      expect((await elsewhere.authorityAccounts.key(one!, unasked)).reveal()).toBe("first");
    });

    test("key() returns the same key to all processes that ask at once", async () => {
      const { authorityAccounts, elsewhere } = world();
      const url = `https://${uniqueLabel()}.example.com/directory`;
      const keys = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          (index % 2 ? authorityAccounts : elsewhere.authorityAccounts).key(url, offered(`${index}`)),
        ),
      );
      expect(new Set(keys.map((key) => key.reveal())).size).toBe(1);
    });
  });
}
