import { describe, expect, test } from "bun:test";
import {
  type DeliveryDecision,
  DELIVERY_DECISIONS,
  type WebhookDelivery,
} from "../../domain/githost/webhook_delivery.ts";
import { newId } from "../../domain/id.ts";
import type { Project } from "../../domain/projects/project.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, aProject, minutes } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const MINUTE = 60_000;
const ALL = { page: 1, perPage: 100 };
const LONG_AGO = new Date("1985-01-01T00:00:00.000Z");

function deliveryOf(overrides: Partial<WebhookDelivery> = {}): WebhookDelivery {
  return {
    deliveryId: crypto.randomUUID(),
    event: "push",
    action: null,
    repository: "acme/shop",
    receivedAt: minutes(1),
    ...overrides,
  };
}

function decisionOf(
  overrides: Partial<DeliveryDecision> & Pick<DeliveryDecision, "organizationId" | "projectId">,
): DeliveryDecision {
  return {
    decision: "deployed",
    reason: "Pushed to main",
    deploymentId: newId("dep"),
    branch: "main",
    commitSha: "ab".repeat(20),
    ...overrides,
  };
}

/** A decision about a project. */
function about({ id, organizationId }: Project, overrides: Partial<DeliveryDecision> = {}): DeliveryDecision {
  return decisionOf({ organizationId, projectId: id, ...overrides });
}

