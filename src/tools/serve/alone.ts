import { createMcpHandler, isLegacyRequest, type Server } from "@modelcontextprotocol/server";

/** Serves requests without a session, as the protocol has them since 2026-07-28. Each has its own server object. */
export function serveAlone(open: () => Server, maxRequestBodySize: number) {
  const handler = createMcpHandler(open, { legacy: "reject", maxRequestBodySize });
  return {
    /** Whether a request needs no session. */
    takes: async (request: Request) => !(await isLegacyRequest(request, undefined, { maxRequestBodySize })),
    answer: (request: Request) => handler.fetch(request),
    close: () => handler.close(),
  };
}
