import { describe, expect, test } from "bun:test";
import { checkSwaps } from "../../domain/services/check_swaps.ts";
import { givenServices } from "../../domain/services/given_services.ts";
import type { ServiceDefinition } from "../../domain/services/service_definition.ts";

function check(...definitions: readonly Omit<ServiceDefinition, "name">[]): void {
  const named = definitions.map((definition, index) => ({ name: `s${index}`, image: "a", ...definition }));
  checkSwaps(givenServices(named, new Map()), { sites: true });
}

describe("checkSwaps()", () => {
  test.each([
    [["./data:/data"], ["./data/inner:/inner:ro"]],
    [["./data:/data", "./data/inner:/inner"], []],
    [["./:/all"], ["./data:/data:ro"]],
    [["/srv/shop:/shop"], ["/srv/shop/files:/files:ro"]],
    [["/:/all"], ["/srv:/srv:ro"]],
  ])("refuses %j with %j: the inner one could become a link to anything", (one, other) => {
    expect(() => check({ volumes: other }, { volumes: one })).toThrow("is inside it");
  });

  test.each([
    [["./data:/data:ro"], ["./data/inner:/inner"]],
    [["./data:/data"], ["./data:/data:ro", "./database:/b", "./dat:/c"]],
    [["data:/data"], ["./data/inner:/inner"]],
    [["/srv/shop:/shop"], ["/srv/shops:/files", "./srv/shop/x:/x"]],
  ])("allows %j with %j", (one, other) => {
    expect(() => check({ volumes: other }, { volumes: one })).not.toThrow();
  });

  test("refuses a site below a path that a service may write to, and allows one above it", () => {
    const site = { rootDirectory: "public/shop" };
    const [app] = givenServices([{ name: "site", ...site }], new Map());
    const withWriter = (volume: string) => {
      const [writer] = givenServices([{ name: "writer", image: "a", volumes: [volume] }], new Map());
      checkSwaps([app!, writer!], { sites: true });
    };
    expect(() => withWriter("./public:/public")).toThrow("site uses");
    expect(() => withWriter("./public/shop/uploads:/uploads")).not.toThrow();
    expect(() => withWriter("./public:/public:ro")).not.toThrow();
  });
});
