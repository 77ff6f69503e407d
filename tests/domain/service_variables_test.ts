import { describe, expect, test } from "bun:test";
import { ownVariables, sharedVariables, variablesFor } from "../../domain/projects/service_variables.ts";

const ALL = new Map([
  ["COLOR", "shared"],
  ["SIZE", "shared"],
  ["db/COLOR", "of db"],
  ["db/my.key/x", "odd"],
  ["db2/COLOR", "of db2"],
  ["db/__proto__", "property"],
]);

describe("variables of services", () => {
  test("sharedVariables() leaves out those of single services", () => {
    expect([...sharedVariables(ALL)]).toEqual([
      ["COLOR", "shared"],
      ["SIZE", "shared"],
    ]);
  });

  test("ownVariables() returns those of exactly this service, by their names in it", () => {
    expect([...ownVariables(ALL, "db")]).toEqual([
      ["COLOR", "of db"],
      ["my.key/x", "odd"],
      ["__proto__", "property"],
    ]);
    expect([...ownVariables(ALL, "DB"), ...ownVariables(ALL, "d"), ...ownVariables(ALL, "COLOR")]).toEqual([]);
  });

  test("variablesFor() lets the own variables of a service override the shared ones", () => {
    expect([...variablesFor(ALL, "db2")]).toEqual([
      ["COLOR", "of db2"],
      ["SIZE", "shared"],
    ]);
    expect(variablesFor(ALL, "web")).toEqual(sharedVariables(ALL));
  });
});
