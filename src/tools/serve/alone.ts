import { createMcpHandler, isLegacyRequest, type Server } from "@modelcontextprotocol/server";

/** Requests that stand alone, as the protocol has them from 2026-07-28 on: no session, and a server object for each. */
export function serveAlone(open: () => Server, maxRequestBodySize: number) {
  const handler = createMcpHandler(open, { legacy: "reject", maxRequestBodySize });
  return {
    /** Whether a request is one of these. */
    takes: async (request: Request) => !(await isLegacyRequest(request, undefined, { maxRequestBodySize })),
    answer: (request: Request) => handler.fetch(request),
    close: () => handler.close(),
  };
}
