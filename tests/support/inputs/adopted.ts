import type { AdoptedService } from "../../../domain/migration/adoption.ts";
import { Secret } from "../../../domain/secret.ts";

/** Returns an adopted service of this name. */
export function adoptedOf(service: string, given: Partial<AdoptedService> = {}): AdoptedService {
  return {
    service,
    key: `shop/${service}`,
    serverId: "srv_01m7edka8326kz9mv55sbbg868",
    // No two projects can have the same one.
    containerId: `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll("-", ""),
    containerName: `shop-${service}-1`,
    imageId: `sha256:${"1".repeat(64)}`,
    running: true,
    environment: new Map([["COLOR", new Secret("blue")]]),
    definition: { name: service, image: "nginx:1.27", ports: ["8080:80"] },
    recipe: new Secret(`{"config":{},"service":"${service}"}`),
    ...given,
  };
}

/** Returns an adopted service with its recipe in plain text, to compare it. */
export function revealedOf({ environment, recipe, ...rest }: AdoptedService) {
  const variables = Array.from(environment, ([key, value]) => [key, value.reveal()]);
  return { ...rest, environment: Object.fromEntries(variables) as Record<string, string>, recipe: recipe.reveal() };
}
