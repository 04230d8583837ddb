import { z } from "zod";
import { GROUP, kinds } from "../../kinds/index.ts";
import { type Check, type DoctorInput, examine, ok, warn } from "./check.ts";

const whoami = z.looseObject({ status: z.looseObject({ userInfo: z.looseObject({ username: z.string() }) }) });
const review = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });

/** Checks the rights of the caller. */
export async function rightsChecks(input: DoctorInput): Promise<Check[]> {
  const {
    cluster,
    sources: { signal },
  } = input;
  const namespace = input.namespace ?? "";
  const where = input.namespace === undefined ? "all namespaces" : `namespace ${input.namespace}`;
  const authorization = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };
  const may = async (verb: string, group: string, resource: string): Promise<boolean> => {
    const resourceAttributes = { namespace, verb, group, resource };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    return review.parse(await cluster.ask(path, signal, { ...authorization, spec: { resourceAttributes } })).status
      .allowed;
  };
  const refused = async (verb: string) => {
    const answers = await Promise.all(
      kinds.map(async ({ plural }) => ((await may(verb, GROUP, plural)) ? [] : [plural])),
    );
    return answers.flat();
  };
  const rights = async (verb: string, fix: string): Promise<Check> => {
    const missing = await refused(verb);
    const title = `${verb} objects`;
    if (missing.length === 0) return ok("rights", title, `you may ${verb} all kinds in ${where}`);
    const what = missing.length === kinds.length ? "no kind" : `not ${missing.join(", ")}`;
    return warn("rights", title, `you may ${verb} ${what} in ${where}`, fix);
  };
  return [
    ...(await examine(input, "rights", "user", async () => {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const { username } = whoami.parse(
        await cluster.ask("/apis/authentication.k8s.io/v1/selfsubjectreviews", signal, body),
      ).status.userInfo;
      return ok("rights", "user", `${username}, namespace ${cluster.namespace}`);
    })),
    ...(await examine(input, "rights", "list objects", () =>
      rights("list", "ask for a Role with get, list and watch on mooring.dev"),
    )),
    ...(await examine(input, "rights", "patch objects", () =>
      rights("patch", "needed for reconcile, pause, resume and rotate only"),
    )),
    ...(await examine(input, "rights", "read Secrets", async () =>
      (await may("get", "", "secrets"))
        ? ok("rights", "read Secrets", `you may read Secrets in ${where}: tokens of Accounts are used`)
        : warn(
            "rights",
            "read Secrets",
            `you may not read Secrets in ${where}`,
            "set MOORING_TOKEN and MOORING_ENDPOINTS for questions to the platform",
          ),
    )),
    ...(await examine(input, "rights", "read Events", async () =>
      (await may("list", "", "events"))
        ? ok("rights", "read Events", `you may list Events in ${where}`)
        : warn(
            "rights",
            "read Events",
            `you may not list Events in ${where}`,
            "ask for the right to list events: mooring why shows them",
          ),
    )),
  ];
}
