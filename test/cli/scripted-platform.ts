import { openPlatform } from "../../src/cli/platform-access.ts";
import { answer, type Script, type ScriptedServer } from "../platform/scripted-server.ts";

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A token that names its user. */
export const token = `${part({ kid: "t" })}.${part({ identity: { uuid: "user-1" } })}.signature`;

/** A 404 body of both APIs. */
const NOTHING = { kind: "Status", code: 404, reason: "NotFound", messages: [{ message: "Resource does not exist" }] };

/** Answers by path, or by method and path, without the query; 404 for others. */
export const paths = (answers: Record<string, unknown>): Script => {
  return (arrived, response, request) => {
    const path = arrived.url.split("?")[0] ?? "";
    const found = answers[`${arrived.method} ${path}`] ?? answers[path];
    answer(found === undefined ? 404 : 200, found ?? NOTHING)(arrived, response, request);
  };
};
/** Access to a scripted platform, by the environment. */
export const accessTo = ({ url }: ScriptedServer) =>
  openPlatform({ env: { MOORING_ENDPOINTS: JSON.stringify({ api: url }), MOORING_TOKEN: token } });