/** Contract tests for `WebhookDeliveries` adapters. */
export function webhookDeliveriesContract(
  name: string,
  open: () => Promise<WorldOf<"elapse" | "installation" | "organizations" | "projects" | "webhookDeliveries">>,
) {
  describe(`WebhookDeliveries contract: ${name}`, () => {
    const world = sharedWorld(open);

    async function someProject(): Promise<Project> {
      return aProject(world(), { organizationId: (await anOrganization(world())).id });
    }

    /** Carries a delivery out. */
    async function delivered(decisions: readonly DeliveryDecision[], overrides: Partial<WebhookDelivery> = {}) {
      const delivery = deliveryOf(overrides);
      expect(await world().webhookDeliveries.begin(delivery)).toBe("new");
      await world().webhookDeliveries.finish(delivery.deliveryId, { decisions });
      return delivery;
    }

    test("begin() claims a delivery for the first caller", async () => {
      const delivery = deliveryOf();
      expect(await world().webhookDeliveries.begin(delivery)).toBe("new");
      expect(await world().webhookDeliveries.begin(delivery)).toBe("running");
      expect(await world().webhookDeliveries.begin(deliveryOf())).toBe("new");
    });

    test("of concurrent begin() calls with one id, one claims the delivery", async () => {
      const delivery = deliveryOf();
      const begun = await Promise.all(Array.from({ length: 20 }, () => world().webhookDeliveries.begin(delivery)));
      expect(begun.toSorted()).toEqual(["new", ...Array<"running">(19).fill("running")]);
    });

    test("record() stores a delivery with its outcome at once, unless it is known", async () => {
      const project = await someProject();
      const delivery = deliveryOf();
      const outcome = { decisions: [about(project, { decision: "ignored", deploymentId: null })] };
      const recorded = await Promise.all(
        Array.from({ length: 10 }, () => world().webhookDeliveries.record(delivery, outcome)),
      );
      expect(recorded.filter(Boolean)).toHaveLength(1);
      expect(await world().webhookDeliveries.begin(delivery)).toEqual(outcome);
      const { items } = await world().webhookDeliveries.list(project.id, ALL);
      expect(items).toEqual([{ ...delivery, ...outcome.decisions[0]! }]);
      const begun = deliveryOf();
      await world().webhookDeliveries.begin(begun);
      expect(await world().webhookDeliveries.record(begun, outcome)).toBe(false);
      expect(await world().webhookDeliveries.begin(begun)).toBe("running");
      expect(await world().webhookDeliveries.record(deliveryOf(), { decisions: [] })).toBe(true);
    });

    test("record() keeps apart what is recorded at once: each delivery with its own outcome", async () => {
      const [one, two, gone] = [await someProject(), await someProject(), await someProject()];
      await world().projects.remove(gone.organizationId, gone.id);
      const known = await delivered([about(two)]);
      const outcomes = Array.from({ length: 30 }, (_, index) => [
        about(index % 3 === 0 ? one : two, { reason: `first ${index}` }),
        about(index % 2 === 0 ? gone : one, { reason: `second ${index}` }),
      ]);
      const made = outcomes.map((decisions) => ({ delivery: deliveryOf(), decisions }));
      const all = [...made, { delivery: known, decisions: [about(one)] }, ...made.toReversed()];
      const recorded = await Promise.all(
        all.map(({ delivery, decisions }) => world().webhookDeliveries.record(delivery, { decisions })),
      );
      expect(recorded).toEqual(all.map((_, index) => index < made.length));
      for (const { delivery, decisions } of made) {
        const left = decisions.filter(({ projectId }) => projectId !== gone.id);
        expect(await world().webhookDeliveries.begin(delivery)).toEqual({ decisions: left });
      }
      expect(await world().webhookDeliveries.begin(known)).toEqual({ decisions: [expect.anything()] });
    });

    test("begin() returns the outcome of a finished delivery", async () => {
      const [first, second] = [await someProject(), await someProject()];
      const decisions = [
        about(second, { decision: "ignored", reason: "Another branch", deploymentId: null }),
        about(first),
        decisionOf({
          organizationId: first.organizationId,
          projectId: null,
          decision: "applied",
          deploymentId: null,
          branch: null,
          commitSha: null,
        }),
      ];
      const delivery = await delivered(decisions);
      for (const laterMs of [0, 10 * MINUTE]) {
        await world().elapse(laterMs);
        expect(await world().webhookDeliveries.begin(delivery)).toEqual({ decisions });
      }
      const nothing = await delivered([]);
      expect(await world().webhookDeliveries.begin(nothing)).toEqual({ decisions: [] });
    });

    test("begin() takes over a claim without an outcome after a minute, only once", async () => {
      const project = await someProject();
      const delivery = deliveryOf();
      await world().webhookDeliveries.begin(delivery);
      await world().elapse(MINUTE / 2);
      expect(await world().webhookDeliveries.begin(delivery)).toBe("running");
      await world().elapse(MINUTE / 2);
      const again = { ...delivery, receivedAt: minutes(9) };
      const begun = await Promise.all(Array.from({ length: 20 }, () => world().webhookDeliveries.begin(again)));
      expect(begun.toSorted()).toEqual(["new", ...Array<"running">(19).fill("running")]);
      await world().webhookDeliveries.finish(delivery.deliveryId, { decisions: [about(project)] });
      const { items } = await world().webhookDeliveries.list(project.id, ALL);
      expect(items).toEqual([{ ...delivery, ...items[0]! }]);
      expect(items[0]?.receivedAt).toEqual(delivery.receivedAt);
    });

    test("finish() stores the first outcome only", async () => {
      const project = await someProject();
      const decisions = [about(project)];
      const delivery = await delivered(decisions);
      const other = { decisions: [about(project, { decision: "failed" }), about(project)] };
      await world().webhookDeliveries.finish(delivery.deliveryId, other);
      expect(await world().webhookDeliveries.begin(delivery)).toEqual({ decisions });
      expect(await world().webhookDeliveries.list(project.id, ALL)).toEqual({
        items: [{ ...delivery, ...decisions[0]! }],
        total: 1,
      });
    });

    test("concurrent finish() calls store one outcome", async () => {
      const project = await someProject();
      const delivery = deliveryOf();
      await world().webhookDeliveries.begin(delivery);
      const outcomes = Array.from({ length: 8 }, (_, index) => ({
        decisions: [about(project, { reason: `a ${index}` }), about(project, { reason: `b ${index}` })],
      }));
      await Promise.all(outcomes.map((outcome) => world().webhookDeliveries.finish(delivery.deliveryId, outcome)));
      const stored = await world().webhookDeliveries.begin(delivery);
      expect(outcomes).toContainEqual(stored as (typeof outcomes)[number]);
      expect((await world().webhookDeliveries.list(project.id, ALL)).total).toBe(2);
    });

    test("finish() ignores an unknown delivery", async () => {
      const project = await someProject();
      const delivery = deliveryOf();
      await world().webhookDeliveries.finish(delivery.deliveryId, { decisions: [about(project)] });
      expect(await world().webhookDeliveries.list(project.id, ALL)).toEqual({ items: [], total: 0 });
      expect(await world().webhookDeliveries.begin(delivery)).toBe("new");
    });

    test.each(DELIVERY_DECISIONS)("list() returns the decision %s with its delivery", async (decision) => {
      const project = await someProject();
      const made = about(project, { decision, deploymentId: null, branch: null, commitSha: null });
      const delivery = await delivered([made], { event: "pull_request", action: "opened", repository: null });
      expect(await world().webhookDeliveries.list(project.id, ALL)).toEqual({
        items: [{ ...delivery, ...made }],
        total: 1,
      });
    });

    test.each(oddTexts)("list() returns the texts %j unchanged", async (text) => {
      const project = await someProject();
      const made = about(project, { reason: text, branch: text, commitSha: text, deploymentId: text });
      const texts = { event: text, action: text, repository: text, deliveryId: `${text}${crypto.randomUUID()}` };
      const delivery = await delivered([made], texts);
      expect(await world().webhookDeliveries.list(project.id, ALL)).toEqual({
        items: [{ ...delivery, ...made }],
        total: 1,
      });
      expect(await world().webhookDeliveries.begin(delivery)).toEqual({ decisions: [made] });
    });

    test("list() pages through the decisions about one project, newest first, equal times by delivery id", async () => {
      const [project, other] = [await someProject(), await someProject()];
      const made = [];
      for (const minute of SHUFFLED_MINUTES) {
        made.push(await delivered([about(other), about(project)], { receivedAt: minutes(minute) }));
      }
      const running = deliveryOf();
      await world().webhookDeliveries.begin(running);
      const expected = newestFirst(made, { at: ({ receivedAt }) => receivedAt, id: ({ deliveryId }) => deliveryId });
      await expectPages(
        (page) => world().webhookDeliveries.list(project.id, page),
        expected.map(({ deliveryId }) => deliveryId),
        ({ deliveryId }) => deliveryId,
      );
      expect(await world().webhookDeliveries.list(newId("prj"), ALL)).toEqual({ items: [], total: 0 });
    });

    test("decisions about a project go with it, those about others stay", async () => {
      const [gone, kept] = [await someProject(), await someProject()];
      const decisions = [about(gone), about(kept)];
      const delivery = await delivered(decisions);
      await world().projects.remove(gone.organizationId, gone.id);
      expect(await world().webhookDeliveries.list(gone.id, ALL)).toEqual({ items: [], total: 0 });
      expect((await world().webhookDeliveries.list(kept.id, ALL)).total).toBe(1);
      expect(await world().webhookDeliveries.begin(delivery)).toEqual({ decisions: [decisions[1]!] });
    });

    test("finish() leaves out decisions about a project that was deleted meanwhile", async () => {
      const [gone, kept] = [await someProject(), await someProject()];
      const delivery = deliveryOf();
      await world().webhookDeliveries.begin(delivery);
      await world().projects.remove(gone.organizationId, gone.id);
      const decisions = [about(gone), about(kept)];
      await world().webhookDeliveries.finish(delivery.deliveryId, { decisions });
      expect(await world().webhookDeliveries.begin(delivery)).toEqual({ decisions: [decisions[1]!] });
    });

    test("sweep() removes deliveries received before a time, with their decisions, and counts them", async () => {
      await world().webhookDeliveries.sweep(LONG_AGO);
      const project = await someProject();
      const before = { receivedAt: new Date(LONG_AGO.getTime() - 1) };
      const old = await delivered([about(project), about(project)], before);
      await world().webhookDeliveries.begin(deliveryOf(before));
      const kept = await delivered([about(project)], { receivedAt: LONG_AGO });
      expect(await world().webhookDeliveries.sweep(LONG_AGO)).toBe(2);
      expect(await world().webhookDeliveries.sweep(LONG_AGO)).toBe(0);
      const { items } = await world().webhookDeliveries.list(project.id, ALL);
      expect(items.map(({ deliveryId }) => deliveryId)).toEqual([kept.deliveryId]);
      expect(await world().webhookDeliveries.begin(old)).toBe("new");
    });
  });
}
