import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { adoptedSpec, foundRecord } from "../../../domain/migration/adopted_spec.ts";
import type { AdoptedService } from "../../../domain/migration/adoption.ts";
import { Secret } from "../../../domain/secret.ts";
import { givenServices } from "../../../domain/services/given_services.ts";
import { isSame } from "../../../domain/services/service_changes.ts";
import type { ServiceDefinition } from "../../../domain/services/service_definition.ts";
import { PLAIN_CONTAINER, RECIPE_PARTS, type RecipePart } from "../../../domain/services/service_spec.ts";

const IMAGE = `sha256:${"1".repeat(64)}`;

/** Two values of each part of a definition that a recipe covers. */
const VALUES: { readonly [Part in RecipePart]: readonly [ServiceDefinition[Part], ServiceDefinition[Part]] } = {
  command: [["serve"], ["serve", "--fast"]],
  entrypoint: [["sh"], []],
  healthcheck: [{ test: ["CMD", "true"] }, { test: ["CMD", "false"], interval: "5s" }],
  ports: [["8080:80"], ["9090:90"]],
  resources: [{ cpus: 1 }, { cpus: 2, memoryBytes: 64_000_000 }],
  restart: ["always", "unless-stopped"],
  volumes: [["data:/data"], ["data:/data:ro", "other:/other"]],
};

function definitionWith(parts: Partial<Pick<ServiceDefinition, RecipePart | "oneShot">>): ServiceDefinition {
  return { name: "web", image: IMAGE, ...parts };
}

function adoptedAs(definition: ServiceDefinition): AdoptedService {
  return {
    service: "web",
    key: "shop/web",
    serverId: "srv_1",
    containerId: "2".repeat(64),
    containerName: "shop-web-1",
    imageId: IMAGE,
    running: true,
    definition,
    environment: new Map([["COLOR", new Secret("blue")]]),
    recipe: new Secret('{"config":{"User":"app"}}'),
  };
}

function specOf(definition: ServiceDefinition, environment: Readonly<Record<string, string>> = { COLOR: "blue" }) {
  return { ...givenServices([definition], new Map())[0]!, environment };
}

/** The record of a service as a deployment stores it. */
function wanted(
  definition: ServiceDefinition,
  adopted: AdoptedService,
  environment?: Readonly<Record<string, string>>,
) {
  return { spec: adoptedSpec(specOf(definition, environment), definition, adopted), image: IMAGE, madeFrom: null };
}

const someParts = fc.record(
  Object.fromEntries(RECIPE_PARTS.map((part) => [part, fc.constantFrom(...(VALUES[part] as readonly unknown[]))])),
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<Pick<ServiceDefinition, RecipePart>>>;

describe("adoptedSpec()", () => {
  test("of an unchanged definition follows the recipe alone, and is the same as what was found", () => {
    fc.assert(
      fc.property(someParts, (parts) => {
        const definition = definitionWith(parts);
        const adopted = adoptedAs(definition);
        const record = wanted(structuredClone(definition), adopted);
        const recipe = { text: adopted.recipe.reveal(), without: [] };
        expect(record.spec.container).toEqual({ ...PLAIN_CONTAINER, recipe });
        expect(record.spec.ports).toEqual([]);
        expect(isSame(foundRecord(record.spec, adopted), record)).toBe(true);
      }),
    );
  });

  test("of a changed definition leaves exactly the changed parts out of the recipe, and differs from what was found", () => {
    fc.assert(
      fc.property(someParts, someParts, (before, after) => {
        const adopted = adoptedAs(definitionWith(before));
        const record = wanted(definitionWith(after), adopted);
        const changed = RECIPE_PARTS.filter((part) => JSON.stringify(before[part]) !== JSON.stringify(after[part]));
        expect(record.spec.container.recipe?.without).toEqual(changed);
        expect(isSame(foundRecord(record.spec, adopted), record)).toBe(changed.length === 0);
      }),
    );
  });

  test.each(RECIPE_PARTS)("takes the %s of a definition where it was changed, and nothing else", (part) => {
    const [before, after] = VALUES[part];
    const definition = definitionWith({ [part]: after });
    const plain = specOf(definition);
    const { container, ports } = wanted(definition, adoptedAs(definitionWith({ [part]: before }))).spec;
    const { recipe, ...own } = container;
    expect(recipe?.without).toEqual([part]);
    expect(own).toEqual({
      ...PLAIN_CONTAINER,
      entrypoint: part === "entrypoint" ? plain.container.entrypoint : null,
      command: part === "command" ? plain.container.command : null,
      healthcheck: part === "healthcheck" ? plain.container.healthcheck : null,
      mounts: part === "volumes" ? plain.container.mounts : [],
      limits: part === "resources" ? plain.container.limits : PLAIN_CONTAINER.limits,
    });
    expect(recipe?.ports).toEqual(part === "ports" ? definition.ports?.map(String) : undefined);
    // Only an endpoint of the project makes a port public.
    expect(ports).toEqual([]);
  });

  test.each(RECIPE_PARTS)("leaves the %s of the recipe out when the definition no longer has any", (part) => {
    const adopted = adoptedAs(definitionWith({ [part]: VALUES[part][0] }));
    expect(wanted(definitionWith({}), adopted).spec.container.recipe?.without).toEqual([part]);
  });
});

describe("foundRecord()", () => {
  test.each([
    ["a variable was changed", { COLOR: "green" }],
    ["a variable was added", { COLOR: "blue", SIZE: "1" }],
    ["a variable was removed", {}],
  ])("is not what is wanted if %s", (_, environment: Readonly<Record<string, string>>) => {
    const definition = definitionWith({});
    const adopted = adoptedAs(definition);
    const record = wanted(definition, adopted, environment);
    expect(isSame(foundRecord(record.spec, adopted), record)).toBe(false);
  });

  test.each([
    [true, true],
    [false, undefined],
    [undefined, undefined],
    [undefined, true],
    [true, undefined],
  ])("of a one-shot service %p is what is wanted of one %p only if both run to completion, or neither", (was, is) => {
    const adopted = adoptedAs(definitionWith({ ...(was !== undefined && { oneShot: was }) }));
    const record = wanted(definitionWith({ ...(is !== undefined && { oneShot: is }) }), adopted);
    expect(isSame(foundRecord(record.spec, adopted), record)).toBe((was ?? false) === (is ?? false));
  });

  test("is not what is wanted if the image is another one", () => {
    const definition = definitionWith({});
    const adopted = adoptedAs(definition);
    const record = { ...wanted(definition, adopted), image: `sha256:${"3".repeat(64)}` };
    expect(isSame(foundRecord(record.spec, adopted), record)).toBe(false);
  });
});
