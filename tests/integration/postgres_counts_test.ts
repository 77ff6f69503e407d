import { expect, test } from "bun:test";
import { DEPLOYMENT_STATUSES } from "../../domain/deployments/deployment.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { migratedDatabase, openStores, vaultOf } from "../support/database/postgres_stores.ts";
import { query } from "../support/database/query.ts";
import { aDeployment, anOrganization, aProject } from "../support/database/store_builders.ts";

const ROUNDS = 30;
const AT_ONCE = 10;
/** Statuses of which a project may have any number of deployments. */
const STATUSES = DEPLOYMENT_STATUSES.filter((status) => !["building", "deploying", "partial_failure"].includes(status));

const COUNTED = `
  select owner_id, environment, status, count(*)::int as count
  from deployments cross join lateral (values (organization_id), (project_id)) as owners (owner_id)
  group by owner_id, environment, status order by owner_id, environment, status`;
const KEPT = `
  select owner_id, environment, status, sum(count)::int as count from deployment_counts
  group by owner_id, environment, status having sum(count) <> 0 order by owner_id, environment, status`;

test("kept numbers of deployments are those of the rows after many changes by two processes at once", async () => {
  await using database = await migratedDatabase();
  const vault = await vaultOf();
  await using world = await openStores({ url: database.url, vault });
  await using elsewhere = await openStores({ url: database.url, vault });
  const input = randomInput("kept numbers");
  const chosen = <T>(all: readonly T[]) => all[input.below(all.length)]!;
  const organizations = [await anOrganization(world), await anOrganization(world)];
  const places = await Promise.all(
    [0, 0, 1, 1].map(async (at) => {
      const { id: organizationId } = organizations[at]!;
      return { organizationId, projectId: (await aProject(world, { organizationId })).id };
    }),
  );
  const made: { readonly id: string; readonly organizationId: string }[] = [];
  const act = async () => {
    const store = chosen([world, elsewhere]);
    const status = chosen(STATUSES);
    const known = made.length > 0 ? chosen(made) : undefined;
    if (!known || input.below(3) === 0) {
      const environment = chosen(["production", "preview"] as const);
      made.push(await aDeployment(store, { ...chosen(places), status, environment }));
    } else if (input.below(5) === 0) await store.deployments.remove(known.organizationId, known.id);
    else
      await store.deployments.change(known.id, (deployment) => ({ deployment: { ...deployment, status }, events: [] }));
  };
  for (let round = 0; round < ROUNDS; round++) await Promise.all(Array.from({ length: AT_ONCE }, act));
  expect(await query(database.url, KEPT)).toEqual([...(await query(database.url, COUNTED))]);
  const { organizationId, projectId } = places[0]!;
  await world.projects.remove(organizationId, projectId);
  expect(await query(database.url, KEPT)).toEqual([...(await query(database.url, COUNTED))]);
  const left = `select 1 from deployment_counts where owner_id = '${projectId}'`;
  expect(await query(database.url, left)).toHaveLength(0);
});

test("a deployment is marked live exactly while it is its project's live release", async () => {
  await using database = await migratedDatabase();
  await using world = await openStores({ url: database.url });
  const { id: organizationId } = await anOrganization(world);
  const { id: projectId } = await aProject(world, { organizationId });
  const at = { organizationId, projectId, status: "ready" } as const;
  const [one, two] = [await aDeployment(world, at), await aDeployment(world, at)];
  const live = async () => (await query(database.url, "select id from deployments where active")).map(({ id }) => id);
  const activate = (activeDeploymentId: string | null) =>
    world.projects.change(organizationId, projectId, { change: () => ({ activeDeploymentId }), at: new Date() });
  expect(await live()).toEqual([]);
  await activate(one.id);
  expect(await live()).toEqual([one.id]);
  await activate(two.id);
  expect(await live()).toEqual([two.id]);
  await activate(null);
  expect(await live()).toEqual([]);
  await activate(one.id);
  await world.deployments.remove(organizationId, one.id);
  expect(await live()).toEqual([]);
});
